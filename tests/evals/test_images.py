"""Measuring pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.evals.images import astronomy, slides, transcribed


@pytest.mark.data
def test_captions_are_withheld_and_every_slide_is_told_apart(data_dir: Path, tmp_path: Path) -> None:
    folder, asked = astronomy(data_dir, tmp_path)
    text = "\n".join(p.read_text() for p in folder.glob("*.md"))
    assert len(asked) == 116 and not [a.gold for a in asked if a.query in text]
    assert text.count("](<.images/") == 116
    pictures, questions = slides(data_dir, tmp_path)
    names = {p.stem for p in pictures.iterdir()}
    assert len(names) == 327 and {q.gold for q in questions} <= names and len(transcribed()) == 24
