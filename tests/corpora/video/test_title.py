"""What a recording is called whose container states no title."""

from __future__ import annotations

import pytest

from ragweave.corpora.video.recording import Recording, Shown, called
from ragweave.corpora.video.title import filed_as, titled


def talk(*lines: str, stands: float = 15.0, shown: float = 55.0) -> Recording:
    """Return a minute of slides, of which the first one has these lines."""
    first = [Shown(0, stands, line) for line in lines]
    return Recording("", 60, (), "", (*first, Shown(stands, stands + shown, "What is next")))


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        (
            ["Version Control", "Introduction", "Copyright © Some School 2010", "More"],
            "Version Control: Introduction (vc)",
        ),
        (["A Data Set of 400", "Million Pairs", "ada@works.org"], "A Data Set of 400 Million Pairs (vc)"),
        (["ext=doc", "Ciphers", "12.03.2024", "Ciphers of old"], "Ciphers (vc)"),
        (["One", "Two", "Three", "Four"], "One: Two: Three (vc)"),
        (["cc", "57"], "vc"),
        (["VC"], "vc"),
        ([], "vc"),
    ],
)
def test_the_first_slide_gives_the_title_and_the_file_its_name(lines: list[str], title: str) -> None:
    assert titled(talk(*lines), "/films/vc.mp4") == title


def test_what_stands_shortly_or_late_or_in_a_film_is_no_first_slide() -> None:
    shortly = Recording("", 60, (), "", (Shown(0, 2, "Some Studio"), Shown(6, 60, "What is next")))
    assert titled(shortly, "vc.mp4") == "vc"
    assert titled(talk("Some Studio", shown=5), "vc.mp4") == "vc"
    late = Recording("", 60, (), "", (Shown(10, 60, "The end"),))
    assert titled(late, "vc.mp4") == "vc"


def test_a_clip_is_read_under_the_name_of_its_file_and_not_under_the_topic_of_the_talk() -> None:
    assert filed_as("Stream ciphers (vc 3) · Keys", "/films/vc_3.mp4") == "vc 3 · Keys"
    assert filed_as("Bread (a whole recipe)", "/films/vc_3.mp4") == "Bread (a whole recipe)"
    assert filed_as("A title", "") == "A title"


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
