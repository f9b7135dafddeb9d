"""Fuse the hop's ranked lists into one order and keep the best items, each scored against the hop's query."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from ragweave.corpora.library import Library
from ragweave.corpora.types import Item
from ragweave.models import relevance
from ragweave.models.text import fold
from ragweave.nodes.context import Context
from ragweave.nodes.fusion import DENSE_WEIGHT, ORIGINAL_WEIGHT, Ranking, fuse_ranks, fuse_scores
from ragweave.nodes.passages import evidence_of, idf_of, passage_of
from ragweave.nodes.run import Run
from ragweave.nodes.state import Evidence, RankedList, State, Update

RERANKED = 30
"""Items of the fused pool that the relevance model reads."""


async def fuse(state: State, runtime: Runtime[Context]) -> Update:
    """Return the hop's best items as evidence.

    Dense and lexical lists of one phrasing are joined by standardised scores, phrasings and corpora by reciprocal
    ranks, the pool is ordered by the relevance model. The model reads each item once: `grade` uses the same scores.
    """
    run = Run.of("fuse", state, runtime)
    run.by = run.context.fusion
    query = state["query"]
    pool = fused(state.get("found", []), query, run.context)
    rows = await score_items(await run.library(), query, pool, run.context, run.hop)
    summary = f"{len(rows)} of {len(pool)} items kept" + (f", best: {rows[0]['title']}" if rows else "")
    ids = [r["id"] for r in rows]
    return run.done(summary, data={"items": ids}, evidence=rows, candidates=ids, found=Overwrite([]))


def fused(found: list[RankedList], query: str, context: Context) -> Ranking:
    """Join every list of the hop into one ranking."""
    groups: dict[tuple[str, str], list[tuple[float, Ranking]]] = {}
    for row in found:
        weight = DENSE_WEIGHT if row["kind"] == "dense" else 1.0
        ranking = list(zip(row["ids"], row["scores"], strict=True))
        groups.setdefault((row["corpus"], row["query"]), []).append((weight, ranking))
    joined: list[tuple[float, Ranking]] = []
    for (_, asked), lists in sorted(groups.items()):
        weight = ORIGINAL_WEIGHT if asked == query else 1.0
        if context.fusion == "rrf":
            joined.extend((weight, ranking) for _, ranking in lists)
        else:
            joined.append((weight, fuse_scores(lists)))
    return joined[0][1] if len(joined) == 1 else fuse_ranks(joined, context.rrf_k)


def collapse(items: list[Item]) -> list[Item]:
    """Keep the first of the items of one corpus whose text is the same."""
    kept: dict[str, Item] = {}
    for item in items:
        kept.setdefault(f"{item.corpus} {fold(item.text)}", item)
    return list(kept.values())


async def score_items(library: Library, query: str, pool: Ranking, context: Context, hop: int) -> list[Evidence]:
    """Score the pool's best items against the query and return the best as evidence rows, best first."""
    items = await library.items([i for i, _ in pool[:RERANKED]])
    kept = collapse([items[i] for i, _ in pool[:RERANKED] if i in items])
    if not kept:
        return []
    passages = [passage_of(item, query) for item in kept]
    idf = await idf_of(library, query, passages)
    scores = await asyncio.to_thread(relevance.score, query, passages, idf)
    joined = dict(pool)
    order = scores.order if context.rerank else [joined[i.id] for i in kept]
    rows = [
        evidence_of(item, query, hop, rank, floor) for item, rank, floor in zip(kept, order, scores.floor, strict=True)
    ]
    return sorted(rows, key=lambda r: (-r["score"], r["id"]))[: context.top_k]
