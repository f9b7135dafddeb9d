"""Merge what several corpora found, each ranked by itself, with the router's confidence as prior.

Scores of different corpora do not compare, and a question often does not tell where its answer lies. So nothing is
compared but ranks within a corpus, calibrated relevance, and calibrated confidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ragweave.nodes.state import Evidence

PRIOR, RANK, RELEVANCE = 0.1, 10, 0.1
"""Weight of the log of the confidence, constant of the ranks, weight of the log-odds of the relevance: read off every
third question of `ragweave eval mixed` (docs/routing.md has the figures of the others)."""
_LEAST = 0.01
"""Confidence that every corpus keeps: a router that is sure may be wrong."""
_SURE = 0.995
"""Relevance beyond which log-odds tell nothing more."""


def merged(ranked: Mapping[str, Sequence[Evidence]], confidence: Mapping[str, float]) -> list[Evidence]:
    """Return the items of all corpora in one order, best first, their `score` that of this order.

    Args:
        ranked: items by corpus, each list best first.
        confidence: of the router, by corpus.
    """
    total = sum(confidence.get(c, 0.0) for c in ranked) or 1.0
    rows: list[Evidence] = []
    for corpus, items in ranked.items():
        prior = PRIOR * math.log(confidence.get(corpus, 0.0) / total + _LEAST)
        for rank, row in enumerate(items, 1):
            r = max(-_SURE, min(_SURE, row["relevance"]))
            score = prior - math.log(RANK + rank) + RELEVANCE * math.log((1 + r) / (1 - r))
            rows.append({**row, "score": round(score, 6)})
    return sorted(rows, key=lambda row: (-row["score"], row["id"]))
