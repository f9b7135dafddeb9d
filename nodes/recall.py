"""Recall what the chat model itself knows, as a flagged passage (Auto-RAG, Algorithm 2)."""

from __future__ import annotations

from ragweave.components.evidence import TEXT_LIMIT, Evidence
from ragweave.components.passages import as_strip
from ragweave.components.recall import recall_passage
from ragweave.models.text import clip
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update, recalls

TITLE = "The model's own knowledge"


async def recall(state: State, runtime: NodeRuntime) -> Update:
    """Return one parametric passage.

    It is marked as the model's own, ordered last, and never cited as a source.
    """
    run = NodeRun("recall", state, runtime)
    made = await recall_passage(run, state["question"], state["query"])
    if not made.value:
        return run.done("the model knows nothing about it", made)
    row: Evidence = {
        "id": f"model-{state['turn']['id'][:8]}-{recalls(state) + 1}",
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
    return run.done(clip(made.value, 120), made, evidence=[row], knowledge=[as_strip(row)])
