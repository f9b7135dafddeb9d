"""Let a teacher model solve a question in rounds, to train a model to iterate (Auto-RAG, Algorithm 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from langgraph.graph import END, START

from ragweave.components.context import Context
from ragweave.components.conversation import conversation as talk
from ragweave.components.conversation import documents_message
from ragweave.components.evidence import Evidence
from ragweave.components.expand import clean
from ragweave.components.method import Preset, knobs_of
from ragweave.components.passages import as_strip
from ragweave.components.rounds import Round, titled
from ragweave.components.turn import SAID, needed, turn_of
from ragweave.corpora.store.library import Library
from ragweave.evals.data import listed
from ragweave.evals.metrics import exact_match, token_f1
from ragweave.graphs.base import Graph, new_graph
from ragweave.models.chat import Chat
from ragweave.models.errors import InputError
from ragweave.models.meter import Meter
from ragweave.models.text import clip, words
from ragweave.nodes.condense import condense
from ragweave.nodes.fuse import fuse
from ragweave.nodes.retrieve import retrieve
from ragweave.nodes.state import best_of_hop
from ragweave.prompts import load

_VERDICTS = {" yes ", " no "}
"""Answers that do not make a document useful."""
SAME = 0.8
"""Token F1 with a gold answer from which a final answer counts as the same."""
_WHOLE = 1_000_000
"""Token limit of a conversation: practically none, because training leaves out those that are too long."""
PROMPTS = "ragweave.evals.prompts"
NODE = "synthesize"

PRESET: Preset = "auto-rag-paper"
_FIXED = knobs_of(PRESET)
ROUNDS, PASSAGES = int(_FIXED["max_hops"]), int(_FIXED["method.turn_passages"])
"""Rounds of a question and documents of a round, as the preset asks the model that is taught."""
_DEEP = 50
"""Documents that a search gives; those that earlier rounds showed are taken out."""

_Document = tuple[str, str, str]
"""Id, title and text."""

Outcome = str
"""`kept`, or the reason for dropping a walk."""
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
    """Limits of a walk.

    `rounds` is the maximum of retrieval rounds (T: 10 for 2WikiMultihopQA and 5 for Natural Questions in the
    paper), `passages` the number of documents per round, and `candidates` the number of queries that the
    rewriter proposes for a round; the first useful one counts.
    """

    rounds: int = ROUNDS
    passages: int = PASSAGES
    candidates: int = 4


@dataclass(frozen=True)
class SynthesisWalk:
    """The result for one question.

    `missed` counts the rounds in which no candidate query found a (sub-)answer, so that the first one counts.
    The messages are empty unless the outcome is `kept`.
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
    golds = []
    for answer in answers:
        if answer.strip():
            golds.append(answer.strip())
    name = str(row.get("id") or row.get("_id") or "")
    if not (question and golds and name):
        raise InputError(
            f"the row {name or question[:40]!r} lacks an id, a question or a gold answer",
            "give each line `id`, `question` and `answers` (or `answer`)",
        )
    return Task(name, question, tuple(golds), tuple(_parts(row)))


def _parts(row: Mapping[str, Any]) -> list[str]:
    """Return sub-answers, links and titles of a row, each once and without a bracket at its end."""
    named: list[Any] = []
    for key in ("sub_answers", "links", "gold"):
        named += listed(row.get(key))
    for fact in row.get("supporting_facts") or []:
        if isinstance(fact, list) and fact:
            named.append(fact[0])
    parts: dict[str, None] = {}
    for part in named:
        bare = re.sub(r"\s*\([^)]*\)$", "", str(part)).strip()
        if bare:
            parts[bare] = None
    return list(parts)


