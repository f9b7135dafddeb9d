"""The chains of Auto-RAG's claim."""

from __future__ import annotations

from ragweave.evals.claims import auto_rag
from ragweave.evals.claims.played import ClaimRecord
from ragweave.evals.metrics import says

RECORD = ClaimRecord.read(auto_rag.NAME)


def test_each_fact_stands_in_its_own_passage_and_no_question_names_the_answer() -> None:
    for chain in RECORD.of("chain"):
        for link in chain["links"]:
            assert says(link["text"], link["answers"]) and not says(link["question"], link["answers"])


def test_each_fact_names_what_the_next_one_is_about() -> None:
    for chain in RECORD.of("chain"):
        for before, after in zip(chain["links"], chain["links"][1:], strict=False):
            assert any(says(after["text"], [answer]) for answer in before["answers"])


def test_every_arm_has_an_outcome_for_every_question() -> None:
    table = auto_rag.by_hop(RECORD.of("outcome"))
    assert all(len(rows) == 8 for hops in table.values() for rows in hops.values())
