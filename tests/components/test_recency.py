from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import exp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.recency import by_published_age, decay, faded, readable, weights

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


@pytest.mark.parametrize(
    ("date", "kept"),
    [
        (None, False),
        (days_ago(3), True),
        (NOW + timedelta(days=1), True),
        (NOW + timedelta(days=30), False),
        (datetime(1970, 1, 1), False),
        (datetime(1969, 12, 31, 23, tzinfo=UTC), False),
        (datetime(1970, 6, 1), True),
        (datetime(1889, 5, 6), True),
    ],
)
def test_dates_that_cannot_be_meant_are_not_read(date: datetime | None, kept: bool) -> None:
    assert (readable(date, NOW) is not None) == kept


def test_as_the_article_has_it_scores_fall_by_whole_days_from_today_and_to_nothing() -> None:
    dates = ["", days_ago(0.9).isoformat(), days_ago(7).isoformat(), days_ago(700).isoformat()]
    rows: Any = [{"id": n, "date": date, "score": 1.0} for n, date in enumerate(dates)]
    aged = by_published_age(rows, NOW)
    assert [round(r["score"], 4) for r in aged] == [1.0, 1.0, round(exp(-0.7), 4), 0.0]


def test_seven_days_are_about_the_published_lambda() -> None:
    assert all(decay(d, 6.93, 0.0) == pytest.approx(exp(-0.1 * d), rel=0.01) for d in range(30))


def weigh(dates: list[datetime | None], relevance: list[float], half_life: float = 7.0) -> list[float]:
    return weights(dates, relevance, half_life, NOW)


dated = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(-500, 40_000).map(days_ago)), st.floats(-1, 1)),
    min_size=1,
    max_size=12,
)


@given(dated, st.floats(0.1, 5_000))
def test_age_never_changes_the_best_relevance(
    rows: list[tuple[datetime | None, float]], half_life: float
) -> None:
    dates, relevance = [d for d, _ in rows], [r for _, r in rows]
    after = [faded(r, w) for r, w in zip(relevance, weigh(dates, relevance, half_life), strict=True)]
    assert max(after) == pytest.approx(max(relevance), abs=1e-6)
    assert all(-1 - 1e-9 <= a <= 1 for a in after)


@given(st.floats(-0.99, 1), st.integers(0, 20_000), st.integers(0, 20_000))
def test_of_two_equally_relevant_items_the_newer_never_ranks_below(
    relevance: float, one: int, other: int
) -> None:
    newer, older = sorted((one, other))
    made = weigh([days_ago(older), days_ago(newer)], [relevance, relevance])
    assert made[1] >= made[0]
