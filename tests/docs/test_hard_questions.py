"""The hard questions of docs/papers.md are hard by rule, and each has its rewrites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def rows_of(name: str) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in (BENCHMARKS / "hard" / name).read_text(encoding="utf-8").splitlines()
    ]


QUESTIONS = rows_of("questions.jsonl")


@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row["id"])
def test_a_hard_question_lacks_the_decisive_word_of_the_passage_that_a_file_holds(
    row: dict[str, Any],
) -> None:
    file = BENCHMARKS / row["library"] / "library" / row["file"]
    assert row["decisive"].casefold() not in row["question"].casefold()
    if file.suffix in (".md", ".txt", ".eml", ".log"):
        assert row["gold"] in " ".join(file.read_text(encoding="utf-8").split())
    assert file.is_file()


def test_every_hard_question_has_rewrites_and_a_third_are_in_another_language() -> None:
    kept = {row["question"]: row["queries"] for row in rows_of("rewrites.jsonl")}
    assert kept.keys() == {row["question"] for row in QUESTIONS} and set(map(len, kept.values())) == {4}
    assert sum(row["foreign"] for row in QUESTIONS) * 3 == len(QUESTIONS)
