"""Test doubles for people who build on Ragweave."""
