"""Tables of a judge (VideoRAG, tables 2 and 3): answers against those of other systems, by kind of recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ragweave.evals.bench.run import ScoredSet
from ragweave.evals.bench.show import HERE, NONE, Grid
from ragweave.evals.bench.tables import Paper, Table
from ragweave.evals.judge import ASPECTS, Case, Judged, Protocol, judge
from ragweave.evals.runner import Runner
from ragweave.models.chat import Chat

BASELINE, OURS = "NaiveRAG", "VideoRAG"


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
    """Return what is judged: by system, its answers against the baseline's; with `pairs` ours against each of them."""
    said = {n: {r.outcome.question.id: r.outcome.answer.text for r in rows} for n, rows in runs.items()}
    if answers is not None:
        said |= {n: found for n, folder in table.answers.items() if (found := answers_of(answers, folder))}
    asked = [r.outcome.question for r in runs[OURS]]

    def cases(ours: str, theirs: str) -> list[Case]:
        both = [q for q in asked if q.id in said[ours] and q.id in said[theirs]]
        return [Case(q.id, q.text, said[ours][q.id], said[theirs][q.id], q.kind) for q in both]

    if table.judge == "pairs":
        return {n: cases(OURS, n) for n in said if n != OURS}
    return {n: cases(n, BASELINE) for n in said if n != BASELINE}


async def verdicts(
    table: Table, given: Mapping[str, Sequence[Case]], model: Chat, times: int, runner: Runner
) -> dict[str, list[Judged]]:
    """Let the judge speak on every case."""
    protocol: Protocol = "pairs" if table.judge == "pairs" else "scores"
    return {
        name: await judge(cases, model, protocol, runs=times, runner=runner, name=f"judge {name}")
        for name, cases in given.items()
    }


def grids(paper: Paper, number: str, table: Table, found: Mapping[str, Sequence[Judged]]) -> list[Grid]:
    """Return a table for each system, with a row of ours and a published one for each aspect."""
    out = []
    percent = 100 if table.judge == "pairs" else 1
    for system in dict.fromkeys([*found, *table.published]):
        rows: list[tuple[str, Sequence[str]]] = []
        block = table.published.get(system, {})
        for aspect in ASPECTS:
            if judged := found.get(system):
                rows.append((f"{aspect}, {HERE}", [_mean(judged, aspect, c, percent) for c in table.columns]))
            if aspect in block:
                rows.append((f"{aspect}, paper", [f"{v:.2f}" for v in block[aspect]]))
        against = f"over {system}" if table.judge == "pairs" else f"of {system} against {BASELINE}"
        out.append(Grid(f"{paper.title}, table {number}: {table.title}, {against}", table.columns, rows))
    return out


def _mean(judged: Sequence[Judged], aspect: str, column: str, percent: int) -> str:
    votes = [v for j in judged if column in ("all", j.case.kind) for v in j.marks.get(aspect, ())]
    return f"{percent * float(np.mean(votes)):.2f}" if votes else NONE
