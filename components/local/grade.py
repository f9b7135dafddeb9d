"""Grade by the shipped relevance head: the scores that `fuse` ordered by are its verdict."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragweave.components.evidence import Evidence
from ragweave.components.passages import reading, relevances
from ragweave.components.protocols import Graded
from ragweave.components.run_context import RunContext
from ragweave.models import relevance
from ragweave.models.relevance import Passage

CORRECT = 0.0
"""Relevance of the best item from which a round is correct: from here on its gold is among the first four passages as
often as from higher scores."""


async def grade(run: RunContext, query: str, items: Sequence[Evidence], reread: Collection[str]) -> Graded:
    """Return the relevance of each item; read again are only those whose text has changed."""
    again = [e for e in items if e["id"] in reread]
    read = await relevances(await run.library(), query, [reading(e) for e in again]) if again else []
    found = {e["id"]: score for e, score in zip(again, read, strict=True)}
    return Graded([found.get(e["id"], e["relevance"]) for e in items], CORRECT, relevance.LOWER)


async def passages(run: RunContext, query: str, passages: Sequence[Passage]) -> list[float]:
    """Return the absolute relevance of passages, in [-1, 1]."""
    return await relevances(await run.library(), query, passages)
