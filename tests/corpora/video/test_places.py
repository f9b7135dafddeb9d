"""Recordings and times that a question names as the place to look."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.video.places import named_in, seconds, window_of
from ragweave.models.text import clock

TITLES = ["Stream ciphers: an introduction (lecture 3)", "Block ciphers (lecture 4)", "Café trailer"]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What is a key in lecture 3?", TITLES[:1]),
        ("What is a key in stream ciphers: an introduction?", TITLES[:1]),
        ("What does the CAFE TRAILER show?", TITLES[2:]),
        ("Who speaks in “lecture 3” and in Block ciphers?", TITLES[:2]),
        ("What is a key in lecture 31?", []),
        ("What is a key in the lecture on ciphers?", []),
        ("Who speaks in lecture 3, lecture 4 and the Café trailer?", []),
        ("", []),
    ],
)
def test_recordings_whose_title_or_file_name_stands_in_the_question_are_named(question: str, named: list[str]) -> None:
    assert named_in(question, TITLES) == named


@pytest.mark.parametrize(
    ("question", "window"),
    [
        ("What is shown at 1:30?", (75.0, 105.0)),
        ("What is shown at 0:05?", (0.0, 20.0)),
        ("What happens at 1:02:03?", (3708.0, 3738.0)),
        ("What is discussed between 1:00 and 2:30?", (60.0, 150.0)),
        ("What is discussed between 2:30 and 1:00?", (60.0, 150.0)),
        ("Who won 3:2 or 10:75?", None),
        ("Who spoke?", None),
    ],
)
def test_clock_times_in_a_question_become_a_window(question: str, window: tuple[float, float] | None) -> None:
    assert window_of(question) == window


@given(st.integers(0, 359_999))
def test_a_clock_time_reads_back_as_the_same_second(at: int) -> None:
    parts = [int(p) for p in clock(at).split(":")]
    hours = str(parts[0]) if len(parts) == 3 else None
    assert seconds(hours, str(parts[-2]), str(parts[-1])) == at


@given(st.text(alphabet="0123456789: .,?a", max_size=60))
def test_a_window_of_any_text_begins_before_it_ends(question: str) -> None:
    window = window_of(question)
    assert window is None or 0 <= window[0] <= window[1]
