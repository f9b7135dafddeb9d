from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragweave.components.answer import Answer, Kind
from ragweave.components.context import Context
from ragweave.components.evidence import Sentence
from ragweave.evals.answers import AnswerVerdict, Question, ask_all, read_questions
from ragweave.graphs.agent import build
from ragweave.models.errors import InputError
from ragweave.tests.support.library import build_library


def outcome(text: str, *, cited: list[str] | None = None, **question: Any) -> AnswerVerdict:
    asked = Question(**{"id": "q", "text": "?", "answers": ("1931",), **question})
    sentences = (Sentence(text=text, support="verified"),) if text else ()
    kind: Kind = "answer" if text else "nothing"
    return AnswerVerdict(asked, Answer(sentences=sentences, abstained=not text, kind=kind), 0.1, cited or [])


def quotes(*texts: str, **question: Any) -> AnswerVerdict:
    asked = Question(**{"id": "q", "text": "?", "answers": ("1931",), **question})
    sentences = tuple(Sentence(text=text, support="quoted", sign=">") for text in texts)
    return AnswerVerdict(asked, Answer(sentences=sentences, kind="quotes"), 0.1)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (outcome("It opened in 1931."), "correct"),
        (outcome("It opened in 1804."), "wrong"),
        (outcome(""), "abstained"),
        (outcome("It opened in 1931.", answerable=False), "wrong"),
        (outcome("", answerable=False), "abstained"),
        (outcome("It opened in 1931, not in 1804.", must_not_contain=("1804",)), "wrong"),
        (outcome("Ouvert en L’ÉTÉ.", answers=("l’été",)), "correct"),
        (quotes("It was closed in 1804.", "It opened in 1931."), "correct"),
        (quotes("It was closed in 1804.", "Nobody went."), "quoted"),
        (quotes("It opened in 1931.", answerable=False), "quoted"),
    ],
)
def test_verdict_of_one_answer(found: AnswerVerdict, verdict: str) -> None:
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([{"id": "1"}], "has no question"),
        ([{"id": "1", "question": "a"}, {"id": "1", "question": "b"}], "two questions with the id 1"),
        ([{"id": "1", "question": "a", "previous": "9"}], "does not come before it"),
    ],
)
def test_unusable_question_file_gets_a_sentence(tmp_path: Path, rows: list[Any], sentence: str) -> None:
    path = tmp_path / "qa.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    with pytest.raises(InputError, match=sentence):
        read_questions(path)


async def test_follow_up_is_asked_in_the_thread_of_its_turn(tmp_path: Path) -> None:
    text = "# Corvane Observatory\n\nThe Corvane Observatory was opened in 1931. It stands at 2,310 metres.\n"
    await build_library(tmp_path / "texts", {"corvane.md": text})
    rows = [
        Question("1", "When was the Corvane Observatory opened?", ("1931",), gold=("corvane.md",)),
        Question("2", "And how high does it stand?", ("2,310",), previous="1"),
    ]
    found = await ask_all(build, rows, Context())
    assert [o.verdict for o in found] == ["correct", "correct"]
    assert found[0].cited == ["corvane.md"]
