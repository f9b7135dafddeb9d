"""Look at the stored frames of the kept clips with the question in mind (VideoRAG, section 3.3)."""

from __future__ import annotations

from ragweave.components.evidence import RankedList
from ragweave.components.look import look_at_clips
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import Update, VideoState


async def look(state: VideoState, runtime: NodeRuntime) -> Update:
    """Return what a vision model sees in each kept clip; a clip that cannot be looked at gets a note."""
    run = NodeRun("look", state, runtime)
    clips = state.get("clips", [])
    items = await (await run.library()).items(clips) if clips else {}
    kept = []
    for clip in clips:
        if clip in items:
            kept.append(items[clip])
    made = await look_at_clips(run, state["query"], state["forms"]["keywords"], kept)
    shown = sum(map(bool, made.value.values()))
    summary = f"{counted(shown, 'clip')} with something in view" if shown else "nothing was seen"
    row: RankedList = {
        "corpus": "clip",
        "query": state["query"],
        "kind": "seen",
        "ids": list(made.value),
        "scores": [],
        "seen": list(made.value.values()),
    }
    return run.done(summary, made, data={"looked": made.value}, found=[row] if made.value else [])
