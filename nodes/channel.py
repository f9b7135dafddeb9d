"""Search the recordings through one channel: a ranked list of clips, or of recordings, or the timeline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langgraph.runtime import Runtime

from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Hit, Item
from ragweave.minds.context import Context
from ragweave.minds.fusion import Ranking, fuse_ranks, fuse_scores, ordered
from ragweave.minds.small.moments import asked_of
from ragweave.models.errors import RagweaveError
from ragweave.nodes.retrieve_video import ChannelList, ChannelTask
from ragweave.nodes.run import Run
from ragweave.nodes.scope import search_within, within
from ragweave.nodes.state import State, Update
from ragweave.nodes.timeline import read_timeline

BESIDE = 0.3
"""Share of a clip's score that the clips right before and after it earn."""
RECORDINGS = 20
"""Recordings that the `video` channel ranks."""


async def channel(task: ChannelTask, runtime: Runtime[Context]) -> Update:
    """Return the list of one channel; one that fails or finds nothing is noted or silent, and the others go on."""
    run = Run.of("channel", State(turn=task.get("turn", ""), hop=task.get("hop", 1)), runtime)
    run.by = task["channel"]
    try:
        library = await run.library()
        if task["channel"] == "timeline":
            return await _timeline(run, library, task)
        ids = await _ids(run, library, task)
    except RagweaveError as error:
        run.note(f"The {task['channel']} channel could not be searched: {error}")
        return run.done(str(error), data={"channel": task["channel"], "clips": []})
    lists: list[ChannelList] = [{"channel": task["channel"], "ids": ids}] if ids else []
    noun = "recordings" if task["channel"] == "video" else "clips"
    return run.done(f"{len(ids)} {noun}", data={"channel": task["channel"], "clips": ids}, lists=lists)


async def _ids(run: Run, library: Library, task: ChannelTask) -> list[str]:
    """Return the ids that one channel ranks, best first."""
    name, sources, pool = task["channel"], task.get("sources", []), run.context.pool
    query, made, titles = task["query"], task["recast"], task.get("titles", [])
    if name == "video":
        (lists,) = await search_within(library, "video", [query], sources, titles, run.context)
        both = [(run.context.dense_weight, _ranking(lists.dense)), (1.0, _ranking(lists.lexical))]
        return [i for i, _ in fuse_scores(both)][:RECORDINGS]
    if name == "speech":
        asked = list(dict.fromkeys([query, " ".join(made["keywords"]) or query]))
        found = await search_within(library, "clip", asked, sources, titles, run.context)
        ranking = fuse_ranks([(1.0, _ranking(lists.lexical)) for lists in found])
    elif name == "chunk":
        asked = list(dict.fromkeys([query, made["statement"]]))
        found = await search_within(library, "clip", asked, sources, titles, run.context)
        ranking = fuse_ranks([(1.0, _ranking(lists.dense)) for lists in found])
    elif name == "visual":
        (lists,) = await search_within(library, "clip", [made["scene"]], sources, titles, run.context)
        ranking = _ranking(lists.visual)
    else:
        text = " . ".join([query, made["statement"], *made["keywords"]])
        ranking = await library.ask_graph(text, made["statement"], pool, sources)
    if not ranking:
        return []
    items = await library.items([i for i, _ in ranking])
    if name == "chunk":
        ranking = beside(ranking, items)
    return [i for i, _ in ranking if i in items and within(items[i], titles, run.context)][:pool]


async def _timeline(run: Run, library: Library, task: ChannelTask) -> Update:
    asked = asked_of(task["query"], task.get("titles", []))
    assert asked is not None  # the channel is asked only then
    told = await read_timeline(library, asked, task, run.context)
    if told is None:
        return run.done(f"“{asked.thing}” is not on the timeline", data={"channel": "timeline", "clips": []})
    ids = list(dict.fromkeys(m["evidence"] for m in told["moments"]))
    if not told["moments"]:
        summary = f"“{told['thing']}” is never mentioned"
        return run.done(summary, data={"channel": "timeline", "clips": []}, timeline=told)
    summary = f"{asked.kind} “{asked.thing}”: {told['total']} moments"
    return run.done(summary, data={"channel": "timeline", "clips": ids}, timeline=told)


def _ranking(hits: Iterable[Hit]) -> Ranking:
    return [(h.id, h.score) for h in hits]


def beside(ranking: Sequence[tuple[str, float]], items: dict[str, Item]) -> Ranking:
    """Let clips that follow each other stand together: what was said just before and after often belongs to it."""
    own = {(items[i].source, items[i].ordinal): score for i, score in ranking if i in items}

    def neighbours(item: Item) -> float:
        return max(own.get((item.source, item.ordinal + step), 0.0) for step in (-1, 1))

    return ordered({i: score + BESIDE * neighbours(items[i]) for i, score in ranking if i in items})
