"""Asks the arms of a table, each question once, and scores what they said and what they found."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from ragweave.components import method
from ragweave.components.context import Context
from ragweave.components.indexing import at_indexing
from ragweave.components.route import Routed, labels
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import Library, open_library
from ragweave.corpora.types import CORPORA, Label
from ragweave.evals.answers import AnswerVerdict, ask_all
from ragweave.evals.bench.forms import FormBundle
from ragweave.evals.bench.tables import Arm, Paper, Set
from ragweave.evals.metrics import exact_match, ndcg_at, recall_at, rouge_l, token_f1
from ragweave.evals.mixed import prepare
from ragweave.evals.off import check_off
from ragweave.evals.routes import CHOICES, Choose, with_route
from ragweave.evals.runner import Runner
from ragweave.graphs.base import Builder
from ragweave.graphs.run import GRAPHS
from ragweave.models.settings import model_settings
from ragweave.nodes.run import NodeRun
from ragweave.nodes.state import State

SEED = 0


@dataclass(frozen=True)
class BenchSet:
    """A set of a table with its questions, drawn already, and the library that they are asked of."""

    set: Set
    bundle: FormBundle
    library: str = ""

    def label(self, id: str) -> str:
        """Return the label that a question belongs to."""
        return self.bundle.labels.get(id, self.set.corpus)


@dataclass(frozen=True)
class ScoredSet:
    """What one arm did with one question: the outcome, and what it found under the names of the set, best first."""

    asked: BenchSet
    outcome: AnswerVerdict
    found: tuple[str, ...]


async def prepared(of: Paper, sets: Sequence[BenchSet], work: Path) -> list[BenchSet]:
    """Index what is searched: each set by itself, or all sets of the table in one library."""
    if not of.together:
        return [replace(s, library=await _library([s], work)) for s in sets]
    name = await _library(sets, work)
    return [replace(s, library=name) for s in sets]


def _files(sets: Sequence[BenchSet]) -> list[Path]:
    return list(dict.fromkeys(p for s in sets for p in s.bundle.files))


async def _library(sets: Sequence[BenchSet], work: Path) -> str:
    rows = [
        {
            "kind": s.set.corpus if s.set.corpus in CORPORA else "paragraph",
            **row,
            "id": f"{s.set.name}/{row['id']}",
        }
        for s in sets
        for row in s.bundle.rows
    ]
    files = _files(sets)
    digest = hashlib.sha256("\n".join(map(str, files)).encode()).hexdigest()[:10]
    name = f"recordings-{digest}"
    if rows:
        name = (await prepare(rows, work, digest if files else "")).name
    if files:
        await index(files, name, models=at_indexing())
    return name


def context_of(arm: Arm, asked: BenchSet, mode: str, more: Mapping[str, Any]) -> Context:
    """Return the knobs of an arm over a set; what the caller sets wins."""
    preset = {"preset": arm.preset} if arm.preset else {}
    layers = [_changed(asked) if arm.preset else {}, arm.knobs, more]
    knobs: dict[str, Any] = {}
    method: dict[str, Any] = {"answer": _form_of(asked)}
    for layer in layers:
        knobs |= layer
        method |= layer.get("method", {})
    knobs["method"] = method
    if mode == "extractive":
        # A preset names the chat model where its paper had one; without any, the extractive mode stands in.
        named = Context(**preset, **knobs)
        knobs |= {k: "auto" for k in ("route_by", "grade_by", "check_by") if getattr(named, k) == "llm"}
    return Context(**preset, **knobs, library=asked.library or "default", mode=mode)


def _changed(asked: BenchSet) -> dict[str, Any]:
    """Return the knobs that the paper changed for a set; its thresholds belong to its own evaluator alone."""
    changed = dict(asked.set.paper)
    if not model_settings().evaluator:
        method = changed.get("method", {})
        changed["method"] = {k: v for k, v in method.items() if k not in ("upper", "lower")}
    return changed


def _form_of(asked: BenchSet) -> str:
    """Return the form in which a set scores answers: a letter if its questions state options."""
    if any(question.letter for question in asked.bundle.questions):
        return "letter"
    return "words" if {"em", "f1"} & {*asked.set.metrics} else "sentences"


def graph_of(arm: Arm, context: Context) -> str:
    """Return the name of the graph that an arm runs."""
    return arm.graph or method.graph_of(context.preset)


async def ask(
    name: str, arm: Arm, asked: BenchSet, runner: Runner, mode: str, more: Mapping[str, Any], seed: int = SEED
) -> list[ScoredSet]:
    """Ask one arm all questions of a set."""
    context = context_of(arm, asked, mode, more)
    base: Callable[[], Builder] = import_module(GRAPHS[graph_of(arm, context)]).build
    library = await open_library(asked.library)
    held = [c for c in CORPORA if (await library.counts()).get(c)]
    given = {q.text: _label(arm.route, asked, q.id, held, seed) for q in asked.bundle.questions}

    def build() -> Builder:
        if not arm.route:
            return base()
        return with_route(base(), CHOICES.get(arm.route) or _given(given))

    of = {"arm": arm.model_dump(), "set": asked.set.model_dump(), "seed": seed, "library": asked.library}
    outcomes = await ask_all(
        build,
        asked.bundle.questions,
        context,
        runner=runner,
        name=f"{name}, {asked.set.name}",
        of=of,
        off=check_off(arm.off),
    )
    gold = {g for q in asked.bundle.questions for g in q.gold}
    keys = await _keys(library, {i for o in outcomes for i in o.evidence}, asked.set.name, gold)
    found = [dict.fromkeys(keys[i] for i in o.evidence if i in keys) for o in outcomes]
    return [ScoredSet(asked, o, tuple(f)) for o, f in zip(outcomes, found, strict=True)]


def _label(route: str, asked: BenchSet, id: str, held: Sequence[str], seed: int) -> str:
    if route == "random":
        return random.Random(f"{seed} {id}").choice(["none", *held])
    own = asked.label(id)
    return own if route in ("oracle", "own") else route


def _given(given: Mapping[str, str]) -> Choose:
    """Return a choice of the label that is given for each question."""

    def choose(run: NodeRun, state: State, held: Sequence[Label]) -> Routed:
        return Routed(labels([given[str(state["messages"][-1].content)]]), {}, "given")

    return choose


async def _keys(library: Library, ids: set[str], name: str, gold: set[str]) -> dict[str, str]:
    """Return under which name of the set each item may be gold: its id in the list, or its file."""
    out: dict[str, str] = {}
    for id, item in (await library.items(sorted(ids))).items():
        key, file = str(item.meta.get("key") or ""), Path(item.locator.get("file", ""))
        out[id] = key.removeprefix(f"{name}/") if key else file.stem if file.stem in gold else file.name
    return out


def mark(metric: str, row: ScoredSet) -> float | None:
    """Return one metric of one question, None where it cannot be counted."""
    o, gold = row.outcome, row.outcome.question.gold
    said, answers = "" if o.answer.abstained else o.shown, o.question.answers
    if metric.startswith(("recall@", "ndcg@")):
        kind, _, k = metric.partition("@")
        return (recall_at if kind == "recall" else ndcg_at)(row.found, gold, int(k)) if gold else None
    if metric == "router":
        label = row.asked.label(o.question.id)
        return float(o.corpora == [label])
    if metric == "acc":
        return float(o.verdict == "correct") if answers or o.question.letter else None
    if metric in _WORDED and answers:
        return _WORDED[metric](said, answers)
    return None


_WORDED: Mapping[str, Callable[[str, Sequence[str]], float]] = {
    "em": exact_match,
    "f1": token_f1,
    "rouge_l": rouge_l,
}


def marks(rows: Sequence[ScoredSet], columns: Sequence[str]) -> dict[str, list[float]]:
    """Return the values of each column of a table.

    `average` is over the questions' first metric of their set; `router` has the share of each class that went
    where it belongs, because the accuracy that UniversalRAG prints is the mean over its six classes.
    """
    out: dict[str, list[float]] = {c: [] for c in columns}
    classes: dict[str, list[float]] = {}
    for row in rows:
        metrics = row.asked.set.metrics
        named = {f"{row.asked.set.name} {m}": m for m in metrics} | {"router": "router"}
        if metrics:
            named["average"] = metrics[0]
        for column, metric in named.items():
            if column in out and (value := mark(metric, row)) is not None:
                into = (
                    classes.setdefault(row.asked.label(row.outcome.question.id), [])
                    if column == "router"
                    else None
                )
                (out[column] if into is None else into).append(value)
    return out | ({"router": [sum(v) / len(v) for v in classes.values()]} if classes else {})


SIDE = ("correct", "declined", "recall@1", "recall@5", "recall@10", "ndcg@10", "router")


def side(rows: Sequence[ScoredSet]) -> dict[str, float | None]:
    """Return what the papers do not print: right and declined answers, retrieval at k, costs."""
    out: dict[str, float | None] = {}
    for name in SIDE:
        values = [v for r in rows if (v := mark("acc" if name == "correct" else name, r)) is not None]
        if name == "declined":
            values = [float(r.outcome.answer.abstained) for r in rows]
        if name == "router":
            values = [v for v, r in zip(values, rows, strict=True) if r.outcome.corpora]
        out[name] = 100 * sum(values) / len(values) if values else None
    total = len(rows) or 1
    out["calls"] = sum(r.outcome.answer.model_calls for r in rows) / total
    out["tokens"] = sum(r.outcome.answer.tokens for r in rows) / total
    out["ms"] = 1000 * sum(r.outcome.seconds for r in rows) / total
    return out
