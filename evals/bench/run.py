"""Run the arms of a table on each question once, and score their answers and their retrieval."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from ragweave.components import method
from ragweave.components.ask import Outcome
from ragweave.components.context import Context
from ragweave.components.indexing import at_indexing
from ragweave.components.route import Routed, labels
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import Library, open_library
from ragweave.corpora.types import CORPORA, Corpus, Label
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
    """A set of a table with the drawn questions and the library to search."""

    set: Set
    bundle: FormBundle
    library: str = ""

    def label(self, id: str) -> str:
        """Return the label that a question belongs to."""
        return self.bundle.labels.get(id, self.set.corpus)


@dataclass(frozen=True)
class ScoredSet:
    """The outcome of one arm on one question, and the ids of what it retrieved in the set, best first.

    `bert` is the BERTScore of the answer, if weights for it are named.
    """

    asked: BenchSet
    outcome: AnswerVerdict
    found: tuple[str, ...]
    bert: float | None = None


async def prepared(of: Paper, sets: Sequence[BenchSet], work: Path) -> list[BenchSet]:
    """Index the material: each set in its own library, or all sets of the table in one."""
    out = []
    name = await _library(sets, work) if of.together else ""
    for bench_set in sets:
        library = name or await _library([bench_set], work)
        out.append(replace(bench_set, library=library))
    return out


async def _library(sets: Sequence[BenchSet], work: Path) -> str:
    rows = []
    files: list[Path] = []
    for s in sets:
        kind = s.set.corpus if s.set.corpus in CORPORA else "paragraph"
        for row in s.bundle.rows:
            rows.append({"kind": kind, **row, "id": f"{s.set.name}/{row['id']}"})
        files += s.bundle.files
    files = list(dict.fromkeys(files))
    paths = "\n".join([str(file) for file in files])
    digest = hashlib.sha256(paths.encode()).hexdigest()[:10]
    name = f"recordings-{digest}"
    if rows:
        name = (await prepare(rows, work, digest if files else "")).name
    if files:
        await index(files, name, models=at_indexing())
    return name


def context_of(arm: Arm, asked: BenchSet, mode: str, more: Mapping[str, Any]) -> Context:
    """Return the knobs of an arm over a set; those that the caller sets take precedence."""
    preset = {"preset": arm.preset} if arm.preset else {}
    layers = [_changed(asked) if arm.preset else {}, arm.knobs, more]
    knobs: dict[str, Any] = {}
    method: dict[str, Any] = {"answer": _form_of(asked)}
    for layer in layers:
        knobs |= layer
        method |= layer.get("method", {})
    knobs["method"] = method
    if mode == "extractive":
        # A preset names the chat model if its paper had one. This mode has none, so the product chooses.
        named = Context(**preset, **knobs)
        for knob in ("route_by", "grade_by", "check_by"):
            if getattr(named, knob) == "llm":
                knobs[knob] = "auto"
    return Context(**preset, **knobs, library=asked.library or "default", mode=mode)


def _changed(asked: BenchSet) -> dict[str, Any]:
    """Return the knobs that the paper changed for a set; its thresholds only suit its own evaluator."""
    changed = dict(asked.set.paper)
    if not model_settings().evaluator:
        kept = dict(changed.get("method", {}))
        kept.pop("upper", None)
        kept.pop("lower", None)
        changed["method"] = kept
    return changed


def _form_of(asked: BenchSet) -> str:
    """Return the form in which a set scores answers: a letter if its questions state options."""
    for question in asked.bundle.questions:
        if question.letter:
            return "letter"
    if "em" in asked.set.metrics or "f1" in asked.set.metrics:
        return "words"
    return "sentences"


def graph_of(arm: Arm, context: Context) -> str:
    """Return the name of the graph that an arm runs."""
    return arm.graph or method.graph_of(context.preset)


async def ask(
    name: str, arm: Arm, asked: BenchSet, runner: Runner, mode: str, more: Mapping[str, Any], seed: int = SEED
) -> list[ScoredSet]:
    """Run one arm on all questions of a set."""
    context = context_of(arm, asked, mode, more)
    base: Callable[[], Builder] = import_module(GRAPHS[graph_of(arm, context)]).build
    library = await open_library(asked.library)
    labels_given = _labels(arm.route, asked, await library.counts(), seed)

    def build() -> Builder:
        if not arm.route:
            return base()
        return with_route(base(), CHOICES.get(arm.route) or _given(labels_given))

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
    keys = await _keys(library, outcomes, asked)
    scored = []
    for outcome in outcomes:
        found: list[str] = []
        for id in outcome.evidence:
            if id in keys and keys[id] not in found:
                found.append(keys[id])
        scored.append(ScoredSet(asked, outcome, tuple(found)))
    return scored


def _labels(route: str, asked: BenchSet, counts: Mapping[Corpus, int], seed: int) -> dict[str, str]:
    """Return the label that an arm gives each question, by its text."""
    corpora: list[str] = []
    for corpus in CORPORA:
        if counts.get(corpus):
            corpora.append(corpus)
    out = {}
    for question in asked.bundle.questions:
        out[question.text] = _label(route, asked, question.id, corpora, seed)
    return out


def _label(route: str, asked: BenchSet, id: str, corpora: Sequence[str], seed: int) -> str:
    """Return the label that an arm gives a question."""
    if route == "random":
        return random.Random(f"{seed} {id}").choice(["none", *corpora])
    own = asked.label(id)
    return own if route in ("oracle", "own") else route


def _given(given: Mapping[str, str]) -> Choose:
    """Return a router that looks the label of each question up."""

    async def choose(run: NodeRun, state: State, held: Sequence[Label]) -> Outcome[Routed]:
        label = given[str(state["messages"][-1].content)]
        return Outcome(Routed(labels([label]), {}, "given"), "bench")

    return choose


async def _keys(library: Library, outcomes: Sequence[AnswerVerdict], asked: BenchSet) -> dict[str, str]:
    """Return the name under which the set may list each retrieved item as gold: its id, or its file."""
    gold: set[str] = set()
    for question in asked.bundle.questions:
        gold.update(question.gold)
    ids: set[str] = set()
    for outcome in outcomes:
        ids.update(outcome.evidence)
    out: dict[str, str] = {}
    for id, item in (await library.items(sorted(ids))).items():
        key = str(item.meta.get("key") or "")
        file = Path(item.locator.get("file", ""))
        if key:
            out[id] = key.removeprefix(f"{asked.set.name}/")
        elif file.stem in gold:
            out[id] = file.stem
        else:
            out[id] = file.name
    return out


def mark(metric: str, row: ScoredSet) -> float | None:
    """Return one metric of one question, or None if it does not apply."""
    outcome, question = row.outcome, row.outcome.question
    kind, _, k = metric.partition("@")
    if kind in ("recall", "ndcg"):
        if not question.gold:
            return None
        score = recall_at if kind == "recall" else ndcg_at
        return score(row.found, question.gold, int(k))
    if metric == "router":
        return float(outcome.corpora == [row.asked.label(question.id)])
    if metric == "acc":
        has_answer = question.answers or question.letter
        return float(outcome.verdict == "correct") if has_answer else None
    if metric == "bert":
        return row.bert
    if metric in _WORDED and question.answers:
        text = "" if outcome.answer.abstained else outcome.shown
        return _WORDED[metric](text, question.answers)
    return None


_WORDED: Mapping[str, Callable[[str, Sequence[str]], float]] = {
    "em": exact_match,
    "f1": token_f1,
    "rouge_l": rouge_l,
}


def marks(rows: Sequence[ScoredSet], columns: Sequence[str]) -> dict[str, list[float]]:
    """Return the values of each column of a table.

    `average` has the first metric of each question's set. `router` has the accuracy of each class, because
    UniversalRAG prints the mean over its six classes.
    """
    out: dict[str, list[float]] = {}
    for column in columns:
        out[column] = []
    classes: dict[str, list[float]] = {}
    for row in rows:
        for column, metric in _metrics_of(row.asked.set).items():
            if column not in out:
                continue
            value = mark(metric, row)
            if value is None:
                continue
            if column == "router":
                classes.setdefault(row.asked.label(row.outcome.question.id), []).append(value)
            else:
                out[column].append(value)
    if classes:
        for values in classes.values():
            out["router"].append(sum(values) / len(values))
    return out


def _metrics_of(of: Set) -> dict[str, str]:
    """Return the metric of each column that a set adds to."""
    out = {}
    for metric in of.metrics:
        out[f"{of.name} {metric}"] = metric
    out["router"] = "router"
    if of.metrics:
        out["average"] = of.metrics[0]
    return out


SIDE = ("correct", "declined", "recall@1", "recall@5", "recall@10", "ndcg@10", "router")


def side(rows: Sequence[ScoredSet]) -> dict[str, float | None]:
    """Return what the papers do not print: correct and declined answers, retrieval at k, and costs."""
    out: dict[str, float | None] = {}
    for name in SIDE:
        values = _side_values(name, rows)
        out[name] = 100 * sum(values) / len(values) if values else None
    total = len(rows) or 1
    calls = tokens = 0
    seconds = 0.0
    for row in rows:
        calls += row.outcome.answer.model_calls
        tokens += row.outcome.answer.tokens
        seconds += row.outcome.seconds
    out["calls"] = calls / total
    out["tokens"] = tokens / total
    out["ms"] = 1000 * seconds / total
    return out


def _side_values(name: str, rows: Sequence[ScoredSet]) -> list[float]:
    """Return one figure of each question to which it applies."""
    values = []
    for row in rows:
        if name == "declined":
            value: float | None = float(row.outcome.answer.abstained)
        elif name == "router" and not row.outcome.corpora:
            value = None
        else:
            value = mark("acc" if name == "correct" else name, row)
        if value is not None:
            values.append(value)
    return values
