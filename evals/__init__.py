"""Measurement: metrics, the papers' protocols, training of the shipped heads."""
