"""Retrieve the ranked lists of one corpus for all phrasings."""

from __future__ import annotations

from ragweave.components.evidence import ListKind, RankedList
from ragweave.corpora.types import Corpus, Hit, Lists
from ragweave.corpora.video.scope import Scope, at_moment, search_within
from ragweave.models.errors import RagweaveError
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import RetrieveTask, Update


async def retrieve(task: RetrieveTask, runtime: NodeRuntime) -> Update:
    """Return the dense, lexical and visual lists of each phrasing; a corpus that fails is noted, the others go on."""
    run = NodeRun("retrieve", task, runtime, by=task["corpus"])
    try:
        library = await run.library()
        context = run.context
        scope = Scope(tuple(task["sources"]), tuple(task["titles"]), context.from_time, context.to_time)
        if task["corpus"] == "clip":
            scope = await at_moment(library, task["queries"][0], scope)
        found = await search_within(library, task["corpus"], task["queries"], scope, context.method.pool)
    except RagweaveError as error:
        run.note(f"The {task['corpus']} corpus could not be searched: {error}")
        return run.done(f"{task['corpus']}: {error}")
    asked = zip(task["queries"], found, strict=True)
    lists = [row for query, each in asked for row in ranked_lists(task["corpus"], query, each)]
    for note in dict.fromkeys(each.note for each in found if each.note):
        run.note(f"The {task['corpus']} corpus: {note}.")
    items = len({i for row in lists for i in row["ids"]})
    told = f"{task['corpus']}: {counted(items, 'place')} in {len(lists)} search{'es' * (len(lists) != 1)}"
    data = {"corpus": task["corpus"], "places": items, "searches": len(lists)}
    return run.done(told, data=data, found=lists)


def ranked_lists(corpus: Corpus, query: str, found: Lists) -> list[RankedList]:
    """Return the lists of a query that hold anything, with their kinds."""
    named: dict[ListKind, tuple[Hit, ...]] = {"dense": found.dense, "lexical": found.lexical, "visual": found.visual}
    kept = [(kind, [h.id for h in hits], [round(h.score, 5) for h in hits]) for kind, hits in named.items() if hits]
    return [RankedList(corpus=corpus, query=query, kind=kind, ids=ids, scores=scores) for kind, ids, scores in kept]
