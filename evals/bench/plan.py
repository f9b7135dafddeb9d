"""What a run of `ragweave bench` does: the sets and arms that are available, and how they are measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragweave.components.context import Context
from ragweave.corpora.web.providers import available
from ragweave.evals.bench import judged, show
from ragweave.evals.bench.forms import collections, read
from ragweave.evals.bench.run import BenchSet, ScoredSet, ask, context_of, prepared
from ragweave.evals.bench.show import Grid
from ragweave.evals.bench.tables import Arm, Paper, Table
from ragweave.evals.data import sample
from ragweave.evals.judge import Judged
from ragweave.evals.runner import Runner
from ragweave.models.chat import chat
from ragweave.models.errors import InputError
from ragweave.models.settings import model_settings

NEEDS = {
    "model": "chat model",
    "router": "trained router (RAGWEAVE_ROUTER)",
    "web": "web search (RAGWEAVE_WEB_SEARX_URL, RAGWEAVE_TAVILY_KEY or RAGWEAVE_WEB_FOLDER)",
}
"""What an arm may need, in words."""


@dataclass(frozen=True)
class TablePlan:
    """One table of a paper with the sets and arms that run.

    `knobs` are those that the caller set. `generates` is whether a chat model writes the answers; without one
    passages are quoted. `answers` is the folder with the answers of other systems, for the judge.
    """

    paper: Paper
    number: str
    table: Table
    sets: Sequence[BenchSet]
    arms: Mapping[str, Arm]
    mode: str
    knobs: Mapping[str, Any]
    generates: bool
    seed: int
    answers: Path | None
    judge_runs: int

    def context(self, arm: Arm, asked: BenchSet) -> Context:
        """Return the knobs of an arm over a set."""
        return context_of(arm, asked, self.mode, self.knobs)

    @property
    def extra_columns(self) -> list[str]:
        """Columns of sets that are not in the table, if the table takes its columns from its sets."""
        columns: list[str] = []
        for bench_set in self.sets:
            if bench_set.set not in self.table.sets and not self.table.columns:
                columns += bench_set.set.columns
        return columns


def available_sets(
    table: Table, paths: Mapping[str, Path], corpus: Path | None, limit: int, seed: int
) -> list[BenchSet]:
    """Read the sets, those of the table first, and draw `limit` questions from each."""
    definitions = []
    names = []
    for known in table.sets:
        names.append(known.name)
        if known.name in paths:
            definitions.append(known)
    for name in paths:
        if name not in names:
            definitions.append(table.other.model_copy(update={"name": name}))
    out: list[BenchSet] = []
    for definition in definitions:
        path = paths[definition.name]
        whole = read(definition.name, path, corpus)
        drawn = replace(whole, questions=sample(whole.questions, limit, seed))
        parts = collections(drawn, path) if definition.apart else [drawn]
        for part in parts:
            out.append(BenchSet(definition, part))
    return out


def set_paths(table: Table, data: Path | None, given: Sequence[str]) -> dict[str, Path]:
    """Return the path of each set that exists: those given as SET=PATH, then those in the data folder.

    Raises:
        InputError: a pair has another form, or no set exists.
    """
    paths: dict[str, Path] = {}
    for pair in given:
        name, equals, path = pair.partition("=")
        if not equals:
            raise InputError(
                f"`--from {pair}` is not of the form SET=PATH", "write, say, --from hotpotqa=DIR"
            )
        paths[name] = Path(path)
    if data is not None:
        for known in table.sets:
            path_here = _in_folder(data, known.name)
            if path_here is not None:
                paths.setdefault(known.name, path_here)
    if not paths:
        raise InputError("no set of the table is here", f"give --data, or --from {table.sets[0].name}=PATH")
    return paths


def _in_folder(data: Path, name: str) -> Path | None:
    """Return the folder or file of a set in the data folder."""
    for ending in ("", ".jsonl", ".json", ".tsv", ".csv"):
        path = data / f"{name}{ending}"
        if path.exists():
            return path
    return None


def available_arms(
    paper: Paper, table: Table, only: str, generates: bool
) -> tuple[dict[str, Arm], dict[str, str]]:
    """Return the arms that can run, and what each of the others lacks.

    `only` has names of arms, separated by semicolons; an empty one chooses all. `generates` is whether a chat
    model writes the answers.

    Raises:
        InputError: the table has no arm of a name.
    """
    wanted = []
    for part in only.split(";"):
        name = part.strip()
        if name and name not in table.arms:
            raise InputError(f"the table has no arm “{name}”", f"use one of: {'; '.join(table.arms)}")
        if name:
            wanted.append(name)
    if not wanted:
        wanted = list(table.arms)
    met = {"": True, "model": generates, "router": bool(model_settings().router), "web": bool(available())}
    arms: dict[str, Arm] = {}
    lacking: dict[str, str] = {}
    for name in wanted:
        need = paper.arms[name].needs
        if met[need]:
            arms[name] = paper.arms[name]
        else:
            lacking[name] = NEEDS[need]
    return arms, lacking


async def measured(
    plan: TablePlan, runner: Runner, work: Path
) -> tuple[dict[str, list[ScoredSet]], list[Grid]]:
    """Run every arm over every set; if the table has a judge, also return its tables."""
    sets = await prepared(plan.paper, plan.sets, work)
    found: dict[str, list[ScoredSet]] = {}
    for name, arm in plan.arms.items():
        found[name] = []
        for bench_set in sets:
            found[name] += await ask(name, arm, bench_set, runner, plan.mode, plan.knobs, plan.seed)
    if not plan.table.judge:
        return found, []
    verdicts: Mapping[str, Sequence[Judged]] = {}
    model = chat("judge")
    if model is not None and can_judge(plan):
        cases = judged.pairs(plan.table, found, plan.answers)
        verdicts = await judged.verdicts(plan.table, cases, model, plan.judge_runs, runner)
    grids = judged.grids(plan.paper, plan.number, plan.table, verdicts)
    return found, [*grids, show.side_grid(found)]


def can_judge(plan: TablePlan) -> bool:
    """Return whether a chat model judges the answers of this run."""
    return plan.mode != "extractive" and chat("judge") is not None and judged.OURS in plan.arms
