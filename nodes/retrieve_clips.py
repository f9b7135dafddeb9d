"""Search the recordings with one retriever: a ranked list of clips, or of recordings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragweave.components.fusion import Ranking, dense_weight, fuse_ranks, fuse_scores
from ragweave.components.scope import Scope, at_moment, clips_within, search_within
from ragweave.corpora.chunks import Chunk
from ragweave.corpora.knowledge.search import ask_graph
from ragweave.corpora.store.library import Kind, Library
from ragweave.corpora.types import Hit
from ragweave.corpora.video.chunk_search import nearest_chunks
from ragweave.models.errors import RagweaveError
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import ClipTask, Update

RECORDINGS = 20
"""Largest number of recordings that the retriever `video` returns."""


async def retrieve_clips(task: ClipTask, runtime: NodeRuntime) -> Update:
    """Return the list of one retriever; a failure is noted, and the other retrievers continue."""
    name = task["retriever"]
    run = NodeRun("retrieve_clips", task, runtime, by=name)
    sources, titles = tuple(task.get("sources", [])), tuple(task.get("titles", []))
    scope = Scope(sources, titles, run.context.from_time, run.context.to_time)
    try:
        library = await run.library()
        ids = await _ids(run, library, task, await at_moment(library, task["query"], scope))
    except RagweaveError as error:
        run.note(f"The retriever {name} of the recordings failed: {error}")
        return run.done(str(error), data={"retriever": name, "clips": []})
    summary = counted(len(ids), "recording" if name == "video" else "clip")
    data = {"retriever": name, "clips": ids}
    return run.done(summary, data=data, ranked=[{"retriever": name, "ids": ids}] if ids else [])


async def _ids(run: NodeRun, library: Library, task: ClipTask, scope: Scope) -> list[str]:
    """Return the ids that one retriever ranks, best first."""
    name, query, forms, length = task["retriever"], task["query"], task["forms"], run.context.method.pool
    if name == "video":
        return await _of_recordings(run, library, query, scope)
    if name == "chunk":
        return await _of_chunks(run, library, [query, forms["statement"]], scope)
    if name == "entity":
        text = " . ".join([query, forms["statement"], *forms["keywords"]])
        ranking = await ask_graph(library, text, forms["statement"], length, scope.sources)
    elif name == "speech":
        queries = [query, " ".join(forms["keywords"]) or query]
        ranking = await _of_clips(library, queries, scope, length, "lexical")
    else:
        ranking = await _of_clips(library, [forms["scene"]], scope, length, "visual")
    ids = await _in_scope(library, _ids_of(ranking), scope)
    # The clips at a moment that the question names are found whatever its other words are.
    if name == "speech" and scope.names_moment:
        ids = list(dict.fromkeys([*ids, *await clips_within(library, scope)]))
    return ids[:length]


async def _of_recordings(run: NodeRun, library: Library, query: str, scope: Scope) -> list[str]:
    """Return the recordings of a query by words and by meaning."""
    (lists,) = await search_within(library, "video", [query], scope, run.context.method.pool)
    dense, words = _ranking(lists.dense), _ranking(lists.lexical)
    both = fuse_scores([(dense_weight(run.context), dense, None), (1.0, words, 0.0)])
    return _ids_of(both)[:RECORDINGS]


async def _of_clips(
    library: Library, queries: Sequence[str], scope: Scope, length: int, kind: Kind
) -> Ranking:
    """Return the clips of some queries by one kind of index, fused by their ranks."""
    found = await search_within(library, "clip", list(dict.fromkeys(queries)), scope, length, kind)
    return fuse_ranks([(1.0, _ranking(getattr(lists, kind))) for lists in found])


async def _in_scope(library: Library, ids: Sequence[str], scope: Scope) -> list[str]:
    """Return the ids of clips in a scope, in their order."""
    items = await library.items(ids)
    kept: list[str] = []
    for i in ids:
        if i in items and scope.holds(items[i]):
            kept.append(i)
    return kept


def _ids_of(ranking: Ranking) -> list[str]:
    return [i for i, _ in ranking]


def _ranking(hits: Iterable[Hit]) -> Ranking:
    return [(hit.id, hit.score) for hit in hits]


async def _of_chunks(run: NodeRun, library: Library, queries: list[str], scope: Scope) -> list[str]:
    """Return the clips of the nearest chunks, chunk by chunk, the nearest clips of a chunk first."""
    length = run.context.method.pool
    distinct = list(dict.fromkeys(queries))
    chunks: dict[str, Chunk] = {}
    rankings: list[tuple[float, Ranking]] = []
    for found in await nearest_chunks(library, distinct, length, scope.sources):
        ranking: list[tuple[str, float]] = []
        for chunk, cosine in found:
            chunks[chunk.id] = chunk
            ranking.append((chunk.id, cosine))
        rankings.append((1.0, ranking))
    best = fuse_ranks(rankings)
    nearest = await _of_clips(library, distinct, scope, length, "dense")
    place = {}
    for n, (clip, _) in enumerate(nearest):
        place[clip] = n
    ids: list[str] = []
    for key, _ in best:
        ids += sorted(chunks[key].clips, key=lambda clip: place.get(clip, length))
    return (await _in_scope(library, list(dict.fromkeys(ids)), scope))[:length]
