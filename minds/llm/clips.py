"""Keep the clips that may bear on a query, by a language model in one call or by a trained checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.minds.desk import Desk
from ragweave.minds.llm import grade
from ragweave.minds.small.clips import select
from ragweave.models.relevance import Passage


async def keep(desk: Desk, query: str, passages: Sequence[Passage]) -> list[int] | None:
    """Return the places of the clips that stay: what the model calls irrelevant goes, unless it calls everything so."""
    scores = await grade.passages(desk, query, passages)
    return None if scores is None else select(scores, 0) or select(scores)


async def keep_by_checkpoint(desk: Desk, query: str, passages: Sequence[Passage]) -> list[int]:
    """Return the places of the clips that stay by the evaluator that RAGWEAVE_EVALUATOR names."""
    return select(await grade.passages_by_checkpoint(desk, query, passages))
