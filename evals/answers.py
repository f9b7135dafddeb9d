"""Answer figures: answered-correct, answered-wrong and abstained are always counted together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from ragweave.evals.corpus import Prepared
from ragweave.models.text import fold
from ragweave.nodes.answer import Answer
from ragweave.nodes.context import Context


@dataclass(frozen=True)
class Question:
    """One question with its gold answers.

    Attributes:
        id: id of the question.
        text: the question.
        answers: strings that answer it; any one is enough.
        gold: ids of the passages that hold the answer; may be empty.
        answerable: False where abstaining is right.
        kind: figures are also given per kind.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    gold: tuple[str, ...] = ()
    answerable: bool = True
    kind: str = ""


@dataclass
class Outcome:
    """What became of one question."""

    question: Question
    answer: Answer
    seconds: float
    cited: list[str] = field(default_factory=list)

    @property
    def correct(self) -> bool:
        """A shown sentence contains a gold answer."""
        text = fold(" ".join(s.text for s in self.answer.sentences))
        return any(fold(a) in text for a in self.question.answers)

    @property
    def verdict(self) -> str:
        """`correct`, `wrong`, or `abstained`; an unanswerable question can only be answered wrong."""
        if self.answer.abstained:
            return "abstained"
        return "correct" if self.question.answerable and self.correct else "wrong"


async def ask_all(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    prepared: Prepared,
    questions: Sequence[Question],
    context: Context,
    *,
    width: int = 2,
    on_done: Callable[[int], None] = lambda n: None,
) -> list[Outcome]:
    """Ask every question of one graph, at most `width` at the same time."""
    gate = asyncio.Semaphore(width)
    done = 0

    async def one(question: Question) -> Outcome:
        nonlocal done
        async with gate:
            started = time.perf_counter()
            state = await graph.ainvoke({"messages": [("human", question.text)]}, context=context)
            seconds = time.perf_counter() - started
        done += 1
        on_done(done)
        answer: Answer = state["answer"]
        cited = [prepared.id_of(c.locator.get("file", "")) for c in answer.citations]
        return Outcome(question, answer, seconds, cited)

    return list(await asyncio.gather(*(one(q) for q in questions)))


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the shares of all questions, the precision of the citations, and milliseconds.

    `citation_precision` is the share of cited passages that are gold, over questions that have gold passages.
    """
    total = len(outcomes) or 1
    counts = {v: sum(o.verdict == v for o in outcomes) for v in ("correct", "wrong", "abstained")}
    cited = [c in o.question.gold for o in outcomes if o.question.gold for c in o.cited]
    sentences = [len(o.answer.sentences) for o in outcomes if not o.answer.abstained]
    return {
        "questions": len(outcomes),
        "answered_correct": round(counts["correct"] / total, 4),
        "answered_wrong": round(counts["wrong"] / total, 4),
        "abstained": round(counts["abstained"] / total, 4),
        "citation_precision": round(sum(cited) / len(cited), 4) if cited else 0.0,
        "sentences_per_answer": round(sum(sentences) / len(sentences), 2) if sentences else 0.0,
        "ms_per_question": round(1000 * sum(o.seconds for o in outcomes) / total, 1),
    }


def by_kind(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Return the figures of each kind of question."""
    kinds: dict[str, list[Outcome]] = {}
    for o in outcomes:
        kinds.setdefault(o.question.kind or "all", []).append(o)
    return {kind: figures(rows) for kind, rows in sorted(kinds.items())}


def question_of(row: Mapping[str, Any], kind: str = "", answerable: bool = True) -> Question:
    """Read a question row of a JSONL file (`id`, `question`, `answers`, optional `gold`, `answerable`, `kind`)."""
    return Question(
        id=str(row["id"]),
        text=str(row["question"]),
        answers=tuple(str(a) for a in row.get("answers", ())),
        gold=tuple(str(g) for g in row.get("gold", ())),
        answerable=bool(row.get("answerable", answerable)),
        kind=str(row.get("kind", kind)),
    )
