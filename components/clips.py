"""Filter the clips of a query (VideoRAG, section 3.2) with the head, a chat model or a checkpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from ragweave.components import grade
from ragweave.components.ask import CHECKPOINT, Outcome, first_of
from ragweave.components.run_context import RunContext
from ragweave.models.relevance import Passage
from ragweave.prompts import load, quote

FLOOR = -0.85
"""Relevance in [-1, 1] below which a clip is dropped; a language model's `irrelevant` lies below it."""
AT_LEAST = 5
"""Clips to keep at least, the first ones: a paraphrase looks irrelevant to the head."""


@dataclass(frozen=True)
class Kept:
    """The clips to keep.

    Attributes:
        places: their indexes, in order.
        verdicts: relevance in [-1, 1] of every clip, if the evaluator of the run graded them; else empty.
    """

    places: list[int]
    verdicts: list[float] = field(default_factory=list)


async def filter_clips(run: RunContext, query: str, passages: Sequence[Passage]) -> Outcome[Kept]:
    """Return the clips to keep by the evaluator of the run."""
    first = grade.evaluator_of(run.context)
    strategy = by_checkpoint if first == CHECKPOINT else by_model
    return await first_of(run, first, strategy, locally, query, passages)


async def locally(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept:
    """Return the clips to keep by the shipped relevance head."""
    return Kept(select(await grade.score_locally(run, query, passages)))


async def by_model(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept | None:
    """Drop the clips that the model calls irrelevant, unless it calls all of them so.

    In the form of VideoRAG, the model judges every clip in a call of its own, and may drop all.
    """
    if run.context.method.form == "video-rag":
        return await _each(run, query, passages)
    scores = await grade.score_by_model(run, query, passages)
    if scores is None:
        return None
    return Kept(select(scores, 0) or select(scores), scores)


async def by_checkpoint(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept:
    """Return the clips to keep by the checkpoint that RAGWEAVE_EVALUATOR names."""
    scores = await grade.score_by_checkpoint(run, query, passages)
    return Kept(select(scores), scores)


def select(scores: Sequence[float], at_least: int = AT_LEAST) -> list[int]:
    """Return the indexes of scores at or above the floor; if fewer than `at_least`, also the first others."""
    kept: list[int] = []
    others: list[int] = []
    for n, score in enumerate(scores):
        (others if score < FLOOR else kept).append(n)
    missing = max(0, at_least - len(kept))
    return sorted(kept + others[:missing])


async def _each(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept | None:
    """Return the clips to which the model does not say no; None if no reply is readable."""

    async def verdict(passage: Passage) -> str | None:
        clip = quote(f"{passage.title}\n{passage.text}")
        return await run.label(load("judge_clip", question=query, clip=clip), ("yes", "no"))

    verdicts = await asyncio.gather(*map(verdict, passages))
    if not any(verdicts):
        return None
    kept: list[int] = []
    for n, word in enumerate(verdicts):
        if word != "no":
            kept.append(n)
    return Kept(kept)
