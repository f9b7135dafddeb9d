"""What is known: collections, catalog, ingestion, web."""
