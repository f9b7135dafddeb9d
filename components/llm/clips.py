"""Keep the clips that may bear on a query, by a language model in one call or by a trained checkpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ragweave.components.llm import grade
from ragweave.components.local.clips import select
from ragweave.components.protocols import Kept
from ragweave.components.run_context import RunContext
from ragweave.models.relevance import Passage
from ragweave.prompts import load, quote


async def keep(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept | None:
    """Return the clips that stay: what the model calls irrelevant goes, unless it calls everything so.

    In the form of VideoRAG every clip is asked about by itself, and all may go.
    """
    if run.context.method.form == "video-rag":
        return await _each(run, query, passages)
    scores = await grade.passages(run, query, passages)
    return None if scores is None else Kept(select(scores, 0) or select(scores), scores)


async def _each(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept | None:
    """Return the clips of which the model says yes, and those of which it says neither yes nor no."""

    async def verdict(passage: Passage) -> str | None:
        clip = quote(f"{passage.title}\n{passage.text}")
        return await run.label(load("judge_clip", question=query, clip=clip), ("yes", "no"))

    said = await asyncio.gather(*map(verdict, passages))
    return Kept([n for n, word in enumerate(said) if word != "no"]) if any(said) else None


async def keep_by_checkpoint(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept:
    """Return the clips that stay by the evaluator that RAGWEAVE_EVALUATOR names."""
    scores = await grade.passages_by_checkpoint(run, query, passages)
    return Kept(select(scores), scores)
