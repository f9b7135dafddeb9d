"""Titles in place of the numbers that a sentence uses as words."""

from __future__ import annotations

import pytest

from ragweave.components.evidence import Strip
from ragweave.components.spoken_marks import with_titles


def shown(n: int, title: str) -> list[Strip]:
    """Return a document that the model was shown."""
    return [
        {
            "id": f"{n}#0-9", "evidence": f"{n}", "text": "Some text.", "title": title,
            "locator": {"kind": "heading"}, "origin": "library", "query": "q", "hop": 1, "score": 0.5,
        }
    ]  # fmt: skip


ROWS = [shown(1, "The light"), shown(2, "The boat"), shown(3, "")]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[1] states that it was lit.", "“The light” states that it was lit."),
        ("As [1] says, it was lit.", "As “The light” says, it was lit."),
        ("Both [1][2] say that it was lit.", "Both “The light”, “The boat” say that it was lit."),
        ("According to [1], it was lit.", "According to “The light”, it was lit."),
        ("Wie in [2], brannte sie.", "Wie in “The boat”, brannte sie."),
        ("根据[1]，灯亮了。", "根据“The light”，灯亮了。"),
    ],
)
def test_a_mark_that_opens_a_sentence_is_replaced_by_the_title(written: str, read: str) -> None:
    assert with_titles(written, ROWS) == read


@pytest.mark.parametrize(
    "written",
    [
        "It was lit in 1874 [1], then it went out.",
        "The lamp [1] was lit.",
        "Yes [1].",
        "In 1874 [1], it was lit.",
        "As [3] says, it was lit.",
        "As [7] says, it was lit.",
    ],
)
def test_other_marks_and_documents_without_a_title_stay(written: str) -> None:
    assert with_titles(written, ROWS) == written
