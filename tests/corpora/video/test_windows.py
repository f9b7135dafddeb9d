"""Stretches of time that a question names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.video.places import seconds, stretch, window_of, without_window
from ragweave.models.text import clock


@pytest.mark.parametrize(
    ("question", "window"),
    [
        ("What is shown at 1:30?", (75.0, 105.0)),
        ("What happens at 1:02:03?", (3708.0, 3738.0)),
        ("What is discussed between 1:00 and 2:30?", (60.0, 150.0)),
        ("What is discussed between 2:30 and 1:00?", (60.0, 150.0)),
        ("What happens in the first two minutes of the talk?", (0.0, 120.0)),
        ("What is said in the last 30 seconds?", (-30.0, 0.0)),
        ("What is said at the end of the video?", (-60.0, 0.0)),
        ("What is said in minute 5?", (285.0, 360.0)),
        ("Who spoke?", None),
        ("Which ferry leaves at 10:30 am?", None),
        ("Which ferry leaves at 10:30 a.m. on weekdays?", None),
        ("Who is on duty between 9:00 and 10:30 p.m.?", None),
        ("Wer hat um 10:30 Uhr Dienst, at 10:30 Uhr?", None),
        ("What happens at 10:30 in the morning?", None),
        ("Who comes on Monday at 10:30?", None),
        ("What is said at 10:30 in the morning session?", (615.0, 645.0)),
        ("What is said at 10:30 in today's meeting?", (615.0, 645.0)),
    ],
)
def test_a_time_in_a_question_becomes_a_window(question: str, window: tuple[float, float] | None) -> None:
    assert window_of(question) == window


@given(st.integers(0, 359_999))
def test_a_clock_time_reads_back_as_the_same_second(at: int) -> None:
    parts = [int(p) for p in clock(at).split(":")]
    hours = str(parts[0]) if len(parts) == 3 else None
    assert seconds(hours, str(parts[-2]), str(parts[-1])) == at


def test_a_window_from_the_end_lies_where_the_recording_ends() -> None:
    assert stretch((-30.0, 0.0), 100.0) == (70.0, 100.0)
    assert stretch((-60.0, 0.0), 52.0) == (0.0, 52.0)
    assert stretch((10.0, 20.0), 15.0) == (10.0, 20.0)


def test_a_question_loses_its_stretch_of_time() -> None:
    assert without_window("What is said about rye between 1:00 and 2:00?") == "What is said about rye ?"
    assert without_window("Who leaves at 10:30 am?") == "Who leaves at 10:30 am?"
    assert without_window("What is shown at the end of the NASA clip?") == "What is shown ?"


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(question: str) -> None:
    window_of(question)
    without_window(question)
