"""Decisions by a language model or a trained checkpoint; each has a local strategy that stands in where it fails."""
