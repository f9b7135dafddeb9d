"""Time decay: where newer documents are preferred, an older item counts for less, and never for nothing.

The weight of an item is floor + (1 - floor) * 2^(-age / half-life) with the age in days (RAG-Fusion, time
decay: lambda = .1 a day is a half-life of about seven days). It multiplies the calibrated relevance as a
probability. Ages are counted from the newest item that bears on the question, not from today: a library that
stopped growing last year still knows its latest state.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from ragweave.components.evidence import Evidence

HALF_LIFE = 7.0
"""Days, where neither the run nor its library says otherwise (the article's lambda of .1 a day)."""
RATE = 0.1
"""Decay a day in the program of the article."""
FLOOR = 0.3
"""Share of its relevance that any old document keeps."""
SLACK = timedelta(days=2)
"""How far ahead of the clock a date may lie: time zones and clocks that are set a little wrong."""
BEARS = 0.5
"""Share of the best item's probability of being relevant from which an item bears on the question."""


def readable(date: datetime | None, now: datetime) -> datetime | None:
    """Return a date that can be meant: not after the clock, not the first day of 1970, where broken clocks begin."""
    if date is None:
        return None
    aware = date if date.tzinfo else date.replace(tzinfo=UTC)
    if aware > now + SLACK or (aware.year, aware.month, aware.day) in {(1970, 1, 1), (1969, 12, 31)}:
        return None
    return aware


def decay(age: float, half_life: float, floor: float = FLOOR) -> float:
    """Return the weight of an item in [floor, 1] by its age in days; a negative age counts as 0."""
    return floor + (1 - floor) * 2 ** (-max(age, 0.0) / half_life)


def weights(
    dates: Sequence[datetime | None], relevance: Sequence[float], half_life: float, now: datetime
) -> list[float]:
    """Return what each item's probability of being relevant, (1 + relevance) / 2, is to be multiplied by.

    An item without a readable date gets the median weight of the others: not knowing its age neither lifts
    nor buries it. Where no item has one, every weight is 1. The weights are scaled so that the best item
    afterwards is as relevant as the best one was before: age changes the order, never the verdict over what
    was found. The half-life is in days.
    """
    known = [readable(d, now) for d in dates]
    chance = [(1 + r) / 2 for r in relevance]
    bearing = [d for d, p in zip(known, chance, strict=True) if d is not None and p >= BEARS * max(chance)]
    if not bearing:
        return [1.0] * len(known)
    start = max(bearing)
    made = [decay((start - d).total_seconds() / 86_400, half_life) if d else None for d in known]
    middle = statistics.median([w for w in made if w is not None])
    return _scaled(relevance, [middle if w is None else w for w in made])


def _scaled(relevance: Sequence[float], made: Sequence[float]) -> list[float]:
    """Scale weights so that the best item keeps what the best had."""
    chance = [(1 + r) / 2 for r in relevance]
    best = max((p * w for p, w in zip(chance, made, strict=True)), default=0.0)
    scale = max(chance) / best if best > 0 else 1.0
    return [w * scale for w in made]


def refaded(relevance: Sequence[float], made: Sequence[float]) -> list[float]:
    """Return what another evaluator's relevance, in [-1, 1], becomes under weights by age."""
    return [faded(r, w) for r, w in zip(relevance, _scaled(relevance, made), strict=True)]


def faded(relevance: float, weight: float) -> float:
    """Return calibrated relevance in [-1, 1] after its probability (1 + relevance) / 2 was multiplied by a weight."""
    return min((1 + relevance) * weight, 2.0) - 1


def by_age(rows: list[Evidence], half_life: float, now: datetime) -> list[Evidence]:
    """Weaken older items and order by what is left of their relevance; what was equal keeps its order.

    Only the document's own date counts, never that of its file on a disk. `decay` says what the numbers mean.
    """
    made = weights([date_of(r) for r in rows], [r["relevance"] for r in rows], half_life, now)
    aged: list[Evidence] = [
        {**r, "relevance": round(faded(r["relevance"], w), 4), "fresh": round(w, 4)}
        for r, w in zip(rows, made, strict=True)
    ]
    return sorted(aged, key=lambda r: -r["relevance"])


def by_published_age(rows: list[Evidence], now: datetime) -> list[Evidence]:
    """Multiply fused scores by exp(-.1 · whole days until now) and order by the product (RAG-Fusion, the article).

    An item without a readable date keeps its score: the article dates every document.
    """
    aged: list[Evidence] = []
    for row in rows:
        date = readable(date_of(row), now)
        days = max(0, (now - date).days) if date else 0
        aged.append({**row, "score": row["score"] * math.exp(-RATE * days)})
    return sorted(aged, key=lambda r: -r["score"])


def date_of(row: Evidence) -> datetime | None:
    """Return the date that an evidence row's document states, or None."""
    return datetime.fromisoformat(row["date"]) if row["date"] else None
