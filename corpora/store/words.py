"""BM25 and the stored form of text, common to both engines of the lexical index."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

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


def term_weight(total: int, count: int) -> float:
    """Return the weight of a term that `count` of `total` items contain; always positive."""
    return max(math.log((total - count + 0.5) / (count + 0.5)), 1e-6)


def weighted_counts(columns: Sequence[Sequence[str]], wanted: Collection[str]) -> dict[str, float]:
    """Count each wanted term in the title, heading and text of an item; a word of the title counts more."""
    found = dict.fromkeys(wanted, 0.0)
    for words, weight in zip(columns, WEIGHTS, strict=True):
        for term in found.keys() & set(words):
            found[term] += weight * words.count(term)
    return found


def bm25(weights: Mapping[str, float], counts: Mapping[str, float], length: int, average: float) -> float:
    """Return the BM25 of an item of `length` terms; `average` is the mean length."""
    norm = K1 * (1 - B + B * length / average)
    total = 0.0
    for term, weight in weights.items():
        total += weight * counts[term] * (K1 + 1) / (counts[term] + norm)
    return total
