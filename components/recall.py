"""Generate a passage from the chat model's own knowledge: closed-book (Auto-RAG, Algorithm 2)."""

from __future__ import annotations

from ragweave.components.ask import Outcome, first_of, model_of
from ragweave.components.context import Context
from ragweave.components.run_context import RunContext
from ragweave.prompts import load


def has_memory(context: Context) -> bool:
    """Return whether the run has a model with knowledge of its own."""
    return model_of(context, "writer") is not None


async def recall_passage(run: RunContext, question: str, query: str) -> Outcome[str]:
    """Return a passage from the model's memory, or "" if it knows nothing."""
    return await first_of(run, model_of(run.context, "writer"), by_model, nothing, question, query)


async def by_model(run: RunContext, question: str, query: str) -> str:
    """Return the passage of the model, or "" if it replies UNKNOWN."""
    text = await run.text(load("recall", question=question, query=query), "writer")
    return "" if text.upper().startswith("UNKNOWN") else text


async def nothing(run: RunContext, question: str, query: str) -> str:
    """Recall nothing: without a model there is no memory."""
    return ""
