"""Choose one of several given answers by the evidence: a letter from the model, or the small mind's score."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from string import ascii_uppercase

from ragweave.minds.evidence import Strip
from ragweave.models.chat import Chat
from ragweave.models.embed import encoder
from ragweave.models.relevance import Passage
from ragweave.models.support import support
from ragweave.models.text import content_terms, sentences, terms
from ragweave.nodes.run import Run
from ragweave.prompts import load

SURE = 0.3
"""Confidence in a choice that the small check does not find in the evidence."""


def lettered(choices: Sequence[str]) -> str:
    """Return the answers as lines, a letter before each."""
    return "\n".join(f"{letter}. {' '.join(c.split())}" for letter, c in zip(ascii_uppercase, choices, strict=False))


async def by_model(model: Chat, run: Run, question: str, choices: Sequence[str], evidence: str) -> int | None:
    """Return the number of the answer that a model chooses; asked at most twice, by `Chat.label`."""
    letters = list(ascii_uppercase[: len(choices)])
    messages = load("choose", question=question, choices=lettered(choices), evidence=evidence)
    label = await model.label(messages, letters, node=run.node, meter=run.meter)
    return None if label is None else letters.index(label)


async def by_rule(question: str, choices: Sequence[str], strips: Sequence[Strip], idf: Callable[[str], float]) -> int:
    """Return the number of the answer whose words stand nearest to the question's in the evidence."""
    return await asyncio.to_thread(_best, question, choices, strips, idf)


def _best(question: str, choices: Sequence[str], strips: Sequence[Strip], idf: Callable[[str], float]) -> int:
    """Score each answer against each sentence.

    Counted are the share of its words that the question lacks, half the share of the question's words beside them, and
    the cosine of question and answer together.
    """
    rows = [s["text"][a:b] for s in strips for a, b in sentences(s["text"])]
    asked = set(content_terms(question))
    vectors = encoder().texts(rows)
    queries = encoder().queries([f"{question} {c}" for c in choices])
    have = [set(terms(f"{s['title']} {s['text'][a:b]}")) for s in strips for a, b in sentences(s["text"])]
    scores = []
    for n, choice in enumerate(choices):
        own = set(terms(choice)) - asked or set(terms(choice))
        best = max(
            (_share(own, h, idf) * (1 + 0.5 * _share(asked, h, idf)) + 0.3 * float(v @ queries[n]))
            for h, v in zip(have, vectors, strict=True)
        )
        scores.append(best)
    return max(range(len(choices)), key=lambda n: (scores[n], -n))


def _share(wanted: set[str], have: set[str], idf: Callable[[str], float]) -> float:
    total = sum(idf(t) for t in wanted)
    return sum(idf(t) for t in wanted & have) / total if total else 0.0


async def rests_on(question: str, choice: str, strips: Sequence[Strip]) -> tuple[list[Strip], float]:
    """Return the strips that a chosen answer rests on, the nearest one where none supports it, and the confidence."""
    passages = [Passage(s["title"], s["text"]) for s in strips]
    verdict = await asyncio.to_thread(support, choice, passages, question)
    if verdict.supported:
        return [strips[i] for i in verdict.by[:2]], verdict.score
    own = set(content_terms(f"{question} {choice}"))
    nearest = max(strips, key=lambda s: (len(own & set(terms(s["text"]))), s["score"]))
    return [nearest], SURE
