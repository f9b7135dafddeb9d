"""Stores of a library: catalog, lexical index, vectors and media."""
