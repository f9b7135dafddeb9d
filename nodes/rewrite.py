"""Rewrite the query into the forms that the retrievers of recordings ask for (VideoRAG, section 3.2)."""

from __future__ import annotations

from langgraph.types import Send

from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import Retriever, Update, VideoState, VideoTask


async def rewrite(state: VideoState, runtime: NodeRuntime) -> Update:
    """Return the statement, the scene and the keywords of the hop's query."""
    run = NodeRun("rewrite", state, runtime)
    made = await run.components.rewriter(run, state["query"])
    forms = made.value
    told = f"{forms['statement']} | {forms['scene']} | {', '.join(forms['keywords'])}"
    method = run.context.method
    ways: list[Retriever] = [*method.channels, "video"]
    if method.chunk_tokens and "chunk" not in ways:
        ways.append("chunk")  # what a writer reads as well lies around the clips that it finds
    return run.done(told, made, data={"forms": forms}, forms=forms, ways=ways)


def retrievers(state: VideoState) -> list[Send]:
    """Send one task per retriever: those of the context, and the recordings."""
    task = {key: value for key, value in state.items() if key in VideoTask.__annotations__}
    return [Send("retrieve_clips", {**task, "retriever": name}) for name in state["ways"]]
