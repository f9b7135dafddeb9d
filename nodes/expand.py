"""Expand the hop's query into further phrasings (RAG-Fusion, step 1), if its search found nothing sure."""

from __future__ import annotations

from ragweave.components.component import Outcome
from ragweave.components.evidence import Phrasings
from ragweave.components.local.expand import strong
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update

_TOLD = {"gate": "the first look is strong, no rewrites", "off": "rewrites are off"}


async def _found(run: NodeRun, query: str) -> bool:
    """Tell whether a plain search finds what answers, so that no call is spent; without a model there is none."""
    return not run.components.expander.alone and await strong(run, query)


async def expand(state: State, runtime: NodeRuntime) -> Update:
    """Return further phrasings of the hop's query; the query itself is always searched and is not among them.

    A model that fails or cannot be read leaves the query alone. Its replies are cached with their prompt and model.
    """
    run = NodeRun("expand", state, runtime)
    query, context = state["query"], run.context
    if context.phrasings == 0 or context.expand_when == "never":
        made: Outcome[list[str]] = Outcome([], "off")
    elif state.get("grade") or context.expand_when == "always" or not await _found(run, query):
        made = await run.components.expander(run, query)
    else:
        made = Outcome([], "gate")
    row: Phrasings = {"hop": run.hop, "query": query, "rewrites": made.value, "by": made.by}
    summary = " | ".join(made.value) or _TOLD.get(made.by, "no useful rewrite")
    return run.done(summary, made, data={"phrasings": row}, queries=[row])
