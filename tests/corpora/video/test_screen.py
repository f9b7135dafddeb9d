"""Lines on the screen, followed from frame to frame; frames that look alike."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.video.frames import alike, small
from ragweave.corpora.video.look import _rough, followed
from ragweave.corpora.video.recording import Shown


def test_a_line_stands_once_with_the_time_in_which_it_was_seen() -> None:
    frames = [(0.0, 2.0, ["Title of it"]), (2.0, 4.0, ["Title of it", "First point"]), (4.0, 6.0, ["Another slide"])]
    assert followed(frames) == (
        Shown(0.0, 4.0, "Title of it"),
        Shown(2.0, 4.0, "First point"),
        Shown(4.0, 6.0, "Another slide"),
    )


def test_a_letter_read_differently_is_the_same_line_and_a_different_number_is_not() -> None:
    assert len(followed([(0, 2, ["The quick brown fox"]), (2, 4, ["The qu1ck brown fox"])])) == 1
    assert len(followed([(0, 2, ["Q1 2"]), (2, 4, ["Q1 3"])])) == 2


def test_a_line_that_comes_back_is_another_one() -> None:
    found = followed([(0, 2, ["Summary"]), (2, 4, ["Details"]), (4, 6, ["Summary"])])
    assert [(s.start, s.end, s.text) for s in found] == [(0, 2, "Summary"), (2, 4, "Details"), (4, 6, "Summary")]


def test_the_same_line_twice_in_one_frame_is_two_lines() -> None:
    assert len(followed([(0, 2, ["LAION", "LAION"])])) == 2


@given(st.lists(st.lists(st.text("abc ", max_size=8), max_size=4), max_size=6))
def test_every_line_lies_inside_the_time_of_the_frames(lines: list[list[str]]) -> None:
    frames = [(2.0 * n, 2.0 * n + 2, some) for n, some in enumerate(lines)]
    found = followed(frames)
    assert all(0 <= s.start < s.end <= 2 * len(lines) for s in found)
    assert [s.start for s in found] == sorted(s.start for s in found)


def slide(lines: int) -> np.ndarray:
    picture = np.full((720, 1280, 3), 250, np.uint8)
    for n in range(lines):
        picture[100 + 60 * n : 130 + 60 * n, 100:700] = 20
    return picture


def test_noise_is_no_change_and_another_line_is_one() -> None:
    rng = np.random.default_rng(2)
    noisy = np.clip(slide(3).astype(int) + rng.integers(-6, 7, (720, 1280, 3)), 0, 255).astype(np.uint8)
    assert alike(small(slide(3)), small(noisy))
    assert not alike(small(slide(3)), small(slide(4)))


def test_pictures_smaller_than_the_grid_can_be_compared() -> None:
    tiny = np.zeros((20, 30, 3), np.uint8)
    assert small(tiny).shape == small(slide(1)).shape
    assert alike(small(tiny), small(tiny))


def test_what_stands_still_is_read_before_what_moves() -> None:
    moving = [(2.0 * n, f"m{n}") for n in range(12)]
    row = [*moving[:7], (14.0, "card"), (16.0, "card"), *moving[9:]]
    chosen = _rough(row)
    assert "card" in chosen and len(chosen) == 5
    assert chosen == [n for n in dict.fromkeys(name for _, name in row) if n in chosen]
