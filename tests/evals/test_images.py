"""Measuring pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.corpora.types import Item
from ragweave.evals.images import (
    around,
    astronomy,
    slides,
    transcribed,
    without,
    word_recall,
)


def test_word_recall_counts_each_word_as_often_as_it_stands() -> None:
    assert word_recall([("Make is make", "make IS")]) == (2 / 3, 3)
    assert word_recall([("a_b c", "a b"), ("d", "e d d")]) == (0.75, 4)
    assert word_recall([]) == (0.0, 0)


def test_a_text_source_is_taken_away_alone() -> None:
    item = Item("i", "image", "s", "T", "", {"kind": "image"}, ("H",), meta={"name": "n", "own": "o"})
    parts = {"alt": "a", "words": "w"}
    assert without("alt")(item, parts) == (item, {"words": "w"})
    bare = without("name", "heading")(item, parts)[0]
    assert (bare.title, bare.heading, bare.meta["name"]) == ("", (), "")


def test_what_was_said_beside_a_slide_stays_within_its_lecture() -> None:
    said = {"aaaaaa-1": "one", "aaaaaa-2": "two", "bbbbbb-1": "three"}
    item = Item("i", "image", "s", "", "", {"kind": "image"}, meta={"own": "aaaaaa-2"})
    assert around(said, own=False)(item, {})[1] == {"around": "one"}
    assert around(said, own=True)(item, {})[1] == {"around": "one\n\ntwo"}


@pytest.mark.data
def test_captions_are_withheld_and_every_slide_is_told_apart(data_dir: Path, tmp_path: Path) -> None:
    folder, asked = astronomy(data_dir, tmp_path)
    text = "\n".join(p.read_text() for p in folder.glob("*.md"))
    assert len(asked) == 116 and not [a.gold for a in asked if a.query in text]
    assert text.count("](<.images/") == 116
    _, questions, said = slides(data_dir, tmp_path)
    assert len(said) == 327 and {q.gold for q in questions} <= set(said) and len(transcribed()) == 24
