"""Measuring pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.evals.images import astronomy, slides, transcribed, word_recall


def test_word_recall_counts_each_word_as_often_as_it_stands() -> None:
    assert word_recall([("Make is make", "make IS")]) == (2 / 3, 3)
    assert word_recall([("a_b c", "a b"), ("d", "e d d")]) == (0.75, 4)
    assert word_recall([]) == (0.0, 0)


@pytest.mark.data
def test_captions_are_withheld_and_every_slide_is_told_apart(data_dir: Path, tmp_path: Path) -> None:
    folder, asked = astronomy(data_dir, tmp_path)
    text = "\n".join(p.read_text() for p in folder.glob("*.md"))
    assert len(asked) == 116 and not [a.gold for a in asked if a.query in text]
    assert text.count("](<.images/") == 116
    pictures, questions = slides(data_dir, tmp_path)
    names = {p.stem for p in pictures.iterdir()}
    assert len(names) == 327 and {q.gold for q in questions} <= names and len(transcribed()) == 24
