"""Clips: where a recording is cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.video.items import TAIL, cut, pauses
from ragweave.corpora.video.recording import Cue


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


def test_a_cut_moves_into_the_pause_and_off_the_word() -> None:
    cues = [Cue(0, 28, "a"), Cue(28.0, 31.5, "b"), Cue(33.0, 58, "c")]
    (_, border), *_ = cut(60.0, 30.0, pauses(cues, 60.0))
    assert 31.5 < border < 33.0


def test_utterances_without_a_pause_are_parted_where_one_ends() -> None:
    cues = [Cue(n * 4.0, n * 4.0 + 4.0, "x") for n in range(15)]
    assert cut(60.0, 30.0, pauses(cues, 60.0)) == [(0.0, 28.0), (28.0, 60.0)]


@given(
    st.floats(0, 10_000),
    st.floats(10, 120),
    st.lists(st.tuples(st.floats(0, 10_000), st.floats(0, 5)), max_size=60),
)
def test_clips_always_cover_the_recording_without_gap_or_overlap(
    duration: float, length: float, quiet: list[tuple[float, float]]
) -> None:
    found = cut(duration, length, [(a, a + b) for a, b in quiet])
    if duration <= 0:
        assert found == []
        return
    assert (found[0][0], found[-1][1]) == (0.0, duration)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(found))
    assert all(b - a >= min(TAIL, duration) for a, b in found)
    assert all(b - a <= length * 1.5 + TAIL + 1e-6 for a, b in found)
