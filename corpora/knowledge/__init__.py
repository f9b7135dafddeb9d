"""The knowledge graph over recordings: names and phrases, what is said about them, and what stands together."""
