"""Time decay: if newer documents are preferred, older items count for less, but never for nothing.

The weight of an item is floor + (1 - floor) * 2^(-age / half-life) with the age in days (RAG-Fusion, time
decay: lambda = .1 a day is a half-life of about seven days). It multiplies the calibrated relevance as a
probability. Ages are counted from the newest relevant item, not from today: a library that stopped growing
last year still knows its latest state.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from ragweave.components.evidence import Evidence

HALF_LIFE = 7.0
"""Default half-life in days: the article's lambda of .1 a day."""
RATE = 0.1
"""Decay per day in the program of the article."""
FLOOR = 0.3
"""Share of its relevance that a document keeps however old it is."""
SLACK = timedelta(days=2)
"""How far ahead of the clock a date may be, because of time zones and inexact clocks."""
BEARS = 0.5
"""Share of the best item's probability of being relevant from which an item counts as relevant."""


def readable(date: datetime | None, now: datetime) -> datetime | None:
    """Return a date with its time zone, or None if it cannot be meant.

    That is a date after the clock, or the first day of 1970, which broken clocks give.
    """
    if date is None:
        return None
    aware = date if date.tzinfo else date.replace(tzinfo=UTC)
    day = (aware.year, aware.month, aware.day)
    if aware > now + SLACK or day in {(1970, 1, 1), (1969, 12, 31)}:
        return None
    return aware


def decay(age: float, half_life: float, floor: float = FLOOR) -> float:
    """Return the weight of an item in [floor, 1] by its age in days; a negative age counts as 0."""
    return floor + (1 - floor) * 2 ** (-max(age, 0.0) / half_life)


def weights(
    dates: Sequence[datetime | None], relevance: Sequence[float], half_life: float, now: datetime
) -> list[float]:
    """Return the weight of each item's probability of being relevant, (1 + relevance) / 2.

    An item without a readable date gets the median weight of the others: an unknown age neither raises nor
    lowers it. If no relevant item has a date, every weight is 1. The weights are scaled so that the best item
    keeps the relevance of the best one before: age changes the order, never the verdict.

    Args:
        dates: date of each item.
        relevance: relevance of each item in [-1, 1].
        half_life: in days.
        now: the clock.
    """
    known = [readable(date, now) for date in dates]
    newest = _newest_relevant(known, _probabilities(relevance))
    if newest is None:
        return [1.0] * len(known)
    made: list[float | None] = []
    dated: list[float] = []
    for date in known:
        if date is None:
            made.append(None)
            continue
        weight = decay((newest - date).total_seconds() / 86_400, half_life)
        made.append(weight)
        dated.append(weight)
    middle = statistics.median(dated)
    filled = [middle if weight is None else weight for weight in made]
    return _scaled(relevance, filled)


def _newest_relevant(dates: Sequence[datetime | None], chances: Sequence[float]) -> datetime | None:
    """Return the newest date among the relevant items, or None if none of them has one."""
    newest: datetime | None = None
    least = BEARS * max(chances, default=0.0)
    for date, chance in zip(dates, chances, strict=True):
        if date is None or chance < least:
            continue
        if newest is None or date > newest:
            newest = date
    return newest


def _probabilities(relevance: Sequence[float]) -> list[float]:
    """Return relevance in [-1, 1] as probabilities."""
    return [(1 + value) / 2 for value in relevance]


def _scaled(relevance: Sequence[float], made: Sequence[float]) -> list[float]:
    """Return weights scaled so that the highest probability is the same with and without them."""
    chances = _probabilities(relevance)
    best = 0.0
    for chance, weight in zip(chances, made, strict=True):
        best = max(best, chance * weight)
    scale = max(chances) / best if best > 0 else 1.0
    return [weight * scale for weight in made]


def refaded(relevance: Sequence[float], made: Sequence[float]) -> list[float]:
    """Return another evaluator's relevance, in [-1, 1], under weights by age."""
    scaled = _scaled(relevance, made)
    return list(map(faded, relevance, scaled))


def faded(relevance: float, weight: float) -> float:
    """Return relevance in [-1, 1] after its probability, (1 + relevance) / 2, is multiplied by a weight."""
    return min((1 + relevance) * weight, 2.0) - 1


def by_age(rows: list[Evidence], half_life: float, now: datetime) -> list[Evidence]:
    """Weight the relevance of items by age, and order by the result; equal items keep their order.

    Only the document's own date counts, not that of its file on a disk. `decay` defines the weights.
    """
    dates = list(map(date_of, rows))
    relevance = [row["relevance"] for row in rows]
    aged: list[Evidence] = []
    for row, weight in zip(rows, weights(dates, relevance, half_life, now), strict=True):
        aged.append(
            {**row, "relevance": round(faded(row["relevance"], weight), 4), "fresh": round(weight, 4)}
        )
    return sorted(aged, key=lambda row: -row["relevance"])


def by_published_age(rows: list[Evidence], now: datetime) -> list[Evidence]:
    """Multiply fused scores by exp(-.1 · whole days of age), and order by the product (RAG-Fusion, article).

    An item without a readable date keeps its score: the article dates every document.
    """
    aged: list[Evidence] = []
    for row in rows:
        date = readable(date_of(row), now)
        days = max(0, (now - date).days) if date else 0
        # A negative cosine would grow with age.
        aged.append({**row, "score": max(row["score"], 0.0) * math.exp(-RATE * days)})
    return sorted(aged, key=lambda row: -row["score"])


def date_of(row: Evidence) -> datetime | None:
    """Return the date that an evidence row's document states, or None."""
    return datetime.fromisoformat(row["date"]) if row["date"] else None
