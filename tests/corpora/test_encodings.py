"""The encoding of bytes that do not state it, by the letters they make; a golden row has an encoding and a text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragweave.corpora.decode import decode

ROWS = (Path(__file__).parent / "golden" / "encodings.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("times", [1, 12])
@pytest.mark.parametrize("row", ROWS)
def test_a_text_is_read_as_its_letters_say(row: str, times: int) -> None:
    encoding, _, text = row.partition(" ")
    whole = "\n".join([json.loads(text)] * times)
    assert decode(whole.encode(encoding), Path("a.txt")) == whole


def test_one_long_line_is_told_in_bounded_work() -> None:
    text = "word " * 400_000 + "Bürogebäude " * 400_000
    assert decode(text.encode("cp1252"), Path("a.txt")) == text
