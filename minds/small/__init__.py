"""Decisions by heads and stated rules: they ship with Ragweave and need no key."""
