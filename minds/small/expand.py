"""Tell whether further phrasings are needed, by a first look; the small mind makes none, the query alone is safer."""

from __future__ import annotations

from ragweave.minds.desk import Desk, within
from ragweave.minds.passages import floors, passage_of

FIRST_LOOK = 5
"""Hits of each list that the gate reads."""
STRONG = 0.7
"""Relevance of the best first hit from which rewrites are skipped: half the calls for .005 recall (docs/fusion.md)."""


async def expand(desk: Desk, query: str) -> list[str]:
    """Return no phrasing: rules that cut a question into clauses or keywords were measured as no help."""
    return []


async def strong(desk: Desk, query: str) -> bool:
    """Tell whether one plain search already finds a paragraph that answers."""
    library = await desk.library()
    if not (await library.counts()).get("paragraph"):
        return False
    (lists,) = await library.search("paragraph", [query], FIRST_LOOK, (await within(desk)).sources)
    items = await library.items([h.id for h in (*lists.lexical, *lists.dense)])
    read = await floors(library, query, [passage_of(i, query) for i in items.values()]) if items else []
    return max(read, default=-1.0) >= STRONG
