"""Question files of public sets, read as they are published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragweave.components.answer import Answer
from ragweave.components.evidence import Sentence
from ragweave.evals.answers import AnswerVerdict, read_questions, write_answers
from ragweave.models.errors import InputError


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    return path


def test_video_mme_and_lvbench_rows_are_multiple_choice(tmp_path: Path) -> None:
    mme = {
        "question_id": "601-1",
        "question": "What is shown?",
        "options": ["A. A cat.", "B. A dog."],
        "answer": "B",
    }
    (q,) = read_questions(lines(tmp_path / "mme.jsonl", {**mme, "task_type": "Recognition"}))
    assert (q.id, q.letter, q.kind, q.scored) == ("601-1", "B", "Recognition", True)
    assert q.text == "What is shown?\nA. A cat.\nB. A dog."
    qa = [
        {
            "uid": 7,
            "question": "Who wins?\n(A) Red\n(B) Blue\n(C) Nobody",
            "answer": "C",
            "time_reference": "00:10",
        }
    ]
    (q,) = read_questions(lines(tmp_path / "lv.jsonl", {"key": "abc", "type": "sport", "qa": qa}))
    assert (q.id, q.letter, q.kind) == ("7", "C", "sport")


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("B. A dog.", "correct"),
        ("(b)", "correct"),
        ("The answer is B", "correct"),
        ("A. A cat.", "wrong"),
        ("", "abstained"),
    ],
)
def test_a_multiple_choice_is_scored_by_its_letter(tmp_path: Path, said: str, verdict: str) -> None:
    row = {"id": "1", "question": "What?", "options": ["A cat.", "A dog."], "answer": "b"}
    (q,) = read_questions(lines(tmp_path / "q.jsonl", row))
    sentences = (Sentence(text=said, support="verified"),) if said else ()
    assert (
        AnswerVerdict(q, Answer(text=said, sentences=sentences, abstained=not said), 0.1).verdict == verdict
    )


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"question_id": "1", "question": "What?", "options": ["x", "y"]}, "no multiple choice"),
        (
            {"question_id": "1", "question": "What?", "options": ["x", "y"], "answer": "D"},
            "not the letter of one",
        ),
        ({"question_id": "1", "question": "What?", "options": ["x"], "answer": "A"}, "no options"),
        ({"qa": ["x"]}, "no multiple choice"),
        ({"question": "What?"}, "has no id"),
    ],
)
def test_a_row_that_does_not_fit_is_named(tmp_path: Path, row: Any, why: str) -> None:
    with pytest.raises(InputError, match=f"line 1 of q.jsonl .*{why}|line 1 of q.jsonl {why}"):
        read_questions(lines(tmp_path / "q.jsonl", row))


@pytest.mark.parametrize("text", ["[", "[]", '{"0": [{}]}', '{"0": 3}', '{"0": [{"questions": [{}]}]}'])
def test_a_file_of_collections_that_is_none_gets_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "d.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"d\.json"):
        read_questions(tmp_path / "d.json")


def test_answers_are_written_for_the_judge(tmp_path: Path) -> None:
    (q,) = read_questions(lines(tmp_path / "q.jsonl", {"id": "1", "question": "Why?", "answers": ["x"]}))
    write_answers(tmp_path / "o" / "a.jsonl", [AnswerVerdict(q, Answer(text="Because [1]"), 0.1)])
    (row,) = map(json.loads, (tmp_path / "o" / "a.jsonl").read_text().splitlines())
    assert row == {"id": "1", "question": "Why?", "answer": "Because [1]", "kind": "", "abstained": False}
