"""Plan the hop's searches: the only dispatcher of the graph."""

from __future__ import annotations

from langgraph.runtime import Runtime
from langgraph.types import Send

from ragweave.corpora.types import CORPORA, Corpus
from ragweave.nodes.context import Context
from ragweave.nodes.run import Run
from ragweave.nodes.state import RetrieveTask, State, Update

WITHOUT_ROUTER: tuple[Corpus, ...] = ("paragraph", "image", "clip")
"""What a graph without a router searches: the finest granularity of each modality."""


async def plan(state: State, runtime: Runtime[Context]) -> Update:
    """Return one task per corpus, each with every phrasing; none where no retrieval is wanted."""
    run = Run.of("plan", state, runtime)
    run.by = "rule"
    corpora = await _corpora(state, run)
    asked = next((q for q in reversed(state.get("queries", [])) if q["hop"] == state["hop"]), None)
    queries = [state["query"], *(asked["rewrites"] if asked else [])]
    tasks: list[RetrieveTask] = [
        {
            "library": run.context.library,
            "corpus": corpus,
            "queries": queries,
            "pool": run.context.pool,
            "hop": state["hop"],
            "sources": list(run.context.sources),
        }
        for corpus in corpora
    ]
    phrased = f"{len(queries)} phrasing{'s' if len(queries) > 1 else ''}"
    summary = f"search {', '.join(corpora)} with {phrased}" if tasks else "nothing to search"
    return run.done(summary, data={"corpora": corpora, "queries": queries}, tasks=tasks)


async def _corpora(state: State, run: Run) -> list[Corpus]:
    routed = next((r for r in reversed(state.get("routes", [])) if r["hop"] == state["hop"]), None)
    if routed is not None and run.context.max_hops > 0:
        return [c for c in CORPORA if c in routed["corpora"]]
    if run.context.max_hops == 0:
        return []
    held = await (await run.library()).counts()
    wanted = run.context.corpora or WITHOUT_ROUTER
    return [c for c in CORPORA if c in wanted and held.get(c)]


def dispatch(state: State, otherwise: str = "generate") -> list[Send] | str:
    """Send one task per corpus, or go straight on where there is nothing to search."""
    return [Send("retrieve", task) for task in state["tasks"]] or otherwise
