"""Decide without a model whether to search again: only where nothing relevant was found, and elsewhere."""

from __future__ import annotations

from ragweave.components.knowledge import Decision, Knowledge
from ragweave.components.run_context import RunContext


async def reason(run: RunContext, known: Knowledge) -> Decision:
    """Return the first query, or the same query for the corpora that were not searched; else nothing more.

    CRAG corrects an incorrect retrieval (section 4.2). Without a model that reads, what can be corrected is where the
    query was sent.
    """
    if not known.hops:
        return Decision(query=known.question)
    if not known.unsearched or any(e["relevance"] >= known.lower for e in known.rows):
        return Decision()
    missing = "nothing relevant was found in the corpora that were searched"
    return Decision(missing=missing, query=known.hops[-1]["query"], again=True)
