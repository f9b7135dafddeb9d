"""Tell whether further phrasings are needed, by a first look; the small mind makes none, the query alone is safer."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.corpora.store.library import Library
from ragweave.minds.desk import Desk
from ragweave.minds.passages import floors, passage_of

FIRST_LOOK = 5
"""Hits of each list that the gate reads."""
STRONG = 0.7
"""Relevance of the best first hit from which rewrites are skipped: half the calls for .005 recall (docs/fusion.md)."""


async def expand(desk: Desk, query: str) -> list[str]:
    """Return no phrasing: rules that cut a question into clauses or keywords were measured as no help."""
    return []


async def strong(desk: Desk, query: str) -> bool:
    """Tell whether the first retrieval already holds a passage that answers."""
    library = await desk.library()
    if not (await library.counts()).get("paragraph"):
        return False
    return await first_look(library, query, desk.context.sources) >= STRONG


async def first_look(library: Library, query: str, sources: Sequence[str] = ()) -> float:
    """Return the calibrated relevance, in [-1, 1], of the best paragraph that one plain search finds."""
    (lists,) = await library.search("paragraph", [query], FIRST_LOOK, sources)
    items = await library.items([h.id for h in (*lists.lexical, *lists.dense)])
    if not items:
        return -1.0
    return max(await floors(library, query, [passage_of(i, query) for i in items.values()]))
