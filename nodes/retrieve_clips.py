"""Search the recordings with one retriever: a ranked list of clips, or of recordings."""

from __future__ import annotations

from collections.abc import Iterable

from ragweave.components.fusion import Ranking, dense_weight, fuse_ranks, fuse_scores
from ragweave.components.scope import Scope, at_moment, clips_within, search_within
from ragweave.corpora.knowledge.search import ask_graph
from ragweave.corpora.store.library import Kind, Library
from ragweave.corpora.types import Hit
from ragweave.corpora.video.chunk_search import nearest_chunks
from ragweave.models.errors import RagweaveError
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import ClipTask, Update

RECORDINGS = 20
"""Recordings that the retriever `video` ranks."""


async def retrieve_clips(task: ClipTask, runtime: NodeRuntime) -> Update:
    """Return the list of one retriever; one that fails or finds nothing is noted or silent, and the others go on."""
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
    told = counted(len(ids), "recording" if name == "video" else "clip")
    data = {"retriever": name, "clips": ids}
    return run.done(told, data=data, ranked=[{"retriever": name, "ids": ids}] if ids else [])


async def _ids(run: NodeRun, library: Library, task: ClipTask, scope: Scope) -> list[str]:
    """Return the ids that one retriever ranks, best first."""
    name, query, forms, length = task["retriever"], task["query"], task["forms"], run.context.method.pool
    if name == "video":
        (lists,) = await search_within(library, "video", [query], scope, length)
        dense, words = _ranking(lists.dense), _ranking(lists.lexical)
        both = fuse_scores([(dense_weight(run.context), dense, None), (1.0, words, 0.0)])
        return [i for i, _ in both][:RECORDINGS]
    if name == "chunk":
        return await _of_chunks(run, library, [query, forms["statement"]], scope)
    if name == "entity":
        text = " . ".join([query, forms["statement"], *forms["keywords"]])
        ranking = await ask_graph(library, text, forms["statement"], length, scope.sources)
    else:
        ways: dict[str, tuple[Kind, list[str]]] = {
            "speech": ("lexical", [query, " ".join(forms["keywords"]) or query]),
            "visual": ("visual", [forms["scene"]]),
        }
        kind, asked = ways[name]
        found = await search_within(library, "clip", list(dict.fromkeys(asked)), scope, length, kind)
        ranking = fuse_ranks([(1.0, _ranking(getattr(lists, kind))) for lists in found])
    items = await library.items([i for i, _ in ranking])
    ids = [i for i, _ in ranking if i in items and scope.holds(items[i])]
    # A moment of a recording is asked for itself, whatever words the question has.
    if name == "speech" and scope.names_moment:
        ids = list(dict.fromkeys([*ids, *await clips_within(library, scope)]))
    return ids[:length]


def _ranking(hits: Iterable[Hit]) -> Ranking:
    return [(h.id, h.score) for h in hits]


async def _of_chunks(run: NodeRun, library: Library, queries: list[str], scope: Scope) -> list[str]:
    """Return the clips of the nearest chunks, chunk by chunk, and of each its nearest clips first."""
    length = run.context.method.pool
    asked = list(dict.fromkeys(queries))
    near = await nearest_chunks(library, asked, length, scope.sources)
    chunks = {chunk.id: chunk for found in near for chunk, _ in found}
    best = fuse_ranks([(1.0, [(chunk.id, cosine) for chunk, cosine in found]) for found in near])
    clips = await search_within(library, "clip", asked, scope, length, "dense")
    place = {i: n for n, (i, _) in enumerate(fuse_ranks([(1.0, _ranking(lists.dense)) for lists in clips]))}
    ids = [i for key, _ in best for i in sorted(chunks[key].clips, key=lambda i: place.get(i, length))]
    items = await library.items(list(dict.fromkeys(ids)))
    return [i for i in dict.fromkeys(ids) if i in items and scope.holds(items[i])][:length]
