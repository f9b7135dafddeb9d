"""Put a query into the forms that the retrievers of recordings ask for, without a model."""

from __future__ import annotations

from ragweave.components.protocols import Forms
from ragweave.components.run_context import RunContext
from ragweave.models.text import clip, content_terms

LONGEST = 400
"""Characters of a form; a longer one is prose about it."""
KEYWORDS = 12


async def rewrite(run: RunContext, query: str) -> Forms:
    """Return the query as statement, its content words as scene and keywords."""
    words = [w for part in query.split() if (w := part.strip("?,.!;:？\"'“”()")) and content_terms(w)]
    return {"statement": clip(query, LONGEST), "scene": " ".join(words) or query, "keywords": words[:KEYWORDS]}
