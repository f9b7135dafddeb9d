"""Decisions without a language model: trained heads and quotes, which ship with Ragweave and need no key."""
