"""Keep the clips that may bear on a query, by a language model in one call or by a trained checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.components.llm import grade
from ragweave.components.local.clips import select
from ragweave.components.protocols import Kept
from ragweave.components.run_context import RunContext
from ragweave.models.relevance import Passage


async def keep(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept | None:
    """Return the clips that stay: what the model calls irrelevant goes, unless it calls everything so."""
    scores = await grade.passages(run, query, passages)
    return None if scores is None else Kept(select(scores, 0) or select(scores), scores)


async def keep_by_checkpoint(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept:
    """Return the clips that stay by the evaluator that RAGWEAVE_EVALUATOR names."""
    scores = await grade.passages_by_checkpoint(run, query, passages)
    return Kept(select(scores), scores)
