"""Pieces of what was said and shown that can stand in an answer."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.video.utterances import LONGEST, spoken
from ragweave.minds.evidence import Strip
from ragweave.minds.small.answer.sentences import parts_of


def recorded(text: str, score: float = 0.5) -> Strip:
    return {
        "id": f"c#0-{len(text)}", "evidence": "c", "text": text, "title": "Talk", "origin": "library", "query": "q",
        "locator": {"kind": "time", "file": "/t.mp4", "start": 0.0, "end": 30.0}, "hop": 1, "score": score,
    }  # fmt: skip


def pieces(text: str) -> list[str]:
    strip = recorded(text)
    return [text[a:b] for a, b in parts_of(strip)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("The first step is to find… …where the two fields overlap.", 1),
        ("Chief, do you copy? I need backup! What are you doing?", 1),
        ("The master copy lies on a server that nobody uses. Nobody ever edits the master copy itself directly.", 2),
        ("we follow that this is the threshold\n\nand we also provide a nearest neighbour index", 2),
        ("Agent 327 is a Dutch animation feature film\nfrom Amsterdam\nMade with\nBlender", 2),
    ],
)
def test_what_was_said_in_one_breath_is_one_piece(text: str, parts: int) -> None:
    assert len(pieces(text)) == parts


def test_a_piece_is_never_joined_beyond_its_limit() -> None:
    text = " ".join(["One two three four."] * 40)
    assert all(len(p.split()) <= LONGEST for p in pieces(text))


@given(st.text(max_size=300))
def test_pieces_follow_each_other_in_the_text(text: str) -> None:
    spans = parts_of(recorded(text))
    assert all(a < b for a, b in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


def test_the_lines_of_a_slide_are_sentences_and_a_line_that_goes_on_is_not() -> None:
    strip = recorded(
        "Source: Common Crawl\nall samples cos similarity\nbetween image & text\nModels like\nDALL-E and CLIP"
    )
    shown = [strip["text"][a:b] for a, b in parts_of(strip)]
    assert shown == [
        "Source: Common Crawl\nall samples cos similarity\nbetween image & text",
        "Models like\nDALL-E and CLIP",
    ]


def test_lines_of_other_texts_are_left_to_their_sentences() -> None:
    page = recorded("One line\nAnother line.")
    page["locator"] = {"kind": "page", "file": "/a.pdf", "page": 1}
    assert len(parts_of(page)) == 1


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("Ada Ostrander: The comet came.", "The comet came."),
        ("Ada: Yes.", "Yes."),
        ("At 10:30: nothing", "At 10:30: nothing"),
        ("no name here", "no name here"),
    ],
)
def test_the_name_of_a_speaker_is_not_what_is_said(sentence: str, said: str) -> None:
    assert spoken(sentence) == said


def test_a_line_that_states_what_is_asked_for_keeps_its_label() -> None:
    line = "Source: Common Crawl"
    assert spoken(line, "What is the source of the data?") == line
    assert spoken(line, "Who is Source?") == spoken(line) == "Common Crawl"
