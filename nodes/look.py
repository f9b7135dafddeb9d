"""Look at the frames of the kept clips with the question in mind (VideoRAG, section 3.3), from stored frames alone."""

from __future__ import annotations

from ragweave.components.evidence import RankedList
from ragweave.components.look import look_at_clips
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import Update, VideoState


async def look(state: VideoState, runtime: NodeRuntime) -> Update:
    """Return what is seen in each kept clip; one that cannot be looked at costs a note, not the others."""
    run = NodeRun("look", state, runtime)
    clips = state.get("clips", [])
    items = await (await run.library()).items(clips) if clips else {}
    kept = [items[i] for i in clips if i in items]
    made = await look_at_clips(run, state["query"], state["forms"]["keywords"], kept)
    shown = sum(map(bool, made.value.values()))
    told = f"{counted(shown, 'clip')} with something in view" if shown else "nothing was seen"
    row: RankedList = {
        "corpus": "clip",
        "query": state["query"],
        "kind": "seen",
        "ids": [*made.value],
        "scores": [],
        "seen": [*made.value.values()],
    }
    return run.done(told, made, data={"looked": made.value}, found=[row] if made.value else [])
