"""Search the recordings with one retriever: a ranked list of clips, or of recordings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragweave.components.fusion import Ranking, fuse_ranks, fuse_scores, ordered
from ragweave.corpora.knowledge.search import ask_graph
from ragweave.corpora.store.library import Kind, Library
from ragweave.corpora.types import Hit, Item
from ragweave.corpora.video.scope import Scope, search_within
from ragweave.models.errors import RagweaveError
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import ClipTask, Update

BESIDE = 0.3
"""Share of a clip's score that the clips right before and after it earn."""
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
        ids = await _ids(run, library, task, scope)
    except RagweaveError as error:
        run.note(f"The retriever {name} of the recordings failed: {error}")
        return run.done(str(error), data={"retriever": name, "clips": []})
    told = counted(len(ids), "recording" if name == "video" else "clip")
    data = {"retriever": name, "clips": ids}
    return run.done(told, data=data, lists=[{"retriever": name, "ids": ids}] if ids else [])


async def _ids(run: NodeRun, library: Library, task: ClipTask, scope: Scope) -> list[str]:
    """Return the ids that one retriever ranks, best first."""
    name, query, forms, length = task["retriever"], task["query"], task["forms"], run.context.method.pool
    if name == "video":
        (lists,) = await search_within(library, "video", [query], scope, length)
        dense, words = _ranking(lists.dense), _ranking(lists.lexical)
        both = fuse_scores([(run.context.method.dense_weight, dense, None), (1.0, words, 0.0)])
        return [i for i, _ in both][:RECORDINGS]
    if name == "entity":
        text = " . ".join([query, forms["statement"], *forms["keywords"]])
        ranking = await ask_graph(library, text, forms["statement"], length, scope.sources)
    else:
        ways: dict[str, tuple[Kind, list[str]]] = {
            "speech": ("lexical", [query, " ".join(forms["keywords"]) or query]),
            "chunk": ("dense", [query, forms["statement"]]),
            "visual": ("visual", [forms["scene"]]),
        }
        kind, asked = ways[name]
        found = await search_within(library, "clip", list(dict.fromkeys(asked)), scope, length, kind)
        ranking = fuse_ranks([(1.0, _ranking(getattr(lists, kind))) for lists in found])
    items = await library.items([i for i, _ in ranking])
    if name == "chunk":
        ranking = beside(ranking, items)
    return [i for i, _ in ranking if i in items and scope.holds(items[i])][:length]


def _ranking(hits: Iterable[Hit]) -> Ranking:
    return [(h.id, h.score) for h in hits]


def beside(ranking: Sequence[tuple[str, float]], items: dict[str, Item]) -> Ranking:
    """Let clips that follow each other stand together: what was said just before and after often belongs to it."""
    own = {(items[i].source, items[i].ordinal): score for i, score in ranking if i in items}

    def neighbours(item: Item) -> float:
        return max(own.get((item.source, item.ordinal + step), 0.0) for step in (-1, 1))

    return ordered({i: score + BESIDE * neighbours(items[i]) for i, score in ranking if i in items})
