"""Titles in place of the numbers that a sentence uses as words."""

from __future__ import annotations

import pytest

from ragweave.components.evidence import Strip
from ragweave.components.spoken_marks import numbered, with_titles


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


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("It was lit, as noted in [1] and more.", "It was lit, as noted in [1] and more."),
        ("It was lit, as noted in [1][2].", "It was lit, as noted in “The light”, “The boat”."),
        ("It was lit, according to [2].", "It was lit, according to “The boat”."),
        ("[1] The lamp was lit.", "[1] The lamp was lit."),
        ("It was lit, and the boat went in [1].", "It was lit, and the boat went in [1]."),
    ],
)
def test_a_mark_that_a_preposition_needs_is_replaced_by_the_title(written: str, read: str) -> None:
    assert with_titles(written, ROWS) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Document 1 says so.", "“The light”[1] says so."),
        (
            "According to documents 1 and 2, it is so.",
            "According to “The light”[1] and “The boat”[2], it is so.",
        ),
        ("根据文档1，灯亮了。", "根据“The light”[1]，灯亮了。"),
        ("Document 3 says so.", "Document 3[3] says so."),
        ("As Document 1 says, it is so [1].", "As “The light”[1] says, it is so [1]."),
        ("It is lit [The light].", "It is lit [1]."),
        ("It is lit [1] (The light).", "It is lit [1]."),
    ],
)
def test_a_document_that_a_sentence_names_is_cited(written: str, read: str) -> None:
    assert numbered(written, ROWS) == read


@pytest.mark.parametrize(
    "written",
    [
        "Document 9 says so.",
        "Document 1.2 says so.",
        "It is in Document 2 of the treaty [1].",
        "The title is “Document 2” there.",
        "The light is lit.",
        "Resource 1 is empty.",
    ],
)
def test_other_numbers_and_titles_name_no_document(written: str) -> None:
    assert numbered(written, ROWS) == written
