"""What the chat model itself knows, as one passage: closed-book generation (Auto-RAG, Algorithm 2)."""

from __future__ import annotations

from ragweave.minds.desk import Desk
from ragweave.prompts import load


async def recall(desk: Desk, question: str, query: str) -> str:
    """Return a passage from the model's memory, or "" where it knows nothing."""
    text = await desk.text(load("recall", question=question, query=query), "writer")
    return "" if text.upper().startswith("UNKNOWN") else text


async def nothing(desk: Desk, question: str, query: str) -> str:
    """Recall nothing: the small mind has no memory of its own."""
    return ""
