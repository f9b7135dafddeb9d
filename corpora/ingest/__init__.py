"""From files to items: scan, read, embed, commit."""
