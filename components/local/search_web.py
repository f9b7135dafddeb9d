"""Write a web query by rule: names first, then the other words that carry content."""

from __future__ import annotations

from ragweave.components.run_context import RunContext
from ragweave.models.text import clip, content_terms, names

QUERY_LIMIT = 200
"""Characters of a query."""


async def web_query(run: RunContext, question: str) -> str:
    """Return the question's names, then its other content words: what a person would type."""
    named = names(question)
    inside = set(content_terms(" ".join(named)))
    rest = [w for w in question.split() if (t := content_terms(w)) and not set(t) <= inside]
    return clip(" ".join([*named, *rest]) or question, QUERY_LIMIT).strip(" ?？")
