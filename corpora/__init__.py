"""What is known: collections, catalog, ingestion, web."""

if __name__ != "ragweave.corpora":
    raise ImportError("this folder is the package ragweave.corpora: import it by that name")
