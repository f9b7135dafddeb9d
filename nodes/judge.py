"""Judge the pooled clips: one batched filter over what was said, shown and described (VideoRAG, section 3.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langgraph.runtime import Runtime

from ragweave.models import relevance
from ragweave.nodes.context import Context
from ragweave.nodes.evaluators import judge as score
from ragweave.nodes.passages import idf_of, passage_of
from ragweave.nodes.retrieve_video import VideoState
from ragweave.nodes.run import Run
from ragweave.nodes.state import RankedList, State, Update

FLOOR = -0.85
"""Relevance in [-1, 1] below which a clip is filtered out; a language model's `irrelevant` lies below it."""
AT_LEAST = 3
"""Clips that stay, the best of the pool, where the filter would keep none."""


async def judge(state: VideoState, runtime: Runtime[Context]) -> Update:
    """Return the clips that were kept, as one ranked list in the order of the pool.

    All clips go to the judge in one call. Where it keeps none, the best three of the pool stay: a filter may only
    take away what is surely of no use, and `grade` judges what is left.
    """
    run = Run.of("judge", State(turn=state.get("turn", ""), hop=state.get("hop", 1)), runtime)
    query, clips = state["query"], state.get("clips", [])
    library = await run.library()
    items = await library.items(clips)
    held = [i for i in clips if i in items]
    passages = [passage_of(items[i], query) for i in held]

    async def small() -> list[float]:
        idf = await idf_of(library, query, passages)
        return [float(v) for v in (await asyncio.to_thread(relevance.score, query, passages, idf)).floor]

    judged = await score(run, run.context.grade_by, query, passages, small) if passages else []
    kept, why = select(held, judged)
    worth = dict(zip(clips, state.get("scores", []), strict=False))
    row: RankedList = {
        "corpus": "clip",
        "query": query,
        "kind": "pooled",
        "ids": kept,
        "scores": [worth.get(i, 0.0) for i in kept],
    }
    summary = f"{len(kept)} of {len(held)} clips kept{why}" if held else "no clip to judge"
    return run.done(summary, data={"clips": kept}, clips=kept, found=[row] if kept else [])


def select(clips: Sequence[str], scores: Sequence[float]) -> tuple[list[str], str]:
    """Return the clips at or above the floor, in their order; the best three of the pool where there are none."""
    kept = [i for i, s in zip(clips, scores, strict=True) if s >= FLOOR]
    if kept or not clips:
        return kept, ""
    return list(clips[:AT_LEAST]), ", the best of the pool, because the judge kept none"
