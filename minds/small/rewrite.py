"""Put a query into the forms that the retrievers of recordings ask for, by rule."""

from __future__ import annotations

import re

from ragweave.minds.contracts import Forms
from ragweave.minds.desk import Desk
from ragweave.models.text import clip, content_terms

LONGEST = 400
"""Characters of a form; a longer one is prose about it."""
KEYWORDS = 12
_ASKS = re.compile(
    r"^\W*(?:(?:and|so|but|then)\s+)?"
    r"(?:who|whom|whose|when|where|which|what|why|how(?: many| much| long| far| often)?"
    r"|(?:can|could|would) you|tell me|show me|do you know)\b"
    r"(?:\s+(?:is|are|was|were|do|does|did|has|have|had|can)\b)?\s*",
    re.I,
)


async def rewrite(desk: Desk, query: str) -> Forms:
    """Return the query without its question words, and its content words; the desk is not needed."""
    bare = _ASKS.sub("", query).strip(" ?？")
    words = [w for part in query.split() if (w := part.strip("?,.!;:？\"'“”()")) and content_terms(w)]
    return {"statement": clip(bare or query, LONGEST), "scene": " ".join(words) or query, "keywords": words[:KEYWORDS]}
