"""Merge the results of several corpora, with the router's confidence as prior.

Scores of different corpora do not compare, and a question often does not show where its answer is. So the
weight of a corpus follows Bayes: the router's confidence, times the odds that its best result is relevant.
Its items share that weight by their ranks. Then the order of all items as one pool, in which the router has
no part, counts half as much.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ragweave.components.evidence import Evidence

TRUST = 0.5
"""Exponent of the confidence, which is calibrated on questions over other libraries."""
EVEN = 0.3
"""Share of the weight that is spread evenly: router and relevance may both be wrong."""
OWN = 0.1
"""Weight of the log-odds of an item's own relevance, added to those of the best of its corpus."""
SAY = 2.0
"""Weight of the merged order; the joint order has 1."""
FLAT = 3
"""Constant of the reciprocal ranks of both orders."""
_LEAST = 0.01
"""Confidence that every corpus keeps."""
_SURE = 0.995
"""Relevance at which log-odds are capped."""


def merged(ranked: Mapping[str, Sequence[Evidence]], confidence: Mapping[str, float]) -> list[Evidence]:
    """Return the items of all corpora in one order, with their score in it.

    Args:
        ranked: items of each corpus, best first.
        confidence: the router's confidence in each corpus.
    """
    worth = _worth(ranked, confidence)
    rows: list[Evidence] = []
    for corpus, weight in worth.items():
        share = (1 - EVEN) * weight / sum(worth.values()) + EVEN / len(worth)
        for rank, row in enumerate(ranked[corpus], 1):
            score = math.log(share / rank) + OWN * _log_odds(row["relevance"])
            rows.append({**row, "score": round(score, 6)})
    return sorted(rows, key=_best_first)


def _worth(ranked: Mapping[str, Sequence[Evidence]], confidence: Mapping[str, float]) -> dict[str, float]:
    """Return the weight of each corpus that has items: confidence times the odds of its best item."""
    held = [corpus for corpus, items in ranked.items() if items]
    total = sum(confidence.get(corpus, 0.0) for corpus in held) or 1.0
    worth = {}
    for corpus in held:
        prior = (confidence.get(corpus, 0.0) / total + _LEAST) ** TRUST
        odds = max(_log_odds(row["relevance"]) for row in ranked[corpus])
        worth[corpus] = prior * math.exp(odds)
    return worth


def blended(rows: Sequence[Evidence], joint: Mapping[str, float]) -> list[Evidence]:
    """Return merged items in the order of reciprocal ranks.

    Args:
        rows: merged items, best first.
        joint: scores of items as one pool; some items may have none.
    """
    ranks: dict[str, int] = {}
    for rank, evidence_id in enumerate(sorted(joint, key=lambda evidence_id: -joint[evidence_id]), 1):
        ranks[evidence_id] = rank
    both = []
    for rank, row in enumerate(rows, 1):
        score = SAY / (FLAT + rank)
        if row["id"] in ranks:
            score += 1 / (FLAT + ranks[row["id"]])
        both.append(Evidence(**{**row, "score": round(score, 6)}))
    return sorted(both, key=_best_first)


def _best_first(row: Evidence) -> tuple[float, str]:
    """Return the sort key that puts the best score first."""
    return (-row["score"], row["id"])


def _log_odds(relevance: float) -> float:
    """Return the log-odds of relevance in [-1, 1]."""
    capped = max(-_SURE, min(_SURE, relevance))
    return math.log((1 + capped) / (1 - capped))
