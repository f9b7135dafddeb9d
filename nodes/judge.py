"""Filter the merged clips by speech, text on screen and captions, in one batch (VideoRAG, section 3.2)."""

from __future__ import annotations

from ragweave.components.clips import filter_clips
from ragweave.components.evidence import RankedList
from ragweave.components.passages import passage_of
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import Update, VideoState


async def judge(state: VideoState, runtime: NodeRuntime) -> Update:
    """Return the remaining clips as one ranked list, in their order.

    The filter removes only clips that are certainly useless. The verdicts of its evaluator are kept, so that
    `grade` need not score the same clips again.
    """
    run = NodeRun("judge", state, runtime)
    query, clips = state["query"], state.get("clips", [])
    items = await (await run.library()).items(clips)
    held = []
    for clip in clips:
        if clip in items:
            held.append(clip)
    if not held:
        return run.done("no clip to judge", data={"clips": []}, clips=[])
    made = await filter_clips(run, query, [passage_of(items[clip], query) for clip in held])
    worth = dict(zip(clips, state.get("scores", []), strict=False))
    kept: list[str] = []
    scores: list[float] = []
    for n in made.value.places:
        kept.append(held[n])
        scores.append(worth.get(held[n], 0.0))
    row: RankedList = {"corpus": "clip", "query": query, "kind": "pooled", "ids": kept, "scores": scores}
    if made.value.verdicts:
        row["verdicts"] = [made.value.verdicts[n] for n in made.value.places]
    summary = f"{len(kept)} of {counted(len(held), 'clip')} kept"
    return run.done(summary, made, data={"clips": kept, "of": len(held)}, clips=kept, found=[row])
