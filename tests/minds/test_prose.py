from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.minds.llm.prose import complete_sentences, marks, plain, split

TEXT = "Dr. Rao paid 3.5 million.[1] It opened in 1999 [2][3]. 它在北京。[4] Is it true? [1, 2]\nYes"


async def _stream(parts: list[str]) -> AsyncIterator[str]:
    for part in parts:
        yield part


def test_marks_stay_with_the_sentence_before_them() -> None:
    assert split(TEXT) == [
        "Dr. Rao paid 3.5 million.[1]",
        "It opened in 1999 [2][3].",
        "它在北京。[4]",
        "Is it true? [1, 2]",
        "Yes",
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
async def test_sentences_do_not_depend_on_how_the_stream_is_cut(size: int) -> None:
    parts = [TEXT[i : i + size] for i in range(0, len(TEXT), size)]
    assert [s async for s in complete_sentences(_stream(parts))] == split(TEXT)


@given(st.text(alphabet="ab.。!? \n[]123", max_size=60))
def test_splitting_loses_nothing_but_white_space(text: str) -> None:
    assert "".join("".join(split(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("sentence", "numbers", "text"),
    [
        ("It is red [1].", [1], "It is red."),
        ("It is red [2, 3][2]", [2, 3], "It is red"),
        ("- **Red** it is. [1]", [1], "Red it is."),
        ("See ![x](http://evil.example/a.png) and [here](http://evil.example).", [], "See x and here."),
        ("Go to https://evil.example/?q=secret now.", [], "Go to now."),
        ("In [1999] it rained.", [], "In [1999] it rained."),
        ("1. First point.", [], "First point."),
        ("1.5 metres.", [], "1.5 metres."),
    ],
)
def test_marks_are_read_and_the_text_is_shown_plain(sentence: str, numbers: list[int], text: str) -> None:
    assert marks(sentence) == numbers
    assert plain(sentence) == text
