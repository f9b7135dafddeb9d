"""What both engines of the lexical index agree on."""

from __future__ import annotations

Row = tuple[int, str, str, str]
"""Number of an item, and the terms of its title, heading and text, separated by spaces."""

Ranking = list[tuple[str, float]]
"""(item id, score), best first."""

WEIGHTS = (1.5, 1.0, 1.0)
"""Weights of title, heading and text in BM25."""

K1, B = 1.2, 0.75
"""Constants of BM25, those that FTS5 has built in."""
