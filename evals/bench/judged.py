"""Make the tables of a judge (VideoRAG, tables 2 and 3): answers against those of other systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ragweave.evals.answers import Question
from ragweave.evals.bench.run import ScoredSet
from ragweave.evals.bench.show import HERE, NONE, Grid
from ragweave.evals.bench.tables import Paper, Table
from ragweave.evals.judge import ASPECTS, Case, Judged, Protocol, judge
from ragweave.evals.runner import Runner
from ragweave.models.chat import Chat

BASELINE, OURS = "NaiveRAG", "VideoRAG"
Answers = Mapping[str, str]
"""Answers of a system by the id of their question."""


def answers_of(folder: Path, system: str) -> dict[str, str]:
    """Return the answers of another system, as LongerVideos publishes them, by the id of their question.

    They lie in `<collection>-<name>/answers-<system>/answer_<question>.md`.
    """
    out = {}
    for path in sorted(folder.glob(f"*/answers-{system}/answer_*.md")):
        collection = path.parent.parent.name.partition("-")[0]
        out[f"{collection}-{path.stem.removeprefix('answer_')}"] = path.read_text(encoding="utf-8")
    return out


def pairs(
    table: Table, runs: Mapping[str, Sequence[ScoredSet]], answers: Path | None
) -> dict[str, list[Case]]:
    """Return the cases by system: its answers against the baseline, or with `pairs` ours against its own."""
    said: dict[str, dict[str, str]] = {}
    for name, rows in runs.items():
        said[name] = {}
        for row in rows:
            said[name][row.outcome.question.id] = row.outcome.answer.text
    if answers is not None:
        for name, folder in table.answers.items():
            found = answers_of(answers, folder)
            if found:
                said[name] = found
    questions = [row.outcome.question for row in runs[OURS]]
    out = {}
    for name, answers_of_system in said.items():
        if table.judge == "pairs" and name != OURS:
            out[name] = _cases(questions, said[OURS], answers_of_system)
        if table.judge != "pairs" and name != BASELINE:
            out[name] = _cases(questions, answers_of_system, said[BASELINE])
    return out


def _cases(questions: Sequence[Question], first: Answers, second: Answers) -> list[Case]:
    """Return a case for each question that both systems answer."""
    out = []
    for q in questions:
        if q.id in first and q.id in second:
            out.append(Case(q.id, q.text, first[q.id], second[q.id], q.kind))
    return out


async def verdicts(
    table: Table, given: Mapping[str, Sequence[Case]], model: Chat, times: int, runner: Runner
) -> dict[str, list[Judged]]:
    """Let the judge compare the answers of every case."""
    protocol: Protocol = "pairs" if table.judge == "pairs" else "scores"
    out = {}
    for name, cases in given.items():
        out[name] = await judge(cases, model, protocol, runs=times, runner=runner, name=f"judge {name}")
    return out


def grids(paper: Paper, number: str, table: Table, found: Mapping[str, Sequence[Judged]]) -> list[Grid]:
    """Return a table for each system, with a measured and a published row for each aspect."""
    out = []
    percent = 100 if table.judge == "pairs" else 1
    for system in dict.fromkeys([*found, *table.published]):
        rows: list[tuple[str, Sequence[str]]] = []
        block = table.published.get(system, {})
        for aspect in ASPECTS:
            judged = found.get(system)
            if judged:
                means = [_mean(judged, aspect, column, percent) for column in table.columns]
                rows.append((f"{aspect}, {HERE}", means))
            if aspect in block:
                rows.append((f"{aspect}, paper", [f"{v:.2f}" for v in block[aspect]]))
        against = f"over {system}" if table.judge == "pairs" else f"of {system} against {BASELINE}"
        out.append(Grid(f"{paper.title}, table {number}: {table.title}, {against}", table.columns, rows))
    return out


def _mean(judged: Sequence[Judged], aspect: str, column: str, percent: int) -> str:
    votes: list[float] = []
    for case in judged:
        if column in ("all", case.case.kind):
            votes += case.marks.get(aspect, ())
    return f"{percent * float(np.mean(votes)):.2f}" if votes else NONE
