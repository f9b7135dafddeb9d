"""Tests of the kind of thing that a question asks for."""

from __future__ import annotations

import pytest

from ragweave.components.local.kinds import kinds_of, share_of
from ragweave.corpora.types import Item

ROWS = "Stop | Fare\nPell | 4\nTarn | 7\nHolme | 9"


def item(text: str = "The ferry sails at nine.", corpus: str = "paragraph", file: str = "notes.md") -> Item:
    return Item("1", corpus, "s", "Notes", text, {"kind": "file", "file": file})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "kind", "own", "other"),
    [
        ("Which picture shows the bay at low tide?", "picture", item(corpus="image"), item()),
        ("Which table lists the fares?", "table", item(ROWS), item()),
        ("What does the slide about fares say?", "slide", item(file="talk.pptx"), item()),
    ],
)
def test_a_question_asks_for_a_kind_and_things_of_that_kind_have_a_share(
    question: str, kind: str, own: Item, other: Item
) -> None:
    kinds = kinds_of(question)
    assert kinds[kind] > 0.5  # type: ignore[index]
    assert share_of(own, kinds) > 0.5
    assert share_of(other, kinds) == 0.0


def test_a_question_for_a_fact_asks_for_no_kind() -> None:
    assert kinds_of("When was the ferry across the Pell built?") == {}
    assert share_of(item(ROWS), {}) == 0.0
