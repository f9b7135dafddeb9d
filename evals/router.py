"""Measure routers: the small head, a language model, and their ensemble (UniversalRAG, 3.2 and 4)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ragweave.evals.data import RoutedQuestion
from ragweave.evals.metrics import accuracy, ece
from ragweave.evals.runner import Row, Runner
from ragweave.models import router

Classify = Callable[[str], Awaitable[str | None]]
"""Asks a language model for the label of a question; None where its reply cannot be read."""


@dataclass(frozen=True, slots=True)
class RouterDecision:
    """How one question was routed.

    `confidence` is the probability of the label, 1 where a language model said it; `fell_back` says that its
    reply could not be read and the small head decided.
    """

    probabilities: dict[str, float]
    label: str
    confidence: float
    ms: float
    calls: int = 0
    fell_back: bool = False


def best(probabilities: dict[str, float]) -> str:
    """Return the likeliest label; of equal ones the first by name."""
    return min(probabilities, key=lambda k: (-probabilities[k], k))


Answer = Callable[[str], Awaitable[RouterDecision]]
"""Routes one question."""


def by_head(path: Path = router.HEAD) -> Answer:
    """Return the small head as a router."""
    return by_classifier(lambda question: router.predict(question, path))


def by_classifier(predict: Callable[[str], dict[str, float]]) -> Answer:
    """Return any classifier that gives probabilities as a router; the first call loads it, untimed."""
    predict("warm up")

    async def one(question: str) -> RouterDecision:
        started = time.perf_counter()
        p = predict(question)
        ms = (time.perf_counter() - started) * 1000
        return RouterDecision(p, best(p), p[best(p)], ms)

    return one


def by_model(classify: Classify, labels: Sequence[str], path: Path = router.HEAD) -> Answer:
    """Return a language model as a router; the small head replaces a reply without a label."""

    async def one(question: str) -> RouterDecision:
        started = time.perf_counter()
        label = await classify(question)
        if label in labels:
            ms = (time.perf_counter() - started) * 1000
            certain = dict.fromkeys(labels, 0.0)
            certain[str(label)] = 1.0
            return RouterDecision(certain, str(label), 1.0, ms, calls=1)
        p = await asyncio.to_thread(router.predict, question, path)
        ms = (time.perf_counter() - started) * 1000
        return RouterDecision(p, best(p), p[best(p)], ms, calls=1, fell_back=True)

    return one


async def decide(
    questions: Sequence[str],
    answer: Answer,
    runner: Runner | None = None,
    of: Mapping[str, Any] | None = None,
) -> list[RouterDecision]:
    """Route every question.

    `of` is what the decisions depend on in addition to the questions: the router.
    """

    async def one(question: str) -> Row:
        return asdict(await answer(question))

    units = {}
    for n, question in enumerate(questions):
        units[str(n)] = question
    rows = await (runner or Runner()).each(
        "questions", units, one, {**(of or {}), "questions": list(questions)}
    )
    return [RouterDecision(**row) for row in rows]


def ensemble(
    small: Sequence[RouterDecision], large: Sequence[RouterDecision], threshold: float
) -> list[RouterDecision]:
    """Take the small head where its confidence reaches the threshold, else the language model.

    Milliseconds add up where the model is asked, and only then does its call count.
    """
    out = []
    for s, m in zip(small, large, strict=True):
        if s.confidence >= threshold:
            out.append(s)
        else:
            out.append(
                RouterDecision(m.probabilities, m.label, m.confidence, s.ms + m.ms, m.calls, m.fell_back)
            )
    return out


@dataclass(frozen=True, slots=True)
class Measured:
    """A router's figures on one file.

    `flat` has the keys that `--json` writes.
    """

    flat: dict[str, float]
    per_label: dict[str, float]
    per_source: dict[str, float]
    confusion: dict[str, dict[str, int]]


def measure(rows: Sequence[RoutedQuestion], decisions: Sequence[RouterDecision]) -> Measured:
    """Score decisions against the gold labels of the rows."""
    gold, said = list[str](), list[str]()
    right, by_source = list[bool](), dict[str, list[bool]]()
    for row, decision in zip(rows, decisions, strict=True):
        gold.append(row.label)
        said.append(decision.label)
        right.append(row.label == decision.label)
        by_source.setdefault(row.source, []).append(right[-1])
    per_source = {}
    for source in sorted(by_source):
        per_source[source] = float(np.mean(by_source[source]))
    found = accuracy(gold, said)
    confidence, ms, calls, fell_back = list[float](), list[float](), list[int](), 0
    for decision in decisions:
        confidence.append(decision.confidence)
        ms.append(decision.ms)
        calls.append(decision.calls)
        fell_back += decision.fell_back
    flat: dict[str, Any] = {
        "questions": len(rows),
        "accuracy_micro": round(found.micro, 4),
        "accuracy_macro": round(found.macro, 4),
        "ece": round(ece(confidence, right), 4),
        "ms_per_question": round(float(np.mean(ms)), 3),
        "model_calls_per_question": round(float(np.mean(calls)), 4),
        "fell_back": fell_back,
    }
    return Measured(flat, found.per_label, per_source, found.confusion)


def chat_classifier(labels: Sequence[str]) -> Classify:
    """Return a classifier that asks the chat model for one label, with the few-shot prompt of the graph.

    Raises:
        InputError: no chat model is set.
    """
    from ragweave.components.route import messages
    from ragweave.models.chat import chat
    from ragweave.models.errors import InputError
    from ragweave.models.meter import Meter

    model = chat("judge")
    if model is None:
        raise InputError(
            "the llm router needs a chat model", "set RAGWEAVE_CHAT, for example openai:gpt-4o-mini"
        )
    meter = Meter()

    async def classify(question: str) -> str | None:
        return await model.label(messages(question, labels), list(labels), node="route", meter=meter)

    return classify
