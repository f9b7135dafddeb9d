"""Prompts as Markdown files, one per prompt."""
