"""Marks on a line of their own and lists of sources cite for the sentences before them."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.evidence import Strip
from ragweave.components.prose import split, tell


def row(n: int, title: str) -> list[Strip]:
    """Return a document that the model was shown."""
    return [
        {
            "id": f"{n}#0-9", "evidence": f"{n}", "text": f"Text {n}.", "title": title,
            "locator": {"kind": "heading", "file": f"file{n}.md"}, "origin": "library", "query": "q", "hop": 1,
            "score": 0.5,
        }
    ]  # fmt: skip


def read(reply: str) -> list[tuple[str, list[str]]]:
    """Return the sentences that are shown of a reply, each with the ids of its sources after all marks."""
    seen: list[tuple[str, list[str]]] = []

    def emit(n: int, sentence: Any, citations: Any) -> None:
        seen[n - 1 : n] = [(sentence.text, sorted([citation.id for citation in citations]))]

    builder = AnswerBuilder(emit, {}, {}, emit)
    for sentence in split(reply):
        tell(sentence, [row(1, "The light"), row(2, "The boat")], builder)
    builder.close()
    return seen


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("It is lit.\n\n[1]", [("It is lit.", ["1"])]),
        ("It is lit.\n\n[1]\n\nIt left.\n\n[2]", [("It is lit.", ["1"]), ("It left.", ["2"])]),
        (
            "Yes [1]. It is lit.\n\nIt left.\n\n[2]",
            [("Yes.", ["1"]), ("It is lit.", []), ("It left.", ["2"])],
        ),
        ("- It is lit\n- It left\n\n[2]", [("It is lit", []), ("It left", ["2"])]),
    ],
)
def test_marks_alone_cite_for_the_paragraph_or_item_before_them(reply: str, shown: object) -> None:
    assert read(reply) == shown


@pytest.mark.parametrize(
    "footer",
    [
        "Sources: [1], [2]",
        "Sources:\n[1] The light\n[2] The boat",
        "**Quellen:**\n- [1] The light, S. 4\n- [2] The boat (2019)",
        "[^1]: The light\n[^2]: The boat",
        "[1] file1.md\n[2] file2.md",
    ],
)
def test_a_list_of_sources_cites_for_an_answer_that_cites_nothing_else(footer: str) -> None:
    assert read(f"It is lit. It left.\n\n{footer}") == [("It is lit.", ["1", "2"]), ("It left.", ["1", "2"])]


@pytest.mark.parametrize(
    "footer",
    [
        "Sources: [1], [2]",
        "## References\n\n1. The light\n2. The boat",
        "Sources:\n- The boat",
        "[^2]: See there.",
    ],
)
def test_a_list_of_sources_changes_nothing_in_an_answer_with_citations(footer: str) -> None:
    assert read(f"It is lit [1]. It left.\n\n{footer}") == [("It is lit.", ["1"]), ("It left.", [])]


def test_a_list_of_titles_below_another_heading_is_an_answer() -> None:
    reply = "He owns two [1].\n\n## His books\n\n- The light\n- The boat"
    assert [text for text, _ in read(reply)] == ["He owns two.", "His books", "The light", "The boat"]


def test_a_list_that_says_more_than_titles_is_an_answer() -> None:
    reply = "It is lit [1].\n\nSources:\n- The light was bought twice"
    assert read(reply)[-1][0] == "The light was bought twice"
