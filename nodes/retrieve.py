"""Retrieve the ranked lists of a hop's corpora for all phrasings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ragweave.components.evidence import ListKind, RankedList, Route
from ragweave.components.run_context import searched_within
from ragweave.components.scope import Scope, at_moment, named_scope, search_within
from ragweave.corpora.types import CORPORA, Corpus, Hit, Lists
from ragweave.models.errors import RagweaveError
from ragweave.models.text import counted
from ragweave.nodes.route import RECORDINGS
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import NO_ROUTER, State, Update, of_hop, phrasings_of

WITHOUT_ROUTER: tuple[Corpus, ...] = ("paragraph", "image", "clip")
"""What a graph without a router searches: the finest granularity of each modality."""


async def retrieve(state: State, runtime: NodeRuntime) -> Update:
    """Return the dense, lexical and visual lists of each phrasing in the corpora that were chosen.

    Without a router the finest corpora of the library are searched. A corpus that fails is noted, the others
    go on.
    """
    run = NodeRun("retrieve", state, runtime)
    update: Update = {}
    route = of_hop(state.get("routes"), run.hop)
    if route is None:
        route = await _without_router(run)
        update["routes"] = [route]
    corpora = [c for c in CORPORA if c in route["corpora"]]
    run.by = ", ".join(corpora) or "rule"
    scope = await searched_within(run)
    queries = _queries(run, state, recordings=route.get("recordings", False))
    if scope is None or not corpora:
        return run.done("nothing to search", **update)
    found = await asyncio.gather(*(_of_corpus(run, corpus, queries, scope) for corpus in corpora))
    lists = [row for rows in found for row in rows]
    places = len({i for row in lists for i in row["ids"]})
    summary = f"{run.by}: {counted(places, 'place')} in {len(lists)} search{'es' * (len(lists) != 1)}"
    data = {"corpora": corpora, "queries": queries, "places": places, "searches": len(lists)}
    return run.done(summary, data=data, **update, found=lists)


async def _without_router(run: NodeRun) -> Route:
    """Return the corpora that the run names, or the finest ones, of those in which the library holds something."""
    wanted = (run.context.corpora or WITHOUT_ROUTER) if run.context.max_hops else ()
    held = await run.held()
    chosen = [c for c in CORPORA if c in wanted and c in held]
    why = "this graph asks no router"
    return {"hop": run.hop, "corpora": [*chosen], "confidence": {}, "by": NO_ROUTER, "why": why}


def _queries(run: NodeRun, state: State, recordings: bool) -> list[str]:
    """Return what is searched: the query, what the reasoner asked with it, and their rewrites.

    The recordings' own retrievers search the query itself. The program of RAG-Fusion searches its rewrites
    alone.
    """
    phrased = phrasings_of(state)
    further = [*phrased["also"], *phrased["rewrites"]]
    alone = recordings or (phrased["rewrites"] and not run.context.method.original_weight)
    return further if alone else [state["query"], *further]


async def _of_corpus(run: NodeRun, corpus: Corpus, queries: Sequence[str], scope: Scope) -> list[RankedList]:
    """Return the lists of one corpus; none if it cannot be searched, which is noted."""
    try:
        library = await run.library()
        if corpus in RECORDINGS:
            scope = await named_scope(library, queries[0], scope)
        if corpus == "clip":
            scope = await at_moment(library, queries[0], scope)
        found = await search_within(library, corpus, queries, scope, run.context.method.pool)
    except RagweaveError as error:
        run.note(f"The {corpus} corpus could not be searched: {error}")
        return []
    for note in dict.fromkeys(each.note for each in found if each.note):
        run.note(f"The {corpus} corpus: {note}.")
    asked = zip(queries, found, strict=True)
    return [row for query, each in asked for row in ranked_lists(corpus, query, each)]


def ranked_lists(corpus: Corpus, query: str, found: Lists) -> list[RankedList]:
    """Return the lists of a query that hold anything, with their kinds."""
    named: dict[ListKind, tuple[Hit, ...]] = {
        "dense": found.dense,
        "lexical": found.lexical,
        "visual": found.visual,
    }
    kept = [
        (kind, [h.id for h in hits], [round(h.score, 5) for h in hits])
        for kind, hits in named.items()
        if hits
    ]
    return [
        RankedList(corpus=corpus, query=query, kind=kind, ids=ids, scores=scores)
        for kind, ids, scores in kept
    ]
