"""Retrieve the ranked lists of a hop's corpora for all phrasings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import chain

from ragweave.components.evidence import ListKind, RankedList, Route
from ragweave.components.run_context import searched_within
from ragweave.components.scope import Scope, at_moment, named_scope, search_within
from ragweave.corpora.types import CORPORA, Corpus, Hit, Label, Lists
from ragweave.models.errors import RagweaveError
from ragweave.models.text import counted
from ragweave.nodes.route import RECORDINGS
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import NO_ROUTER, State, Update, of_hop, phrasings_of

WITHOUT_ROUTER: tuple[Corpus, ...] = ("paragraph", "image", "clip")
"""Corpora for a graph without a router: the finest granularity of each modality."""


async def retrieve(state: State, runtime: NodeRuntime) -> Update:
    """Return the dense, lexical and visual lists of each phrasing in the chosen corpora.

    Without a router, the finest corpora of the library are searched. If a corpus fails, that is noted, and
    the others are still searched.
    """
    run = NodeRun("retrieve", state, runtime)
    update: Update = {}
    route = of_hop(state.get("routes"), run.hop)
    if route is None:
        route = await _without_router(run)
        update["routes"] = [route]
    corpora = []
    for corpus in CORPORA:
        if corpus in route["corpora"]:
            corpora.append(corpus)
    run.by = ", ".join(corpora) or "rule"
    scope = await searched_within(run)
    queries = _queries(run, state, recordings=route.get("recordings", False))
    if scope is None or not corpora:
        return run.done("nothing to search", **update)
    tasks = [_of_corpus(run, corpus, queries, scope) for corpus in corpora]
    lists = list(chain.from_iterable(await asyncio.gather(*tasks)))
    ids: set[str] = set()
    for ranked in lists:
        ids.update(ranked["ids"])
    searches = f"{len(lists)} search{'es' * (len(lists) != 1)}"
    summary = f"{run.by}: {counted(len(ids), 'place')} in {searches}"
    data = {"corpora": corpora, "queries": queries, "places": len(ids), "searches": len(lists)}
    return run.done(summary, data=data, **update, found=lists)


async def _without_router(run: NodeRun) -> Route:
    """Return the corpora that the run names, or the finest ones; corpora without content are left out."""
    wanted = (run.context.corpora or WITHOUT_ROUTER) if run.context.max_hops else ()
    held = await run.held()
    chosen: list[Label] = []
    for corpus in CORPORA:
        if corpus in wanted and corpus in held:
            chosen.append(corpus)
    why = "this graph asks no router"
    return {"hop": run.hop, "corpora": chosen, "confidence": {}, "by": NO_ROUTER, "why": why}


def _queries(run: NodeRun, state: State, recordings: bool) -> list[str]:
    """Return the queries to search: the query, the reasoner's further ones, and their rewrites.

    The retrievers of recordings search the query itself. The program of RAG-Fusion searches only its
    rewrites.
    """
    phrased = phrasings_of(state)
    further = [*phrased["also"], *phrased["rewrites"]]
    alone = recordings or (phrased["rewrites"] and not run.context.method.original_weight)
    return further if alone else [state["query"], *further]


async def _of_corpus(run: NodeRun, corpus: Corpus, queries: Sequence[str], scope: Scope) -> list[RankedList]:
    """Return the lists of one corpus, or none with a note if it cannot be searched."""
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
    notes = [each.note for each in found]
    for note in dict.fromkeys(notes):
        if note:
            run.note(f"The {corpus} corpus: {note}.")
    ranked: list[RankedList] = []
    for query, each in zip(queries, found, strict=True):
        ranked += ranked_lists(corpus, query, each)
    return ranked


def ranked_lists(corpus: Corpus, query: str, found: Lists) -> list[RankedList]:
    """Return the lists of a query that are not empty, with their kinds."""
    named: dict[ListKind, tuple[Hit, ...]] = {
        "dense": found.dense,
        "lexical": found.lexical,
        "visual": found.visual,
    }
    ranked: list[RankedList] = []
    for kind, hits in named.items():
        if hits:
            ids = [hit.id for hit in hits]
            scores = [round(hit.score, 5) for hit in hits]
            ranked.append(RankedList(corpus=corpus, query=query, kind=kind, ids=ids, scores=scores))
    return ranked
