"""Clips: where a recording is cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.video.items import TAIL, cut


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        (0.0, []),
        (12.0, [(0, 12)]),
        (30.0, [(0, 30)]),
        (34.9, [(0, 34.9)]),
        (35.0, [(0, 30), (30, 35)]),
        (64.0, [(0, 30), (30, 64)]),
        (90.0, [(0, 30), (30, 60), (60, 90)]),
    ],
)
def test_clips_are_thirty_seconds_and_a_short_tail_joins_the_one_before(
    duration: float, expected: list[tuple[float, float]]
) -> None:
    assert cut(duration, 30.0) == expected


def test_a_border_moves_to_where_the_nearest_utterance_begins() -> None:
    assert cut(60.0, 30.0, [0.0, 28.0, 33.0]) == [(0.0, 28.0), (28.0, 60.0)]
    assert cut(60.0, 30.0, [0.0, 10.0, 45.0]) == [(0.0, 30.0), (30.0, 60.0)]


@given(st.floats(0, 10_000), st.floats(10, 120), st.lists(st.floats(0, 10_000), max_size=60))
def test_clips_always_cover_the_recording_without_gap_or_overlap(
    duration: float, length: float, opens: list[float]
) -> None:
    found = cut(duration, length, opens)
    if duration <= 0:
        assert found == []
        return
    assert (found[0][0], found[-1][1]) == (0.0, duration)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(found))
    assert all(b - a >= min(TAIL, duration) for a, b in found)
    assert all(b - a <= length * 1.5 + TAIL + 1e-6 for a, b in found)
