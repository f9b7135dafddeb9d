"""Judge the pooled clips: one batched filter over what was said, shown and described (VideoRAG, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.runtime import Runtime

from ragweave.minds.context import Context
from ragweave.minds.contracts import Made
from ragweave.minds.evidence import RankedList
from ragweave.minds.passages import passage_of
from ragweave.nodes.retrieve_video import VideoState
from ragweave.nodes.run import Run
from ragweave.nodes.state import State, Update

FLOOR = -0.85
"""Relevance in [-1, 1] below which a clip is filtered out; a language model's `irrelevant` lies below it."""
AT_LEAST = 5
"""Clips that stay where the small judge keeps fewer, the best of the pool: paraphrase looks irrelevant to it."""


async def judge(state: VideoState, runtime: Runtime[Context]) -> Update:
    """Return the clips that were kept, as one ranked list in the order of the pool.

    All clips go to the judge in one call. Where it keeps few, the best of the pool stay: a filter may only take away
    what is surely of no use, and `grade` judges what is left. What a language model calls irrelevant goes, unless it
    calls everything so.
    """
    run = Run.of("judge", State(turn=state.get("turn", ""), hop=state.get("hop", 1)), runtime)
    query, clips = state["query"], state.get("clips", [])
    library = await run.library()
    items = await library.items(clips)
    held = [i for i in clips if i in items]
    passages = [passage_of(items[i], query) for i in held]
    judged: Made[list[float]] = Made([], "small")
    if passages:
        judged = await run.minds.passage_evaluator(run, query, passages)
    kept = select(held, judged.value, strict=judged.by == "llm")
    worth = dict(zip(clips, state.get("scores", []), strict=False))
    row: RankedList = {
        "corpus": "clip",
        "query": query,
        "kind": "pooled",
        "ids": kept,
        "scores": [worth.get(i, 0.0) for i in kept],
    }
    summary = f"{len(kept)} of {len(held)} clips kept" if held else "no clip to judge"
    return run.done(summary, judged, data={"clips": kept}, clips=kept, found=[row] if kept else [])


def select(clips: Sequence[str], scores: Sequence[float], strict: bool = False) -> list[str]:
    """Return the clips at or above the floor and the best of the pool up to AT_LEAST, in the order of the pool.

    Args:
        clips: the pool, best first.
        scores: their relevance.
        strict: add nothing where any clip reaches the floor.
    """
    kept = [i for i, s in zip(clips, scores, strict=True) if s >= FLOOR]
    if strict and kept:
        return kept
    added = [i for i in clips if i not in kept][: max(0, AT_LEAST - len(kept))]
    return [i for i in clips if i in kept or i in added]
