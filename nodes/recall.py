"""Recall what the chat model itself knows, as a flagged passage (Auto-RAG, Algorithm 2)."""

from __future__ import annotations

from langgraph.runtime import Runtime

from ragweave.corpora.types import Locator
from ragweave.minds.context import Context
from ragweave.minds.evidence import TEXT_LIMIT, Evidence
from ragweave.minds.passages import as_strip
from ragweave.models.errors import RagweaveError
from ragweave.models.text import clip
from ragweave.nodes.run import Run
from ragweave.nodes.state import State, Update
from ragweave.prompts import load

TITLE = "The model's own knowledge"


async def recall(state: State, runtime: Runtime[Context]) -> Update:
    """Return one parametric passage. It is marked as the model's own, ordered last, and never cited as a source."""
    run = Run.of("recall", state, runtime)
    count = state.get("recalls", 0) + 1
    model = run.chat("writer")
    text = ""
    if model is not None:
        run.by = "llm"
        messages = load("recall", question=state["question"], query=state["query"])
        try:
            text = (await model.text(messages, node=run.node, meter=run.meter)).strip()
        except RagweaveError as error:
            run.by = "llm failed"
            run.note(f"recall: {error}")
    if not text or text.upper().startswith("UNKNOWN"):
        return run.done("the model knows nothing about it", recalls=count)
    locator: Locator = {"kind": "model"}
    row: Evidence = {
        "id": f"model-{state['turn'][:8]}-{count}",
        "corpus": "model",
        "origin": "model",
        "title": TITLE,
        "text": clip(text, TEXT_LIMIT),
        "locator": locator,
        "query": state["query"],
        "hop": state["hop"],
        "score": 0.0,
        "relevance": 0.0,
        "date": "",
    }
    return run.done(clip(text, 120), recalls=count, evidence=[row], knowledge=[as_strip(row)])
