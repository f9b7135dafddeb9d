"""What the chat model itself knows, as one passage: closed-book generation (Auto-RAG, Algorithm 2)."""

from __future__ import annotations

from ragweave.components.run_context import RunContext
from ragweave.prompts import load


async def recall(run: RunContext, question: str, query: str) -> str:
    """Return a passage from the model's memory, or "" where it knows nothing."""
    text = await run.text(load("recall", question=question, query=query), "writer")
    return "" if text.upper().startswith("UNKNOWN") else text


async def nothing(run: RunContext, question: str, query: str) -> str:
    """Recall nothing: without a model there is no memory."""
    return ""
