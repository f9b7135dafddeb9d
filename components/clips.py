"""Keep the clips that bear on a query (VideoRAG, section 3.2): by the head, a model or a checkpoint."""

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
"""Relevance in [-1, 1] below which a clip is filtered out; a language model's `irrelevant` lies below it."""
AT_LEAST = 5
"""Clips that stay if the head keeps fewer, the first ones: paraphrase looks irrelevant to it."""


@dataclass(frozen=True)
class Kept:
    """The places of the clips that stay, in order.

    Attributes:
        places: of the clips, from 0.
        verdicts: relevance in [-1, 1] of every clip, if the evaluator of the run judged them; else empty.
    """

    places: list[int]
    verdicts: list[float] = field(default_factory=list)


async def filter_clips(run: RunContext, query: str, passages: Sequence[Passage]) -> Outcome[Kept]:
    """Return the clips that stay; who decides follows the evaluator of the run."""
    first = grade.evaluator_of(run.context)
    strategy = by_checkpoint if first == CHECKPOINT else by_model
    return await first_of(run, first, strategy, locally, query, passages)


async def locally(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept:
    """Return the clips that stay by the shipped relevance head."""
    return Kept(select(await grade.score_locally(run, query, passages)))


async def by_model(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept | None:
    """Return the clips that stay: what the model calls irrelevant goes, unless it calls everything so.

    In the form of VideoRAG the model judges every clip by itself, and all may go.
    """
    if run.context.method.form == "video-rag":
        return await _each(run, query, passages)
    scores = await grade.score_by_model(run, query, passages)
    return None if scores is None else Kept(select(scores, 0) or select(scores), scores)


async def by_checkpoint(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept:
    """Return the clips that stay by the evaluator that RAGWEAVE_EVALUATOR names."""
    scores = await grade.score_by_checkpoint(run, query, passages)
    return Kept(select(scores), scores)


def select(scores: Sequence[float], at_least: int = AT_LEAST) -> list[int]:
    """Return the places of scores from the floor on, and of the first others up to `at_least`, in order."""
    kept = [n for n, s in enumerate(scores) if s >= FLOOR]
    others = [n for n, s in enumerate(scores) if s < FLOOR]
    return sorted([*kept, *others[: max(0, at_least - len(kept))]])


async def _each(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept | None:
    """Return the clips of which the model says yes, and those of which it says neither yes nor no."""

    async def verdict(passage: Passage) -> str | None:
        clip = quote(f"{passage.title}\n{passage.text}")
        return await run.label(load("judge_clip", question=query, clip=clip), ("yes", "no"))

    said = await asyncio.gather(*map(verdict, passages))
    return Kept([n for n, word in enumerate(said) if word != "no"]) if any(said) else None
