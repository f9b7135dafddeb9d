"""Decisions by a language model or a trained checkpoint; each has a small mind that stands in where it fails."""
