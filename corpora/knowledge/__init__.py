"""Build and search the knowledge graph over recordings: entities, their descriptions and relations."""
