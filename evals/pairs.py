"""Figures of any evaluator on labelled (question, passage) pairs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.evals.data import read_labelled
from ragweave.evals.evaluator_data import LabelledQuestion, Nearness, idf_of
from ragweave.evals.metrics import auc, average_precision, ece
from ragweave.evals.runner import Row, Runner
from ragweave.models import relevance
from ragweave.models.errors import InputError
from ragweave.models.relevance import Passage, Scores
from ragweave.models.settings import model_settings

Scorer = Callable[[str, Sequence[Passage]], Awaitable[Scores]]
"""Scores the candidates of one question."""


def read_pairs(path: Path) -> list[LabelledQuestion]:
    """Read rows of `question, passage, label`, optionally `qid, title`, or of PopQA; group them by question.

    Raises:
        InputError: a row is no pair, a label is neither 0/1 nor -1/1, or only one label occurs.
    """
    groups: dict[str, list[tuple[str, Passage, int]]] = {}
    for row in read_labelled(path):
        if row["label"] not in (-1, 0, 1, True, False):
            raise InputError(
                f"a label of {path.name} is {row['label']!r}", "use 1 for relevant and 0 for not"
            )
        passage = Passage(str(row.get("title", "")), str(row["passage"]))
        groups.setdefault(str(row.get("qid", row["question"])), []).append(
            (str(row["question"]), passage, int(row["label"] == 1))
        )
    asked, seen = [], set[int]()
    for rows in groups.values():
        passages, labels = list[Passage](), list[int]()
        for _, passage, label in rows:
            passages.append(passage)
            labels.append(label)
        asked.append(LabelledQuestion(rows[0][0], tuple(passages), np.array(labels)))
        seen.update(labels)
    if len(seen) < 2:
        raise InputError(f"{path.name} has only one label", "give relevant and irrelevant pairs")
    return asked


def scorer(name: str) -> Callable[[Sequence[LabelledQuestion]], Scorer]:
    """Return the maker of an evaluator by name: `local`, `llm`, `checkpoint:PATH`, or `checkpoint`.

    `checkpoint` alone is the one that RAGWEAVE_EVALUATOR names.

    Raises:
        InputError: there is no such evaluator.
    """
    kind, _, path = name.partition(":")
    if kind == "local":
        return _small
    if kind == "checkpoint" and name != "checkpoint:":
        return lambda groups: _checkpoint(path or model_settings().evaluator)
    if kind == "llm":
        return lambda groups: _llm()
    raise InputError(f"there is no evaluator “{name}”", "use local, llm, checkpoint or checkpoint:PATH")


def _small(groups: Sequence[LabelledQuestion]) -> Scorer:
    distinct: dict[Passage, None] = {}
    for group in groups:
        distinct.update(dict.fromkeys(group.passages))
    every = list(distinct)
    idf, near = idf_of(every), Nearness(every)

    def score(question: str, passages: Sequence[Passage]) -> Scores:
        return relevance.score(question, passages, idf, near(question, passages).tolist())

    return lambda question, passages: asyncio.to_thread(score, question, passages)


def _checkpoint(path: str) -> Scorer:
    from ragweave.models.checkpoint import evaluator

    load = evaluator(path)

    async def score(question: str, passages: Sequence[Passage]) -> Scores:
        found = np.asarray(await asyncio.to_thread(load, question, passages), dtype=float)
        return Scores(found, np.clip(found, -1, 1))

    return score


def _llm() -> Scorer:
    from ragweave.components.context import Context
    from ragweave.components.grade import score_by_model as verdicts
    from ragweave.components.run_context import RunContext, TurnState
    from ragweave.models.chat import chat
    from ragweave.models.meter import Meter

    if chat("judge") is None:
        raise InputError("no chat model is configured", "set RAGWEAVE_CHAT (see docs/writer.md)")
    desk = RunContext("grade", Context(), TurnState(Meter()), 1)

    async def score(question: str, passages: Sequence[Passage]) -> Scores:
        found = np.array(await verdicts(desk, question, passages) or [0.0] * len(passages))
        return Scores(found, found)

    return score


@dataclass(frozen=True)
class ScoredPairs:
    """Every pair with its scores.

    `labels` are 1 where relevant, `order` is relative to the other candidates of its question, `floor`
    absolute relevance in [-1, 1]; each (n,).
    """

    labels: NDArray[np.int64]
    order: NDArray[np.float64]
    floor: NDArray[np.float64]
    seconds: float

    def figures(self) -> dict[str, float]:
        """Return the figures.

        `auc` and `average_precision` are those of the order among candidates; `auc_floor` and `ece` those of
        the absolute relevance, read as the probability (floor + 1) / 2.
        """
        labels = self.labels
        return {
            "auc": round(auc(labels, self.order), 4),
            "average_precision": round(average_precision(labels, self.order), 4),
            "auc_floor": round(auc(labels, self.floor), 4),
            "ece": round(ece((self.floor + 1) / 2, self.labels, bins=10), 4),
            "pairs": len(labels),
            "ms_per_pair": round(1000 * self.seconds / len(labels), 3),
        }


async def measure(
    groups: Sequence[LabelledQuestion],
    make: Callable[[Sequence[LabelledQuestion]], Scorer],
    runner: Runner | None = None,
    of: Mapping[str, Any] | None = None,
) -> ScoredPairs:
    """Score every pair, the candidates of a question together.

    `of` is what the scores depend on in addition to the pairs: the evaluator.
    """
    score = make(groups)
    # The first call loads weights; it is made once before the clock starts.
    await score(groups[0].question, groups[0].passages)

    async def one(group: LabelledQuestion) -> Row:
        started = time.perf_counter()
        found = await score(group.question, group.passages)
        seconds = time.perf_counter() - started
        return {
            "order": np.asarray(found.order).tolist(),
            "floor": np.asarray(found.floor).tolist(),
            "s": seconds,
        }

    pairs, units = [], {}
    for n, group in enumerate(groups):
        passages = [astuple(passage) for passage in group.passages]
        pairs.append((group.question, passages, group.labels.tolist()))
        units[str(n)] = group
    rows = await (runner or Runner()).each("pairs", units, one, {**(of or {}), "pairs": pairs})
    order, floor, seconds = list[float](), list[float](), 0.0
    for row in rows:
        order += row["order"]
        floor += row["floor"]
        seconds += row["s"]
    labels = np.concatenate([group.labels for group in groups])
    return ScoredPairs(labels, np.array(order, dtype=float), np.array(floor, dtype=float), seconds)
