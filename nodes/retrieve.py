"""Retrieve the ranked lists of one corpus for all phrasings."""

from __future__ import annotations

from langgraph.runtime import Runtime

from ragweave.corpora.library import open_library
from ragweave.models.errors import RagweaveError
from ragweave.nodes.context import Context
from ragweave.nodes.run import Run
from ragweave.nodes.state import RankedList, RetrieveTask, State, Update


async def retrieve(task: RetrieveTask, runtime: Runtime[Context]) -> Update:
    """Return the dense and the lexical list of each phrasing; a corpus that fails is noted and the others go on."""
    run = Run.of("retrieve", State(hop=task["hop"]), runtime)
    run.by = task["corpus"]
    try:
        library = await open_library(task["library"])
        found = await library.search(task["corpus"], task["queries"], task["pool"], task["sources"])
    except RagweaveError as error:
        run.note(f"The {task['corpus']} corpus could not be searched: {error}")
        return run.done(f"{task['corpus']}: {error}")
    lists: list[RankedList] = []
    for query, both in zip(task["queries"], found, strict=True):
        for kind, hits in (("dense", both.dense), ("lexical", both.lexical)):
            if hits:
                lists.append(
                    {
                        "corpus": task["corpus"],
                        "query": query,
                        "kind": "dense" if kind == "dense" else "lexical",
                        "ids": [h.id for h in hits],
                        "scores": [round(h.score, 5) for h in hits],
                    }
                )
    items = len({i for row in lists for i in row["ids"]})
    return run.done(f"{task['corpus']}: {items} items from {len(lists)} lists", found=lists)
