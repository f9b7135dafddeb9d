"""Recall what the chat model itself knows, as a flagged passage (Auto-RAG, Algorithm 2)."""

from __future__ import annotations

from ragweave.minds.evidence import TEXT_LIMIT, Evidence
from ragweave.minds.mind import Made
from ragweave.minds.passages import as_strip
from ragweave.models.text import clip
from ragweave.nodes.run import NodeRuntime, Run
from ragweave.nodes.state import State, Update

TITLE = "The model's own knowledge"


async def recall(state: State, runtime: NodeRuntime) -> Update:
    """Return one parametric passage. It is marked as the model's own, ordered last, and never cited as a source."""
    run = Run("recall", state, runtime)
    count = state.get("recalls", 0) + 1
    ask = run.minds.recaller
    made = await ask(run, state["question"], state["query"]) if ask is not None else Made("", "small")
    if not made.value:
        return run.done("the model knows nothing about it", made, recalls=count)
    row: Evidence = {
        "id": f"model-{state['turn'][:8]}-{count}",
        "corpus": "model",
        "origin": "model",
        "title": TITLE,
        "text": clip(made.value, TEXT_LIMIT),
        "locator": {"kind": "model"},
        "query": state["query"],
        "hop": state["hop"],
        "score": 0.0,
        "relevance": 0.0,
        "date": "",
    }
    return run.done(clip(made.value, 120), made, recalls=count, evidence=[row], knowledge=[as_strip(row)])
