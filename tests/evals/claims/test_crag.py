"""How the library of CRAG's claim gets worse, and what stands in for the web."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from ragweave.evals.claims import crag
from ragweave.evals.claims.played import ClaimRecord

QUESTIONS = ClaimRecord.read(crag.NAME).of("question")


def golds(step: int) -> set[str]:
    held = {passage["text"] for passage in crag.passages(QUESTIONS, step)}
    return {row["id"] for row in QUESTIONS if row["gold"]["text"] in held}


def test_a_passage_that_is_removed_stays_removed_and_a_near_miss_takes_its_place() -> None:
    steps = [golds(step) for step in crag.STEPS]
    assert [len(held) for held in steps] == [20, 15, 10, 5, 0]
    assert all(later < earlier for earlier, later in pairwise(steps))
    assert {len(crag.passages(QUESTIONS, step)) for step in crag.STEPS} == {60}


def test_only_the_passage_that_answers_holds_the_short_answer_in_the_library() -> None:
    from ragweave.evals.metrics import says

    for row in QUESTIONS:
        assert says(row["gold"]["text"], row["answers"])
        assert not any(says(near["text"], row["answers"]) for near in [*row["near"], row["instead"]])


def test_three_quarters_of_the_questions_have_a_page_that_answers(tmp_path: Path) -> None:
    folder = crag.write_pages(QUESTIONS, tmp_path / "web")
    assert len(list(folder.glob("*-page.html"))) == 15 and len(list(folder.glob("*-other.html"))) == 20
