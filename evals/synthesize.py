"""Conversations that teach a model to iterate: one question walked by a teacher model (Auto-RAG, Algorithm 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragweave.components.conversation import Round, documents_message
from ragweave.components.conversation import conversation as talk
from ragweave.components.expand import clean
from ragweave.components.turn import SAID, needed, turn_of
from ragweave.corpora.store.library import Library
from ragweave.evals.data import listed
from ragweave.evals.metrics import exact_match, token_f1
from ragweave.evals.retrieval import ranking
from ragweave.models.chat import Chat
from ragweave.models.errors import InputError
from ragweave.models.meter import Meter
from ragweave.models.text import clip, words
from ragweave.prompts import load

_VERDICTS = {" yes ", " no "}
"""Answers that no document is useful for holding."""
SAME = 0.8
"""Token F1 with a gold answer from which a final answer counts as the same."""
_WHOLE = 1_000_000
"""Tokens of a conversation that is not cut here; what is too long to train on is left out there."""
PROMPTS = "ragweave.evals.prompts"
NODE = "synthesize"

Outcome = str
"""`kept`, or why a walk was dropped."""
KEPT: Outcome = "kept"
WRONG: Outcome = "the final answer differs from the gold answer"
ENDLESS: Outcome = "still asking after the last round"
SILENT: Outcome = "the teacher said nothing"
NO_QUERY: Outcome = "no new query could be read"


@dataclass(frozen=True)
class Task:
    """One question to walk.

    `parts` are further strings that mark a document as useful: sub-answers, links, titles of gold passages.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class SynthesisSettings:
    """How questions are walked.

    Most rounds of retrieval (T: 10 for 2WikiMultihopQA and 5 for Natural Questions in the paper), documents
    per round, and queries that are written for each round, of which the first useful one is kept.
    """

    rounds: int = 5
    passages: int = 3
    candidates: int = 4


@dataclass(frozen=True)
class SynthesisWalk:
    """What became of one question.

    `missed` counts the rounds in which no candidate query found a (sub-)answer, so that the first one was
    kept; the messages are empty unless the outcome is `kept`.
    """

    outcome: Outcome
    hops: int
    missed: int
    messages: tuple[dict[str, str], ...] = ()


def read_task(row: Mapping[str, Any]) -> Task:
    """Read a question of a multi-hop set; the keys of HotpotQA and 2WikiMultihopQA are understood.

    Raises:
        InputError: if the question or its gold answers are missing.
    """
    question = str(row.get("question") or "").strip()
    answers = listed(row.get("answers")) or listed(row.get("answer"))
    golds = tuple(a.strip() for a in answers if a.strip())
    name = str(row.get("id") or row.get("_id") or "")
    if not (question and golds and name):
        raise InputError(
            f"the row {name or question[:40]!r} lacks an id, a question or a gold answer",
            "give each line `id`, `question` and `answers` (or `answer`)",
        )
    supporting = [fact[0] for fact in row.get("supporting_facts") or [] if isinstance(fact, list) and fact]
    parts = [
        *(part for key in ("sub_answers", "links", "gold") for part in listed(row.get(key))),
        *supporting,
    ]
    bare = (re.sub(r"\s*\([^)]*\)$", "", str(p)).strip() for p in parts)
    return Task(name, question, golds, tuple(dict.fromkeys(p for p in bare if p)))


async def walk(
    task: Task, library: Library, teacher: Chat, rewriter: Chat, settings: SynthesisSettings, meter: Meter
) -> SynthesisWalk:
    """Let the teacher reason and search until it needs nothing more, and keep the walk if its answer is right.

    Raises:
        ModelError: as the models do.
        BudgetSpent: if a limit would be passed.
    """
    past: list[Round] = []
    said = [await _reason(task, past, [], teacher, meter)]
    seen: set[str] = set()
    missed = 0
    while needed(said[-1]):
        if len(past) >= settings.rounds:
            return SynthesisWalk(ENDLESS, len(past), missed)
        queries = await _queries(task, past, said[-1], rewriter, settings.candidates, meter)
        if not queries:
            return SynthesisWalk(NO_QUERY, len(past), missed)
        found, useful = await _first_useful(task, queries, library, settings.passages, seen)
        missed += not useful
        past.append(found)
        said.append(await _reason(task, past, said, teacher, meter))
    if not said[-1]:
        return SynthesisWalk(SILENT, len(past), missed)
    messages = load("synthesize_answer", room=PROMPTS, question=task.question, history=history(past, said))
    answer = (await teacher.text(messages, node=NODE, meter=meter)).strip().strip("\"'.")
    if not same(answer, task.answers):
        return SynthesisWalk(WRONG, len(past), missed)
    return SynthesisWalk(KEPT, len(past), missed, tuple(conversation(task.question, past, said, answer)))


