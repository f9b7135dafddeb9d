"""Keep the clips that may bear on a query, by a language model in one call or by a trained checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.minds.contracts import Kept
from ragweave.minds.desk import Desk
from ragweave.minds.llm import grade
from ragweave.minds.small.clips import select
from ragweave.models.relevance import Passage


async def keep(desk: Desk, query: str, passages: Sequence[Passage]) -> Kept | None:
    """Return the clips that stay: what the model calls irrelevant goes, unless it calls everything so."""
    scores = await grade.passages(desk, query, passages)
    return None if scores is None else Kept(select(scores, 0) or select(scores), scores)


async def keep_by_checkpoint(desk: Desk, query: str, passages: Sequence[Passage]) -> Kept:
    """Return the clips that stay by the evaluator that RAGWEAVE_EVALUATOR names."""
    scores = await grade.passages_by_checkpoint(desk, query, passages)
    return Kept(select(scores), scores)
