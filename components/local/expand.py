"""Tell whether further phrasings are needed, by a first look; without a model there are none."""

from __future__ import annotations

from ragweave.components.passages import passage_of, relevances
from ragweave.components.run_context import RunContext, within

FIRST_LOOK = 5
"""Hits of each list that the gate reads."""
STRONG = 0.7
"""Relevance of the best first hit from which rewrites are skipped: half the calls for .005 recall (docs/results.md)."""


async def expand(run: RunContext, query: str) -> list[str]:
    """Return no phrasing: rules that cut a question into clauses or keywords were measured as no help."""
    return []


async def strong(run: RunContext, query: str) -> bool:
    """Tell whether one plain search already finds a paragraph that answers."""
    library = await run.library()
    if not (await library.counts()).get("paragraph"):
        return False
    (lists,) = await library.search("paragraph", [query], FIRST_LOOK, (await within(run)).sources)
    items = await library.items([h.id for h in (*lists.lexical, *lists.dense)])
    read = await relevances(library, query, [passage_of(i, query) for i in items.values()]) if items else []
    return max(read, default=-1.0) >= STRONG
