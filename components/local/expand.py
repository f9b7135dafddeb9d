"""Expand without a model: there are no phrasings."""

from __future__ import annotations

from ragweave.components.run_context import RunContext


async def expand(run: RunContext, query: str) -> list[str]:
    """Return no phrasing: rules that cut a question into clauses or keywords were measured as no help."""
    return []
