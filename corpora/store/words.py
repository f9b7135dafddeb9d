"""What both engines of the lexical index agree on."""

from __future__ import annotations

from ragweave.models.text import terms

Row = tuple[int, str, str, str]
"""Number of an item, and the terms of its title, heading and text, separated by spaces."""

Ranking = list[tuple[str, float]]
"""(item id, score), best first."""

WEIGHTS = (1.5, 1.0, 1.0)
"""Weights of title, heading and text in BM25."""

K1, B = 1.2, 0.75
"""Constants of BM25, those that FTS5 has built in."""


def indexed(text: str) -> str:
    """Return text as the index stores it: its terms, separated by spaces."""
    return " ".join(terms(text))
