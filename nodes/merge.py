"""Merge the lists of the retrievers of recordings: the union with ranks, clips of the likeliest recordings first."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from ragweave.components.evidence import RankedList
from ragweave.components.fusion import Ranking, fuse_ranks, ordered
from ragweave.components.scope import Scope
from ragweave.corpora.chunks import best_chunks, chunks_of
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import Retriever, Update, VideoState

WEIGHTS: Mapping[Retriever, float] = {"speech": 1.0, "chunk": 0.45, "entity": 0.5, "visual": 0.5}
"""Weight of a retriever's list; words that were said or shown say most (docs/video.md)."""
CLIPS = 12
"""Clips that the lists of all retrievers are pooled to."""
RECORDING = 0.2
"""Weight of the recording beside its clip, which has the rest (UniversalRAG mixes whole and part as 0.2 and 0.8)."""


async def merge(state: VideoState, runtime: NodeRuntime) -> Update:
    """Return the best clips over all retrievers, and the recordings where the whole is asked for.

    The union counts: a retriever that found nothing takes nothing away from the others.
    """
    run = NodeRun("merge", state, runtime, by="rrf")
    lists = {row["retriever"]: row["ids"] for row in state.get("ranked", [])}
    joined = fuse_ranks([(WEIGHTS[r], [(i, 0.0) for i in ids]) for r, ids in lists.items() if r in WEIGHTS])
    library = await run.library()
    items = await library.items([i for i, _ in joined])
    whole = await library.items(lists.get("video", []))
    recordings = [i for i in lists.get("video", []) if i in whole]
    best = mixed(joined, items, [(whole[i].source, whole[i].title) for i in recordings])[:CLIPS]
    found: list[RankedList] = []
    if "video" in state.get("corpora", []) and recordings:
        scores = [1.0 / n for n in range(1, len(recordings) + 1)]
        found = [
            {
                "corpus": "video",
                "query": state["query"],
                "kind": "pooled",
                "ids": recordings,
                "scores": scores,
            }
        ]
    if chunked := await _chunked(run, library, lists.get("chunk", [])):
        found.append(
            {"corpus": "clip", "query": state["query"], "kind": "beside", "ids": chunked, "scores": []}
        )
    retrievers = counted(len(lists.keys() & WEIGHTS.keys()), "retriever")
    told = f"{len(best)} of {counted(len(joined), 'clip')}, from {retrievers}"
    clips, worth = [i for i, _ in best], [round(s, 6) for _, s in best]
    return run.done(told, data={"clips": clips}, clips=clips, scores=worth, found=found)


async def _chunked(run: NodeRun, library: Library, ranking: Sequence[str]) -> list[str]:
    """Return the clips of the chunks that lie nearest to the query, chunk by chunk (VideoRAG, section 3.3)."""
    if not run.context.method.chunk_tokens:
        return []
    within = Scope(start=run.context.from_time, end=run.context.to_time)
    ranked = await library.items(ranking)
    held = [
        await library.items_of(source, "clip") for source in dict.fromkeys(i.source for i in ranked.values())
    ]
    clips = {i.id: i for own in held for i in own}
    chunks = await asyncio.to_thread(chunks_of, clips.values())
    best = best_chunks(chunks, ranking, run.context.method.chunk_tokens)
    return [i for chunk in best for i in chunk.clips if within.in_time(clips[i].locator)]


def mixed(clips: Ranking, items: Mapping[str, Item], recordings: Sequence[tuple[str, str]]) -> Ranking:
    """Add to each clip what its recording earned, 0.2 to 0.8; both as shares of the best.

    Recordings are (source, title), the likeliest first; with none of them the clips stand alone.
    """
    known = [(i, s) for i, s in clips if i in items]
    if not known or not recordings:
        return known
    top = known[0][1]
    share = {key: 1.0 / (n + 1) for n, key in reversed(list(enumerate(recordings)))}
    return ordered(
        {
            i: (1 - RECORDING) * s / top + RECORDING * share.get((items[i].source, items[i].title), 0.0)
            for i, s in known
        }
    )