async def walk(
    task: Task, library: Library, teacher: Chat, rewriter: Chat, settings: SynthesisSettings, meter: Meter
) -> SynthesisWalk:
    """Let the teacher reason and search until it needs nothing more; keep the walk if its answer is right.

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
    """Return whether a final answer equals a gold answer after normalisation, or nearly so by its tokens."""
    return bool(exact_match(answer, golds)) or token_f1(answer, golds) >= SAME


def bears(text: str, task: Task) -> bool:
    """Return whether a document holds a gold answer, or a part of the way that the question does not name."""
    have, said = _flat(text), _flat(task.question)
    for part in set(map(_flat, (*task.answers, *task.parts))) - _VERDICTS:
        if part.strip() and part in have and part not in said:
            return True
    return False


def conversation(
    question: str, past: Sequence[Round], said: Sequence[str], answer: str
) -> list[dict[str, str]]:
    """Return a walk in chat format: the messages of `reason` in the form `auto-rag`, and the last turn."""
    rounds = []
    for step, thought in zip(past, said[:-1], strict=True):
        rounds.append(replace(step, learnt=thought))
    last = ("assistant", turn_of(said[-1], answer=answer, published=True))
    said_so_far = talk(question, rounds, _WHOLE, sentences=0, published=True)
    out = []
    for role, text in [*said_so_far, last]:
        out.append({"role": role, "content": text})
    return out


def history(past: Sequence[Round], said: Sequence[str]) -> str:
    """Return the reasoning, queries and documents so far, as text for the teacher."""
    lines = []
    for n, r in enumerate(past):
        if n < len(said):
            lines.append(f"Reasoning: {said[n]}")
        lines.append(f"Query: {r.query}")
        documents = documents_message(r)
        if documents:
            lines.append(documents)
    for thought in said[len(past) :]:
        lines.append(f"Reasoning: {thought}")
    return "\n".join(lines) or "(nothing yet)"


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
    new = []
    for query in clean([reply], "", count):
        if query not in asked:
            new.append(query)
    return new


async def _first_useful(
    task: Task, queries: Sequence[str], library: Library, passages: int, seen: set[str]
) -> tuple[Round, bool]:
    """Search until a query finds a (sub-)answer; return that round, or the round of the first query."""
    first: tuple[str, list[_Document]] | None = None
    for query in queries:
        found = await _unseen(library, query, passages, seen)
        if _useful(found, task):
            return _round(query, found, seen), True
        if first is None:
            first = query, found
    assert first is not None
    return _round(*first, seen), False


async def _unseen(library: Library, query: str, passages: int, seen: set[str]) -> list[_Document]:
    """Return the first documents of a search that no earlier round showed."""
    out: list[_Document] = []
    for row in await searched(library, query):
        if len(out) == passages:
            break
        if row["id"] not in seen:
            out.append((row["id"], *titled([as_strip(row)], row)))
    return out


def _useful(documents: Sequence[_Document], task: Task) -> bool:
    for _, title, text in documents:
        if bears(f"{title}\n{text}", task):
            return True
    return False


def _round(query: str, found: Sequence[_Document], seen: set[str]) -> Round:
    """Return a round of documents, numbered after those of earlier rounds; add them to the seen ones."""
    documents = []
    for number, (_, title, text) in enumerate(found, len(seen) + 1):
        documents.append((number, title, text))
    for i, _, _ in found:
        seen.add(i)
    return Round(query, "", "", tuple(documents))


async def searched(library: Library, query: str) -> list[Evidence]:
    """Return what the graph `auto_rag` finds for a query under its preset, best first.

    It returns more than a round shows, because documents of earlier rounds are taken out.
    A model that is taught by other documents than it is shown later learns to ask for the wrong ones.
    """
    context = Context(library=library.name, preset=PRESET, top_k=_DEEP)
    sent: Any = {"question": query}
    state: Any = await _search().ainvoke(sent, context=context)
    return best_of_hop(state)


@cache
def _search() -> Graph:
    """Return the search of the graph `auto_rag`: its nodes between two turns of the model."""
    builder = new_graph(condense, retrieve, fuse)
    builder.path(START, "condense", "retrieve", "fuse", END)
    return builder.compile(name="round")


def _flat(text: str) -> str:
    return f" {' '.join(words(text))} "
