"""Slides told from the lines of the screen: what stays together, what it lists, and how recordings are called."""

from __future__ import annotations

import pytest

from ragweave.corpora.types import Item
from ragweave.corpora.video.items import items_of
from ragweave.corpora.video.look import _rough
from ragweave.corpora.video.recording import Cue, Frame, Recording, Shown, called
from ragweave.corpora.video.slides import Slide, slides_of


def clips(shown: list[Shown], cues: tuple[Cue, ...] = (), frames: tuple[Frame, ...] = ()) -> list[Item]:
    end = max(s.end for s in shown)
    recording = Recording("Talk", end, cues, "subtitles", tuple(sorted(shown, key=lambda s: s.start)), frames)
    return [i for i in items_of("s", "talk.mp4", recording) if i.corpus == "clip"]


def stood(start: float, end: float, *lines: str) -> list[Shown]:
    return [Shown(start, end, line) for line in lines]


def titles(slides: list[Slide]) -> list[tuple[str, float, float]]:
    return [(s.title, s.since, s.until) for s in slides]


def test_a_slide_is_a_stretch_in_which_its_lines_stood_also_across_clips() -> None:
    shown = [*stood(0, 50, "Tools", "Smoker", "Brush"), *stood(50, 64, "Winter", "Sugar")]
    held = clips(shown)
    assert len(held) == 2
    assert titles(slides_of(held)) == [("Tools", 0, 50), ("Winter", 50, 64)]


def test_a_slide_that_is_built_up_is_one_with_its_fullest_frame() -> None:
    shown = [*stood(0, 12, "Steps"), *stood(4, 12, "Greet"), *stood(8, 12, "Show the plan"), *stood(12, 20, "End")]
    frames = tuple(Frame(t, f"s/{t}.jpg") for t in (0.0, 4.0, 8.0, 12.0))
    first, last = slides_of(clips(shown, frames=frames))
    assert first.entries == ["Greet", "Show the plan"] and first.image == "s/8.0.jpg"
    assert last.image == "s/12.0.jpg"


def test_a_running_head_is_no_title() -> None:
    rows = [stood(8 * n, 8 * n + 8, "Course of bees", f"Title {name}", name) for n, name in enumerate("abcde")]
    slides = slides_of(clips([line for row in rows for line in row]))
    assert [s.title for s in slides] == [f"Title {name}" for name in "abcde"]


def test_marks_are_no_words_of_an_entry_and_a_wrapped_line_is_one() -> None:
    lines = ("What", "• filtered by hand", "• all samples are alike in text and in the", "pictures", "3) short")
    (slide,) = slides_of(clips(stood(0, 20, *lines)))
    assert slide.entries == ["filtered by hand", "all samples are alike in text and in the pictures", "short"]


def test_short_lines_in_small_letters_and_addresses_are_entries_of_their_own() -> None:
    for lines in (("ants", "bees", "wasps"), ("https://a.example/some/long/path/of/it", "https://b.example/path")):
        (slide,) = slides_of(clips(stood(0, 20, "Title", *lines)))
        assert slide.entries == list(lines)


def test_what_was_said_meanwhile_is_told_with_its_place() -> None:
    cues = (Cue(1, 5, "Buy the smoker."), Cue(31, 35, "Feed in time."))
    held = clips([*stood(0, 30, "Tools"), *stood(30, 60, "Winter")], cues)
    rows = [[clip.text[a:b] for clip, a, b in s.said(held)] for s in slides_of(held)]
    assert rows == [["Buy the smoker."], ["Feed in time."]]


def test_what_stands_still_is_read_before_what_moves() -> None:
    moving = [(2.0 * n, f"m{n}") for n in range(12)]
    row = [*moving[:7], (14.0, "card"), (16.0, "card"), *moving[9:]]
    chosen = _rough(row)
    assert "card" in chosen and len(chosen) == 5
    assert chosen == [n for n in dict.fromkeys(name for _, name in row) if n in chosen]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("agent327_barbershop.mp4", "agent 327 barbershop"),
        ("Lecture3.mkv", "Lecture 3"),
        ("B2B-talk.mp4", "B2B-talk"),
        ("_.mp4", "_"),
    ],
)
def test_a_recording_without_a_title_is_called_by_the_words_of_its_file(name: str, title: str) -> None:
    assert called(f"/films/{name}") == title
