"""Merge what several corpora found, each ranked by itself, with the router's confidence as prior.

Scores of different corpora do not compare, and a question often does not tell where its answer lies. So a
corpus is
worth what Bayes says of it: the router's confidence, times the odds that the best it found is relevant. Its
items share that by their ranks. The order of all of them as one pool, in which the router has no say, then
counts half as much.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ragweave.components.evidence import Evidence

TRUST = 0.5
"""Exponent of the confidence: it is calibrated on other questions than those over this library."""
EVEN = 0.3
"""Part of the whole that every corpus gets the same share of: router and relevance may both be wrong."""
OWN = 0.1
"""Weight of the log-odds of an item's own relevance, beside those of the best of its corpus."""
SAY, FLAT = 2.0, 3
"""How often the merged order counts beside the joint one, and the constant of their reciprocal ranks."""
_LEAST = 0.01
"""Confidence that every corpus keeps."""
_SURE = 0.995
"""Relevance beyond which log-odds tell nothing more."""


def merged(ranked: Mapping[str, Sequence[Evidence]], confidence: Mapping[str, float]) -> list[Evidence]:
    """Return the items of all corpora, each with its best first, in one order, their `score` that of this order."""
    held = {corpus: items for corpus, items in ranked.items() if items}
    total = sum(confidence.get(c, 0.0) for c in held) or 1.0
    worth = {
        corpus: (confidence.get(corpus, 0.0) / total + _LEAST) ** TRUST
        * math.exp(max(_log_odds(row["relevance"]) for row in items))
        for corpus, items in held.items()
    }  # fmt: skip
    rows: list[Evidence] = []
    for corpus, items in held.items():
        share = (1 - EVEN) * worth[corpus] / sum(worth.values()) + EVEN / len(held)
        for rank, row in enumerate(items, 1):
            score = math.log(share / rank) + OWN * _log_odds(row["relevance"])
            rows.append({**row, "score": round(score, 6)})
    return sorted(rows, key=lambda row: (-row["score"], row["id"]))


def blended(rows: Sequence[Evidence], joint: Mapping[str, float]) -> list[Evidence]:
    """Return merged items in the order of reciprocal ranks of theirs and of `joint` scores, which not all need have."""
    ranks = {id: n for n, id in enumerate(sorted(joint, key=lambda id: -joint[id]), 1)}
    scores = [
        SAY / (FLAT + n) + (1 / (FLAT + ranks[r["id"]]) if r["id"] in ranks else 0)
        for n, r in enumerate(rows, 1)
    ]
    both = [Evidence(**{**row, "score": round(score, 6)}) for row, score in zip(rows, scores, strict=True)]
    return sorted(both, key=lambda row: (-row["score"], row["id"]))


def _log_odds(relevance: float) -> float:
    r = max(-_SURE, min(_SURE, relevance))
    return math.log((1 + r) / (1 - r))
