"""Rewrite the query into the forms for the retrievers of recordings (VideoRAG, section 3.2)."""

from __future__ import annotations

from langgraph.types import Send

from ragweave.components.evidence import Route
from ragweave.components.rewrite import forms_of
from ragweave.components.run_context import searched_within
from ragweave.components.scope import named_scope
from ragweave.corpora.types import Corpus
from ragweave.nodes.route import RECORDINGS
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import NO_ROUTER, ClipSearch, Retriever, Update, VideoState


async def rewrite(state: VideoState, runtime: NodeRuntime) -> Update:
    """Return the statement, scene and keywords of the hop's query, and the recordings to search."""
    run = NodeRun("rewrite", state, runtime)
    corpora = await _corpora(run, state)
    routes: list[Route] = []
    if "corpora" not in state:
        why = "this graph asks no router"
        routes = [Route(hop=run.hop, corpora=list(corpora), confidence={}, by=NO_ROUTER, why=why)]
    scope = await searched_within(run) if corpora and run.context.max_hops else None
    if scope is None:
        if not corpora:
            run.note(
                "The library holds no recordings; index a video, a sound file or a transcript with times."
            )
        return run.done("nothing to search", ways=[], routes=routes)
    scope = await named_scope(await run.library(), state["query"], scope)
    made = await forms_of(run, state["query"])
    forms = made.value
    summary = f"{forms['statement']} | {forms['scene']} | {', '.join(forms['keywords'])}"
    ways: list[Retriever] = [*run.context.method.channels, "video"]
    if run.context.method.chunk_tokens and "chunk" not in ways:
        ways.append("chunk")  # a writer also reads the clips around those that it finds
    within = {"corpora": corpora, "sources": list(scope.sources), "titles": list(scope.titles)}
    return run.done(summary, made, data={"forms": forms}, forms=forms, ways=ways, routes=routes, **within)


async def _corpora(run: NodeRun, state: VideoState) -> list[Corpus]:
    """Return the corpora of recordings that the run searches and that have content."""
    held = await run.held()
    wanted = state.get("corpora") or run.context.corpora or RECORDINGS
    kept: list[Corpus] = []
    for corpus in wanted:
        if corpus in RECORDINGS and corpus in held:
            kept.append(corpus)
    return kept


def retrievers(state: VideoState) -> list[Send] | str:
    """Send one task per retriever: those of the context, and the recordings."""
    task = {}
    for key, value in state.items():
        if key in ClipSearch.__annotations__:
            task[key] = value
    return [Send("retrieve_clips", {**task, "retriever": name}) for name in state["ways"]] or "no search"
