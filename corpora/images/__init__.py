"""Pictures as sources: what is read, kept and written down of them."""
