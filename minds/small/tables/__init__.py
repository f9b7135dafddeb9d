"""Questions that a table answers: planned, worked out over its rows, told."""