def same(answer: str, golds: Sequence[str]) -> bool:
    """Tell whether a final answer is a gold answer: equal after normalisation, or nearly so in its tokens."""
    return bool(exact_match(answer, golds)) or token_f1(answer, golds) >= SAME


def bears(text: str, task: Task) -> bool:
    """Tell whether a document holds a gold answer or a part of the way to it that the question does not name itself."""
    have, said = _flat(text), _flat(task.question)
    wanted = {_flat(part) for part in (*task.answers, *task.parts)} - _VERDICTS
    return any(w.strip() and w in have and w not in said for w in wanted)


def conversation(
    question: str, past: Sequence[Round], said: Sequence[str], answer: str
) -> list[dict[str, str]]:
    """Return a walk in chat format: what `reason` shows where `method.form` is `auto-rag`, and the last turn."""
    rounds = [replace(r, learnt=thought) for r, thought in zip(past, said[:-1], strict=True)]
    last = ("assistant", turn_of(said[-1], answer=answer, published=True))
    said_so_far = talk(question, rounds, _WHOLE, sentences=0, published=True)
    return [{"role": role, "content": text} for role, text in [*said_so_far, last]]


def history(past: Sequence[Round], said: Sequence[str]) -> str:
    """Return what was thought, asked and found, as text for the teacher."""
    lines = []
    for n, r in enumerate(past):
        lines += [f"Reasoning: {said[n]}" if n < len(said) else "", f"Query: {r.query}", documents_message(r)]
    lines += [f"Reasoning: {s}" for s in said[len(past) :]]
    return "\n".join(filter(None, lines)) or "(nothing yet)"


async def _reason(task: Task, past: list[Round], said: list[str], teacher: Chat, meter: Meter) -> str:
    messages = load("synthesize_reason", room=PROMPTS, question=task.question, history=history(past, said))
    return clip(" ".join((await teacher.text(messages, node=NODE, meter=meter)).split()), SAID)


async def _queries(
    task: Task, past: list[Round], reasoning: str, rewriter: Chat, count: int, meter: Meter
) -> list[str]:
    asked = [r.query for r in past]
    messages = load(
        "synthesize_queries",
        room=PROMPTS,
        question=task.question,
        asked="; ".join(asked) or "(none)",
        reasoning=reasoning,
        count=count,
    )
    reply = await rewriter.text(messages, node=NODE, meter=meter)
    return [q for q in clean([reply], "", count) if q not in asked]


async def _first_useful(
    task: Task, queries: Sequence[str], library: Library, passages: int, seen: set[str]
) -> tuple[Round, bool]:
    """Return the round of the first query whose documents hold a (sub-)answer, else that of the first query."""
    first: tuple[str, list[tuple[str, str, str]]] | None = None
    for query in queries:
        ids = [i for i in await ranking(library, query, "rerank") if i not in seen][:passages]
        items = await library.items(ids)
        found = [(i, items[i].title, items[i].text) for i in ids if i in items]
        useful = any(bears(f"{title}\n{text}", task) for _, title, text in found)
        first = first if first is not None and not useful else (query, found)
        if useful:
            break
    assert first is not None
    query, found = first
    start = len(seen)
    seen.update(i for i, _, _ in found)
    documents = tuple((start + n, title, text) for n, (_, title, text) in enumerate(found, 1))
    return Round(query, "", "", documents), any(bears(f"{t}\n{x}", task) for _, t, x in documents)


def _flat(text: str) -> str:
    return f" {' '.join(words(text))} "
