"""Sets as they are published are read as rows of one form: question, answers, gold, and what is searched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.evals.bench.forms import FormBundle, read
from ragweave.evals.bench.options import options_of
from ragweave.models.errors import InputError


def lines(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    return path


def whole(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def first(bundle: FormBundle) -> tuple[str, tuple[str, ...], tuple[str, ...], str]:
    q = bundle.questions[0]
    return q.text, q.answers, q.gold, q.letter


def searched(bundle: FormBundle) -> dict[str, str]:
    return {r["id"]: r["text"] for r in bundle.rows}


def test_squad(tmp_path: Path) -> None:
    qa = {
        "id": "1",
        "question": "Who built it?",
        "answers": [{"text": "Ada", "answer_start": 0}, {"text": "Ada"}],
    }
    data = {"data": [{"title": "Mill", "paragraphs": [{"context": "Ada built it.", "qas": [qa]}]}]}
    found = read("squad", whole(tmp_path / "dev.json", data))
    assert first(found) == ("Who built it?", ("Ada",), ("Mill#0",), "")
    assert searched(found) == {"Mill#0": "Ada built it."}


def test_hotpotqa_and_2wiki(tmp_path: Path) -> None:
    row = {
        "_id": "a", "question": "Which is older?", "answer": "Rook", "supporting_facts": [["Rook", 0], ["Daw", 1]],
        "context": [["Rook", ["Built 1801.", " Red."]], ["Daw", ["Blue.", "Built 1900."]], ["Kite", ["Green."]]],
    }  # fmt: skip
    found = read("hotpotqa", whole(tmp_path / "h.json", [row]))
    assert first(found) == ("Which is older?", ("Rook",), ("Rook", "Daw"), "")
    assert searched(found)["Rook"] == "Built 1801. Red." and len(found.rows) == 3


def test_natural_questions_of_dpr_and_its_table(tmp_path: Path) -> None:
    passage = {"title": "Oak", "text": "An oak lives long.", "passage_id": "7"}
    row = {"question": "how old", "answers": ["long"], "positive_ctxs": [passage], "hard_negative_ctxs": [
        {"title": "Elm", "text": "Elm.", "passage_id": "8"}]}  # fmt: skip
    found = read("nq", whole(tmp_path / "nq.json", [row]))
    assert first(found) == ("how old", ("long",), ("7",), "") and {*searched(found)} == {"7", "8"}
    (tmp_path / "nq.csv").write_text("who wrote it\t['Ada', \"Ada's aunt\"]\n", encoding="utf-8")
    assert first(read("nq", tmp_path / "nq.csv"))[:2] == ("who wrote it", ("Ada", "Ada's aunt"))


def test_arc_in_both_forms_and_choices_of_flashrag(tmp_path: Path) -> None:
    options = [{"label": "1", "text": "ice"}, {"label": "2", "text": "sand"}]
    own = {"id": "a", "question": {"stem": "What melts?", "choices": options}, "answerKey": "1"}
    flat = {
        "id": "b",
        "question": "What melts?",
        "choices": {"label": ["A", "B"], "text": ["sand", "ice"]},
        "answerKey": "B",
    }
    flash = {"id": "c", "question": "What melts?", "choices": ["sand", "ice"], "golden_answers": [1]}
    found = read("arc", lines(tmp_path / "arc.jsonl", own, flat, flash))
    assert [q.letter for q in found.questions] == ["A", "B", "B"]
    assert found.questions[0].text == "What melts?\nA. ice\nB. sand"


def test_a_folder_of_beir_asks_what_is_judged_alone(tmp_path: Path) -> None:
    lines(tmp_path / "corpus.jsonl", {"_id": "d1", "title": "Tea", "text": "Tea helps."})
    lines(
        tmp_path / "queries.jsonl", {"_id": "q1", "text": "does tea help"}, {"_id": "q2", "text": "unjudged"}
    )
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq2\td1\t0\n", encoding="utf-8"
    )
    found = read("nfcorpus", tmp_path)
    assert [(q.text, q.gold) for q in found.questions] == [("does tea help", ("d1",))]
    assert searched(found) == {"d1": "Tea helps."}


def test_queries_of_universalrag_with_the_texts_that_they_name(tmp_path: Path) -> None:
    (tmp_path / "dataset/hotpotqa/text").mkdir(parents=True)
    (tmp_path / "dataset/query").mkdir()
    (tmp_path / "dataset/hotpotqa/text/1.txt").write_text("Rook\nA ship.", encoding="utf-8")
    (tmp_path / "dataset/hotpotqa/text/2.txt").write_text("Daw\nA bird.", encoding="utf-8")
    row = {"index": "h_1", "question": "What is Rook?", "answer": "ship", "source": "hotpotqa",
           "gt_texts": ["dataset/hotpotqa/text/1.txt"], "gt_retrieval": "document"}  # fmt: skip
    seen = {
        "index": "l_1",
        "question": "What?\n(A) a\n(B) b",
        "answer": "B",
        "gt_retrieval": "clip",
        "gt_videos": [],
    }
    known = {"index": "m_1", "question": "What is 2Z?\n(A) a\n(B) b", "answer": "A", "gt_retrieval": "no"}
    found = read("hotpotqa", whole(tmp_path / "dataset/query/hotpotqa.json", [row, seen, known]))
    assert first(found) == ("What is Rook?", ("ship",), ("1.txt",), "")
    assert found.labels == {"h_1": "document", "l_1": "clip", "m_1": "none"} and {*searched(found)} == {
        "1.txt",
        "2.txt",
    }
    assert found.questions[1].letter == "B"


def test_what_is_of_no_known_form_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"row 1 of x\.jsonl has no question"):
        read("x", lines(tmp_path / "x.jsonl", {"id": "1", "answers": ["a"]}))
    with pytest.raises(InputError, match="is not there"):
        read("x", tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no one file of questions"):
        read("x", tmp_path / "empty")


@pytest.mark.parametrize(
    ("question", "stem", "options"),
    [
        ("Which is it?\nA. red\nB. blue\nC. green", "Which is it?", ("red", "blue", "green")),
        ("Which is it? (A) red (B) dark blue", "Which is it?", ("red", "dark blue")),
        ("Which is it? A) red B) blue", "Which is it?", ("red", "blue")),
        ("Which?\nA: 3.5 m\nB: 4.5 m", "Which?", ("3.5 m", "4.5 m")),
        ("Is plan A: cheaper than plan B?", "Is plan A: cheaper than plan B?", ()),
        ("Is plan A. better?\nA. yes\nB. no", "Is plan A. better?", ("yes", "no")),
        ("Which? A) red B) red", "Which? A) red B) red", ()),
        ("Which? A) red C) blue", "Which? A) red C) blue", ()),
        ("A) red B) blue", "A) red B) blue", ()),
        ("Who was J. S. Bach? And C. P. E.?", "Who was J. S. Bach? And C. P. E.?", ()),
        ("", "", ()),
    ],
)
def test_options_are_found_where_they_are_stated(question: str, stem: str, options: tuple[str, ...]) -> None:
    assert options_of(question) == (stem, options)


@given(st.text(max_size=200))
def test_any_text_is_either_whole_or_cut_into_two_options_or_more(text: str) -> None:
    stem, options = options_of(text)
    assert (stem == text and not options) or (len(options) >= 2 and stem and all(options))
