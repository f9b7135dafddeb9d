"""The chains of Auto-RAG's claim."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from ragweave.corpora.types import CORPORA, LABELS
from ragweave.evals.claims import auto_rag, crag
from ragweave.evals.claims import universal_rag as claimed
from ragweave.evals.claims import universal_rag_scores as scores
from ragweave.evals.claims.common import Given, read_rows, shortened
from ragweave.evals.claims.played import ClaimRecord
from ragweave.evals.claims.universal_library import paragraphs_of, source_of
from ragweave.evals.corpus import use_home
from ragweave.evals.metrics import says
from ragweave.models.errors import InputError
from ragweave.tests.evals.claims.page import block_of, without_line

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


LISTS = {
    "paragraph": [["p a#0", 0.9], ["p b#1", 0.4]],
    "document": [["d a", 0.7]],
    "image": [["OSC_1", 0.8]],
    "clip": [["talk 1-3", 0.3]],
    "video": [],
}


def test_one_space_takes_the_nearest_of_all_corpora() -> None:
    assert scores.nearest(LISTS, CORPORA) == ["p a#0", "OSC_1", "d a", "p b#1", "talk 1-3"]
    assert scores.nearest(LISTS, ["image"]) == ["OSC_1"] and scores.nearest(LISTS, ["none"]) == []


def test_without_granularity_a_label_opens_all_corpora_of_its_modality() -> None:
    assert scores.widened("clip") == ("clip", "video") and scores.widened("none") == ()


def test_an_item_of_the_right_source_counts_as_source_and_not_as_item() -> None:
    asked = [{"gold": ["d a"]}]
    assert scores.hits([["p a#0"]], asked, 1) == [0.0] and scores.sources([["p a#0"]], asked, 1) == [1.0]


@pytest.mark.parametrize(
    ("key", "source"),
    [
        ("p Rhine#2", "Rhine"),
        ("d Rhine", "Rhine"),
        ("talk 3-9", "talk"),
        ("slides/a/1.png", "slides/a/1.png"),
    ],
)
def test_the_source_of_an_item_is_what_it_is_a_part_of(key: str, source: str) -> None:
    assert source_of(key) == source


def test_paragraphs_leave_headings_and_short_blocks_out_and_keep_the_words_of_links() -> None:
    long = "word " * 60 + "[of](http://x)"
    assert paragraphs_of(f"# Title\n\nshort\n\n{long}\n\n| a | b |") == ["word " * 60 + "of"]


def test_the_gap_counts_modalities_among_the_first_items() -> None:
    found = scores.gap([{"corpus": c} for c in ("paragraph", "image", "clip")], [LISTS] * 3)
    assert found["pictures"] == {"text": 0.6, "pictures": 0.2, "recordings": 0.2}


def test_forty_questions_of_each_corpus_have_gold_items_neighbours_and_a_label() -> None:
    questions = read_rows("universal_rag_questions")
    rows = {row["id"]: row for row in read_rows("universal_rag_lists")[1:]}
    replies = {row["question"]: row["reply"] for row in read_rows("universal_rag_replies")}
    assert [sum(q["corpus"] == c for q in questions) for c in CORPORA] == [40] * 5
    assert {q["question"] for q in questions} == replies.keys() and {*replies.values()} <= {*LABELS}
    assert all(q["gold"] and {*rows[q["id"]]["lists"]} == {*CORPORA} for q in questions)


async def test_a_question_without_a_kept_label_is_named() -> None:
    model = claimed.Labelling(kept={})
    with pytest.raises(InputError, match="no label is kept for “Where\\?”"):
        await model.ainvoke([("human", "Where?")])


def test_the_page_shows_what_the_records_give(tmp_path: Path) -> None:
    report = asyncio.run(claimed.claim(Given(None, tmp_path)))
    assert not without_line(report.text, claimed.LEFT_OUT)
    assert block_of("universal-rag") == shortened(report.text, claimed.LEFT_OUT)
    report.draw(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_a_blind_reply_counts_as_the_same_if_its_best_verdict_is() -> None:
    kept = {
        "a": '{"verdicts": [{"n": 1, "verdict": "partly"}]}',
        "b": '{"verdicts": [{"n": 1, "verdict": "no"}]}',
    }
    again = '{"verdicts": [{"n": 1, "verdict": "irrelevant"}, {"n": 2, "verdict": "partly"}]}'
    rows = [{"row": "blind", "key": key, "text": again} for key in kept]
    record = ClaimRecord({"blind": rows, "question": QUESTIONS}, kept)
    text = crag.report(record, ClaimRecord.read(crag.NAME).of("outcome")).text
    assert (
        "2 of the evaluator's prompts were answered a second time, blind: the best verdict is the same in 1."
        in text
    )


async def test_a_second_readers_reply_takes_the_place_of_the_kept_one_in_the_runs_of_its_prompt(
    tmp_path: Path,
) -> None:
    use_home(tmp_path)
    every = await auto_rag.runs(RECORD, tmp_path)
    named = [row for row in RECORD.of("second") if row["runs"]]
    assert len(named) == 40
    row = next(row for row in named if row["runs"] == ["agent, no reasoning/2/novel"])
    for text, ends in ((row["text"], "0 end with another verdict"), ("At Oxford [1].", "1 end with another")):
        rows = {**RECORD.rows, "second": [{**row, "text": text}]}
        said = await auto_rag.again(ClaimRecord(rows, RECORD.kept), every)
        assert "1 prompts, one at a time, in 1 runs" in said and ends in said


def test_a_plain_search_has_as_many_documents_as_a_turn() -> None:
    for shown in auto_rag.DOCUMENTS:
        graph, knobs = auto_rag.ARMS[f"standard RAG, {shown}"]
        turn = auto_rag.ARMS[f"Auto-RAG, {shown} a turn"][1]["method"]["turn_passages"]
        assert graph == "plain" and knobs["top_k"] == turn == shown
