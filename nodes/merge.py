"""Merge the ranked lists of the retrievers of recordings, clips of the likeliest recordings first."""

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
from ragweave.nodes.state import ClipList, Retriever, Update, VideoState

WEIGHTS: Mapping[Retriever, float] = {"speech": 1.0, "chunk": 0.45, "entity": 0.5, "visual": 0.5}
"""Weight of a retriever's list; speech and text on the screen count most (docs/video.md)."""
CLIPS = 12
"""Clips that are kept of the merged list."""
RECORDING = 0.2
"""Weight of a recording in the score of its clip (UniversalRAG mixes whole and part as 0.2 and 0.8)."""


async def merge(state: VideoState, runtime: NodeRuntime) -> Update:
    """Return the best clips over all retrievers, and the recordings if the corpus `video` is searched.

    The lists are joined by reciprocal ranks: an empty list takes nothing from the others.
    """
    run = NodeRun("merge", state, runtime, by="rrf")
    lists = _by_retriever(state.get("ranked", []))
    joined = _joined(lists)
    library = await run.library()
    items = await library.items(_ids(joined))
    whole = await library.items(lists.get("video", []))
    recordings: list[str] = []
    named: list[tuple[str, str]] = []
    for i in lists.get("video", []):
        if i in whole:
            recordings.append(i)
            named.append((whole[i].source, whole[i].title))
    best = mixed(joined, items, named)[:CLIPS]
    found: list[RankedList] = []
    if "video" in state.get("corpora", []) and recordings:
        found.append(_recordings(state["query"], recordings))
    chunked = await _chunked(run, library, lists.get("chunk", []))
    if chunked:
        found.append(_neighbours(state["query"], chunked))
    retrievers = counted(len(lists.keys() & WEIGHTS.keys()), "retriever")
    summary = f"{len(best)} of {counted(len(joined), 'clip')}, from {retrievers}"
    clips = _ids(best)
    scores = [round(score, 6) for _, score in best]
    return run.done(summary, data={"clips": clips}, clips=clips, scores=scores, found=found)


def _by_retriever(ranked: Sequence[ClipList]) -> dict[Retriever, list[str]]:
    lists: dict[Retriever, list[str]] = {}
    for row in ranked:
        lists[row["retriever"]] = row["ids"]
    return lists


def _joined(lists: Mapping[Retriever, Sequence[str]]) -> Ranking:
    """Fuse the lists of clips by their weighted reciprocal ranks."""
    weighted: list[tuple[float, Ranking]] = []
    for retriever, ids in lists.items():
        if retriever in WEIGHTS:
            unscored = [(i, 0.0) for i in ids]
            weighted.append((WEIGHTS[retriever], unscored))
    return fuse_ranks(weighted)


def _ids(ranking: Ranking) -> list[str]:
    return [i for i, _ in ranking]


def _recordings(query: str, ids: list[str]) -> RankedList:
    """Return recordings as a list of their own, scored by their reciprocal ranks."""
    scores = [1.0 / n for n in range(1, len(ids) + 1)]
    return {"corpus": "video", "query": query, "kind": "pooled", "ids": ids, "scores": scores}


def _neighbours(query: str, ids: list[str]) -> RankedList:
    """Return clips that a writer reads in addition to those that the retrievers found."""
    return {"corpus": "clip", "query": query, "kind": "beside", "ids": ids, "scores": []}


async def _chunked(run: NodeRun, library: Library, ranking: Sequence[str]) -> list[str]:
    """Return the clips of the chunks nearest to the query, chunk by chunk (VideoRAG, section 3.3)."""
    if not run.context.method.chunk_tokens:
        return []
    within = Scope(start=run.context.from_time, end=run.context.to_time)
    ranked = await library.items(ranking)
    clips: dict[str, Item] = {}
    sources = [item.source for item in ranked.values()]
    for source in dict.fromkeys(sources):
        for clip in await library.items_of(source, "clip"):
            clips[clip.id] = clip
    chunks = await asyncio.to_thread(chunks_of, clips.values())
    found: list[str] = []
    for chunk in best_chunks(chunks, ranking, run.context.method.chunk_tokens):
        for i in chunk.clips:
            if within.in_time(clips[i].locator):
                found.append(i)
    return found


def mixed(clips: Ranking, items: Mapping[str, Item], recordings: Sequence[tuple[str, str]]) -> Ranking:
    """Mix the score of each clip with that of its recording as 0.8 and 0.2, both as shares of the best.

    Args:
        clips: (id, score), best first.
        items: the clips that the library still holds.
        recordings: (source, title), the likeliest first; if there are none the clips keep their scores.
    """
    known = []
    for i, score in clips:
        if i in items:
            known.append((i, score))
    if not known or not recordings:
        return known
    shares: dict[tuple[str, str], float] = {}
    for n, recording in enumerate(recordings, 1):
        shares.setdefault(recording, 1.0 / n)
    top = known[0][1]
    scores: dict[str, float] = {}
    for i, score in known:
        share = shares.get((items[i].source, items[i].title), 0.0)
        scores[i] = (1 - RECORDING) * score / top + RECORDING * share
    return ordered(scores)
