"""Grade by the shipped relevance head: the scores that `fuse` ordered by are its verdict."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragweave.minds.contracts import Graded
from ragweave.minds.desk import Desk
from ragweave.minds.evidence import Evidence
from ragweave.minds.passages import floors, reading
from ragweave.models import relevance
from ragweave.models.relevance import Passage


async def grade(desk: Desk, query: str, items: Sequence[Evidence], reread: Collection[str]) -> Graded:
    """Return the relevance of each item; read again are only those whose text has changed."""
    again = [e for e in items if e["id"] in reread]
    read = await floors(await desk.library(), query, [reading(e) for e in again]) if again else []
    found = {e["id"]: score for e, score in zip(again, read, strict=True)}
    return Graded([found.get(e["id"], e["relevance"]) for e in items], relevance.UPPER, relevance.LOWER)


async def passages(desk: Desk, query: str, passages: Sequence[Passage]) -> list[float]:
    """Return the absolute relevance of passages, in [-1, 1]."""
    return await floors(await desk.library(), query, passages)
