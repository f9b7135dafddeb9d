"""Places that lay nearest to a question that was not answered."""

from __future__ import annotations

from typing import Any

from ragweave.components.evidence import Citation
from ragweave.nodes.answer import Answer
from ragweave.serve.nearest import nearest

LOCATOR: Any = {"kind": "page", "file": "a.md"}


def told(cited: int) -> list[dict[str, Any]]:
    """Return what lies nearest beside so many places that are quoted, of five that were found."""
    citations = [
        Citation(n=n, id=f"c{n}", title=f"Cited {n}", quote="", locator=LOCATOR, origin="library")
        for n in range(1, cited + 1)
    ]
    answer = Answer(text="", question="When was the mill built?", citations=citations)
    rows: list[Any] = [
        {"id": f"e{n}", "title": f"Found {n}", "text": "Mills grind.", "locator": LOCATOR, "corpus": "paragraph",
         "relevance": -n / 10}
        for n in range(5)
    ]  # fmt: skip
    return nearest(answer, rows)


def test_three_places_are_named_the_nearest_first_those_that_are_quoted_among_them() -> None:
    assert [row["id"] for row in told(0)] == ["e0", "e1", "e2"]
    assert [row["id"] for row in told(2)] == ["e0"]


def test_an_answer_that_quotes_more_places_than_are_named_has_no_further_ones() -> None:
    assert told(3) == [] and told(4) == []
