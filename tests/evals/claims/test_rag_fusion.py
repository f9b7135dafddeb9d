"""The hard questions of docs/papers.md are hard by rule, and each has its rewrites."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.evals.claims.common import read_rows
from ragweave.evals.claims.rag_fusion import QUESTIONS as NAME
from ragweave.evals.claims.rag_fusion import REWRITES
from ragweave.evals.sets import folder_of

QUESTIONS = read_rows(NAME)


@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row["id"])
def test_a_hard_question_lacks_the_decisive_word_of_the_passage_that_a_file_holds(
    row: dict[str, Any],
) -> None:
    file = folder_of(row["library"]) / "library" / row["file"]
    assert row["decisive"].casefold() not in row["question"].casefold()
    if file.suffix in (".md", ".txt", ".eml", ".log"):
        assert row["gold"] in " ".join(file.read_text(encoding="utf-8").split())
    assert file.is_file()


def test_every_hard_question_has_rewrites_and_a_third_are_in_another_language() -> None:
    kept = {row["question"]: row["queries"] for row in read_rows(REWRITES)}
    assert kept.keys() == {row["question"] for row in QUESTIONS} and set(map(len, kept.values())) == {4}
    assert sum(row["foreign"] for row in QUESTIONS) * 3 == len(QUESTIONS)
