"""Read, store and describe pictures as sources."""
