"""Expand the hop's query: the same question in other words (RAG-Fusion, step 1)."""

from __future__ import annotations

from ragweave.components.ask import Outcome
from ragweave.components.evidence import Phrasings
from ragweave.components.expand import rephrase
from ragweave.components.run_context import rewrites
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update, phrasings_of


async def expand(state: State, runtime: NodeRuntime) -> Update:
    """Return further phrasings of the hop's query, which is not among them.

    A model that fails or cannot be read leaves the query alone. Its replies are cached with their prompt and
    model.
    """
    run = NodeRun("expand", state, runtime)
    made: Outcome[list[str]] = Outcome([], "off")
    if rewrites(run.context):
        made = await rephrase(run, state["query"])
    row: Phrasings = {**phrasings_of(state), "rewrites": made.value, "by": made.by}
    summary = " | ".join(made.value) or "no useful rewrite"
    return run.done(summary, made, data={"phrasings": row}, queries=[row])
