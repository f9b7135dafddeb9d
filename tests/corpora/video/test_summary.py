"""What is read off a recording: lines on its screen, its title, what it is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.phrases import key_phrases
from ragweave.corpora.video.look import followed
from ragweave.corpora.video.recording import Cue, Recording, Shown
from ragweave.corpora.video.summary import summary, telling
from ragweave.corpora.video.title import titled


@pytest.mark.parametrize(
    ("frames", "lines"),
    [
        (
            [["Title"], ["Title", "First point"], ["Another"]],
            [(0, 4, "Title"), (2, 4, "First point"), (4, 6, "Another")],
        ),
        ([["The quick brown fox"], ["The qu1ck brown fox"]], [(0, 4, "The quick brown fox")]),
        ([["Q1 2"], ["Q1 3"]], [(0, 2, "Q1 2"), (2, 4, "Q1 3")]),
        ([["Summary"], ["Details"], ["Summary"]], [(0, 2, "Summary"), (2, 4, "Details"), (4, 6, "Summary")]),
        ([["LAION", "LAION"]], [(0, 2, "LAION"), (0, 2, "LAION")]),
    ],
)
def test_a_line_stands_once_with_the_time_in_which_it_was_seen(
    frames: list[list[str]], lines: list[tuple[float, float, str]]
) -> None:
    found = followed([(2.0 * n, 2.0 * n + 2, some) for n, some in enumerate(frames)])
    assert [(s.start, s.end, s.text) for s in found] == lines


@given(st.lists(st.lists(st.text("abc ", max_size=8), max_size=4), max_size=6))
def test_every_line_lies_inside_the_time_of_the_frames(lines: list[list[str]]) -> None:
    found = followed([(2.0 * n, 2.0 * n + 2, some) for n, some in enumerate(lines)])
    assert all(0 <= s.start < s.end <= 2 * len(lines) for s in found)
    assert [s.start for s in found] == sorted(s.start for s in found)


def talk(*lines: str, stands: float = 15.0, shown: float = 55.0) -> Recording:
    """Return a minute of slides, of which the first one has these lines."""
    first = [Shown(0, stands, line) for line in lines]
    return Recording("", 60, (), "", (*first, Shown(stands, stands + shown, "What is next")))


@pytest.mark.parametrize(
    ("recording", "title"),
    [
        (
            talk("Version Control", "Introduction", "Copyright © School 2010"),
            "Version Control: Introduction (vc)",
        ),
        (talk("A Data Set of 400", "Million Pairs", "ada@works.org"), "A Data Set of 400 Million Pairs (vc)"),
        (talk("ext=doc", "Ciphers", "12.03.2024", "Ciphers of old"), "Ciphers (vc)"),
        (talk("One", "Two", "Three", "Four"), "One: Two: Three (vc)"),
        *((talk(*lines), "vc") for lines in (("cc", "57"), ("VC",), ())),
        (talk("Some Studio", shown=5), "vc"),
        (Recording("", 60, (), "", (Shown(0, 2, "Some Studio"), Shown(6, 60, "What is next"))), "vc"),
        (Recording("", 60, (), "", (Shown(10, 60, "The end"),)), "vc"),
    ],
)
def test_a_first_slide_that_stands_gives_the_title_and_the_file_its_name(
    recording: Recording, title: str
) -> None:
    assert titled(recording, "/films/vc.mp4") == title


def test_names_and_repeated_phrases_are_key_and_words_of_talk_are_not() -> None:
    text = (
        "That is why Ada Lovelace wrote notes. It was Ada Lovelace again. That punched cards work. "
        "We saw punched cards in looms, and punched cards in engines. It was so. That was so."
    )
    found = key_phrases(text)
    assert found[0] == "Ada Lovelace" and "punched cards" in found and not {"That", "It", "We"} & set(found)
    told = "We've got a little bit of time. I don't know, it's like a little bit of a drum machine. "
    assert key_phrases(told * 3) == ["drum machine"]


def test_chapters_and_telling_sentences_stand_in_the_summary_with_their_times() -> None:
    cues = tuple(
        Cue(n * 20.0, n * 20.0 + 10, f"The engine number {n} weaves patterns from cards and cards.")
        for n in range(20)
    )
    chapters = ((0.0, 200.0, "Threads"), (200.0, 400.0, "Cards"))
    recording = Recording("Looms", 400.0, cues, "subtitles", chapters=chapters)
    text, spans = summary(recording)
    assert text.startswith("Looms\n\nChapters:\n0:00 Threads\n3:20 Cards")
    placed = {text[s.start : s.end]: s.time for s in spans}
    assert placed["3:20 Cards"] == (200.0, 400.0) and any(t.startswith("The engine number") for t in placed)
    assert len(telling(recording)) == 1, "nothing is told twice"
    assert summary(Recording("quiet", 30.0)) == ("quiet", ())
