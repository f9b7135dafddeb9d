"""A run that was stopped or killed goes on where it was, whatever is measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ragweave.app import cli
from ragweave.components.answer import Answer, Kind
from ragweave.components.context import Context
from ragweave.components.evidence import Sentence
from ragweave.evals.answers import AnswerVerdict, Question, ask_all, read_questions
from ragweave.evals.runner import Ledger, Runner
from ragweave.graphs.agent import build
from ragweave.models.errors import InputError
from ragweave.tests.support.library import build_library

UNITS = {str(n): n for n in range(6)}


async def test_rows_of_another_setting_or_another_program_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def asked() -> int:
        before = len(seen)
        await Runner(tmp_path).each("x", UNITS, counted, {})
        return len(seen) - before

    async def counted(n: int) -> dict[str, Any]:
        seen.append(n)
        return {}

    seen: list[int] = []
    assert [await asked(), await asked()] == [6, 0]
    monkeypatch.setenv("RAGWEAVE_RERANK", "hf:other")
    assert await asked() == 6
    monkeypatch.setattr("ragweave.evals.runner.code", lambda: "another program")
    assert await asked() == 6


KILLED = """
import asyncio, os, sys
from pathlib import Path
from ragweave.evals.runner import Runner

async def do(n):
    if n == int(sys.argv[2]):
        os.kill(os.getpid(), 9)
    print(n, flush=True)
    return {"n": n}

asyncio.run(Runner(Path(sys.argv[1])).each("x", {str(n): n for n in range(6)}, do, {}))
"""


def test_a_killed_process_costs_the_unit_in_flight(tmp_path: Path) -> None:
    def started(dies_at: int) -> str:
        words = [sys.executable, "-c", KILLED, str(tmp_path), str(dies_at)]
        return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False).stdout

    assert started(3).split() == ["0", "1", "2"]
    assert started(9).split() == ["3", "4", "5"]


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    return str(path)


PASSAGES = [{"id": "a", "title": "Pump", "text": "The pump stands in the cellar."}]
PASSAGES += [{"id": "b", "title": "Rye", "text": "Rye is milled in autumn."}]


def router(folder: Path) -> list[str]:
    rows = [
        {"query": q, "label": "image"}
        for q in ("What colour is the car in the photo?", "And the bus?", "A map?")
    ]
    return ["router", "--data", written(folder / "d.jsonl", rows)]


def retrieval(folder: Path) -> list[str]:
    asked = [
        {"id": str(n), "question": q, "gold": ["a"]}
        for n, q in enumerate(("Where is the pump?", "Pump?", "Rye?"))
    ]
    corpus = written(folder / "c.jsonl", PASSAGES)
    return [
        "retrieval",
        "--corpus",
        corpus,
        "--queries",
        written(folder / "q.jsonl", asked),
        "--method",
        "hybrid",
    ]


def evaluator(folder: Path) -> list[str]:
    rows = [
        {"qid": str(n), "question": q, "passage": p["text"], "label": int(p["id"] == "a")}
        for n, q in enumerate(("Where is the pump?", "Where does it stand?", "What is in the cellar?"))
        for p in PASSAGES
    ]
    return ["evaluator", "--pairs", written(folder / "p.jsonl", rows)]


def answers(folder: Path) -> list[str]:
    (folder / "files").mkdir()
    for p in PASSAGES:
        (folder / "files" / f"{p['id']}.md").write_text(p["text"], encoding="utf-8")
    asked = [
        {"id": str(n), "question": q, "answers": ["cellar"]}
        for n, q in enumerate(("Where?", "Pump?", "Rye?"))
    ]
    return ["answers", "--folder", str(folder / "files"), "--questions", written(folder / "q.jsonl", asked)]


@pytest.mark.parametrize("command", [router, retrieval, evaluator, answers])
def test_every_command_continues_after_an_interrupt(
    command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, done, stop_at = Ledger.add, [0], [2]

    def counted(self: Ledger, id: str, row: dict[str, Any]) -> None:
        if done[0] == stop_at[0]:
            raise KeyboardInterrupt
        done[0] += 1
        add(self, id, row)

    monkeypatch.setattr(Ledger, "add", counted)
    words = ["eval", *command(tmp_path), "--work", str(tmp_path / "w"), "--json", str(tmp_path / "r.json")]
    stopped = CliRunner().invoke(cli.app, words)
    assert stopped.exit_code == 130 and "same command again to continue" in stopped.output
    done[0], stop_at[0] = 0, 99
    finished = CliRunner().invoke(cli.app, words)
    assert finished.exit_code == 0, finished.output
    assert done[0] == 1, "two of three units were done already"
    assert json.loads((tmp_path / "r.json").read_text()) and not list((tmp_path / "w/runs").iterdir())


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
