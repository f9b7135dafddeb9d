"""One verb per file: a step of reasoning over the state."""
