"""Judge the merged clips: one batched filter over what was said, shown and described (VideoRAG, section 3.2)."""

from __future__ import annotations

from ragweave.components.clips import filter_clips
from ragweave.components.evidence import RankedList
from ragweave.components.passages import passage_of
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import Update, VideoState


async def judge(state: VideoState, runtime: NodeRuntime) -> Update:
    """Return the clips that were kept, as one ranked list in the order in which they came.

    A filter may only take away what is surely of no use. A verdict of its evaluator goes along, so that
    `grade` need not ask about the same clip again.
    """
    run = NodeRun("judge", state, runtime)
    query, clips = state["query"], state.get("clips", [])
    items = await (await run.library()).items(clips)
    held = [i for i in clips if i in items]
    if not held:
        return run.done("no clip to judge", data={"clips": []}, clips=[])
    made = await filter_clips(run, query, [passage_of(items[i], query) for i in held])
    kept = [held[n] for n in made.value.places]
    worth = dict(zip(clips, state.get("scores", []), strict=False))
    scores = [worth.get(i, 0.0) for i in kept]
    row: RankedList = {"corpus": "clip", "query": query, "kind": "pooled", "ids": kept, "scores": scores}
    if made.value.verdicts:
        row["verdicts"] = [made.value.verdicts[n] for n in made.value.places]
    told = f"{len(kept)} of {counted(len(held), 'clip')} kept"
    return run.done(told, made, data={"clips": kept, "of": len(held)}, clips=kept, found=[row])
