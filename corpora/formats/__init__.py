"""One file per file format: bytes in, blocks with locators out."""
