"""Decide without a language model: by trained heads and quotes that ship with Ragweave and need no key."""
