"""What is kept: catalog, lexical index, vectors, media."""
