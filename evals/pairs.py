"""Figures of any evaluator on labelled (question, passage) pairs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ragweave.evals.data import read_jsonl
from ragweave.evals.evaluator import calibration_error
from ragweave.evals.evaluator_data import idf_of
from ragweave.evals.metrics import auc, average_precision
from ragweave.models import relevance
from ragweave.models.errors import InputError
from ragweave.models.relevance import Passage, Scores

Scorer = Callable[[str, Sequence[Passage]], Awaitable[Scores]]
"""Scores the candidates of one question."""


@dataclass(frozen=True)
class Group:
    """The candidates of one question.

    Attributes:
        question: the question.
        passages: its candidates.
        labels: 1 where a candidate is relevant, 0 elsewhere.
    """

    question: str
    passages: tuple[Passage, ...]
    labels: tuple[int, ...]


def read_pairs(path: Path) -> list[Group]:
    """Read pairs and group them by question: `question, passage, label`; optional `qid, title`.

    Raises:
        InputError: a label is neither 0/1 nor -1/1, or only one label occurs.
    """
    rows: dict[str, list[tuple[str, Passage, int]]] = {}
    for row in read_jsonl(path, ["question", "passage", "label"]):
        if row["label"] not in (-1, 0, 1, True, False):
            raise InputError(f"a label of {path.name} is {row['label']!r}", "use 1 for relevant and 0 for not")
        passage = Passage(str(row.get("title", "")), str(row["passage"]))
        rows.setdefault(str(row.get("qid", row["question"])), []).append(
            (str(row["question"]), passage, int(row["label"] == 1))
        )
    groups = [Group(g[0][0], tuple(p for _, p, _ in g), tuple(n for *_, n in g)) for g in rows.values()]
    if len({n for g in groups for n in g.labels}) < 2:
        raise InputError(f"{path.name} has only one label", "give relevant and irrelevant pairs")
    return groups


def scorer(name: str) -> Callable[[Sequence[Group]], Scorer]:
    """Return the maker of an evaluator by name: `small`, `llm`, or `checkpoint:PATH`.

    Raises:
        InputError: there is no such evaluator.
    """
    kind, _, path = name.partition(":")
    if kind == "small":
        return _small
    if kind == "checkpoint" and path:
        return lambda groups: _checkpoint(path)
    if kind == "llm":
        return lambda groups: _llm()
    raise InputError(f"there is no evaluator “{name}”", "use small, llm, or checkpoint:PATH")


def _small(groups: Sequence[Group]) -> Scorer:
    idf = idf_of(list(dict.fromkeys(p for g in groups for p in g.passages)))

    return lambda question, passages: asyncio.to_thread(relevance.score, question, passages, idf)


def _checkpoint(path: str) -> Scorer:
    from ragweave.models.checkpoint import evaluator

    load = evaluator(path)

    async def score(question: str, passages: Sequence[Passage]) -> Scores:
        found = np.asarray(await asyncio.to_thread(load, question, passages), dtype=float)
        return Scores(found, np.clip(found, -1, 1))

    return score


def _llm() -> Scorer:
    from ragweave.models.chat import chat
    from ragweave.models.meter import Meter
    from ragweave.nodes.context import Context
    from ragweave.nodes.evaluators import by_model
    from ragweave.nodes.run import Run, Turn

    model = chat("judge")
    if model is None:
        raise InputError("no chat model is configured", "set RAGWEAVE_CHAT (see docs/writer.md)")
    run = Run("grade", Context(), Turn(Meter()), 1, lambda event: None)

    async def score(question: str, passages: Sequence[Passage]) -> Scores:
        async def undecided() -> list[float]:
            return [0.0] * len(passages)

        found = np.array(await by_model(model, run, question, passages, undecided) or await undecided())
        return Scores(found, found)

    return score


async def measure(groups: Sequence[Group], make: Callable[[Sequence[Group]], Scorer]) -> dict[str, float]:
    """Score every pair, the candidates of a question together.

    `auc` and `average_precision` are those of the order among candidates; `auc_floor` and `ece` those of the absolute
    relevance, read as the probability (floor + 1) / 2.
    """
    score = make(groups)
    labels = [n for g in groups for n in g.labels]
    # The first call loads weights; it is made once before the clock starts.
    await score(groups[0].question, groups[0].passages)
    started = time.perf_counter()
    found = [await score(g.question, g.passages) for g in groups]
    seconds = time.perf_counter() - started
    order = np.concatenate([s.order for s in found])
    floor = np.concatenate([s.floor for s in found])
    return {
        "auc": round(auc(labels, order.tolist()), 4),
        "average_precision": round(average_precision(labels, order.tolist()), 4),
        "auc_floor": round(auc(labels, floor.tolist()), 4),
        "ece": round(calibration_error(np.array(labels), floor), 4),
        "pairs": len(labels),
        "ms_per_pair": round(1000 * seconds / len(labels), 3),
    }
