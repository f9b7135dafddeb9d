"""Retrieval figures: recall@k, all-gold@k, nDCG and MRR for each way of ranking, in one index and one run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np

from ragweave.corpora.library import Library
from ragweave.evals.corpus import Prepared
from ragweave.evals.metrics import all_gold_at, mrr, ndcg_at, recall_at
from ragweave.nodes.context import Context
from ragweave.nodes.fuse import fused, score_items
from ragweave.nodes.state import RankedList

Method = Literal["dense", "lexical", "hybrid", "rrf", "rerank"]
METHODS: tuple[Method, ...] = ("dense", "lexical", "hybrid", "rrf", "rerank")


@dataclass
class Figures:
    """Means over the queries of one method.

    Attributes:
        values: metric name to its value per query, in query order.
        ms: milliseconds per query.
    """

    values: dict[str, list[float]] = field(default_factory=dict)
    ms: list[float] = field(default_factory=list)

    def mean(self) -> dict[str, float]:
        """Return the mean of every metric, and of the milliseconds."""
        return {
            **{k: round(float(np.mean(v)), 4) for k, v in self.values.items()},
            "ms_per_query": round(float(np.mean(self.ms)), 2),
        }

    def add(self, ranked: Sequence[str], gold: Sequence[str], ks: Sequence[int], seconds: float) -> None:
        """Score one ranking."""
        for k in ks:
            self.values.setdefault(f"recall@{k}", []).append(recall_at(ranked, gold, k))
            self.values.setdefault(f"all_gold@{k}", []).append(all_gold_at(ranked, gold, k))
        self.values.setdefault("ndcg@10", []).append(ndcg_at(ranked, gold, 10))
        self.values.setdefault("mrr", []).append(mrr(ranked, gold))
        self.ms.append(seconds * 1000)


async def ranking(library: Library, query: str, method: Method, pool: int = 50) -> list[str]:
    """Return item ids of the paragraph corpus, best first, by one method."""
    (lists,) = await library.search("paragraph", [query], pool)
    if method == "dense":
        return [h.id for h in lists.dense]
    if method == "lexical":
        return [h.id for h in lists.lexical]
    found: list[RankedList] = []
    for kind, hits in (("dense", lists.dense), ("lexical", lists.lexical)):
        row: RankedList = {
            "corpus": "paragraph",
            "query": query,
            "kind": "dense" if kind == "dense" else "lexical",
            "ids": [h.id for h in hits],
            "scores": [h.score for h in hits],
        }
        found.append(row)
    context = Context(fusion="rrf" if method == "rrf" else "scores", top_k=50)
    joined = fused(found, query, context)
    if method in {"hybrid", "rrf"}:
        return [i for i, _ in joined]
    rows = await score_items(library, query, joined, context, hop=1)
    return [r["id"] for r in rows]


async def measure(
    prepared: Prepared,
    queries: Sequence[tuple[str, Sequence[str]]],
    rank: Callable[[str], Awaitable[Sequence[str]]],
    ks: Sequence[int] = (1, 5, 10),
) -> Figures:
    """Run one ranking over (question, gold passage ids) pairs, one after another so that times mean something."""
    figures = Figures()
    for question, gold in queries:
        started = time.perf_counter()
        ids = await rank(question)
        seconds = time.perf_counter() - started
        items = await prepared.library.items(ids)
        ranked = list(dict.fromkeys(prepared.id_of(items[i].locator["file"]) for i in ids if i in items))
        figures.add(ranked, gold, ks, seconds)
    return figures


def table(rows: dict[str, dict[str, float]]) -> str:
    """Return figures as an aligned text table, a method a line."""
    columns = list(next(iter(rows.values())))
    width = max(len(m) for m in rows)
    head = " ".join([" " * width, *(f"{c:>12}" for c in columns)])
    lines = [" ".join([f"{m:<{width}}", *(f"{r[c]:>12.3f}" for c in columns)]) for m, r in rows.items()]
    return "\n".join([head, *lines])


async def compare(prepared: Prepared, queries: Sequence[tuple[str, Sequence[str]]]) -> dict[str, Figures]:
    """Measure every method on the same queries."""
    return {m: await measure(prepared, queries, partial(ranking, prepared.library, method=m)) for m in METHODS}


def run(prepared: Prepared, queries: Sequence[tuple[str, Sequence[str]]]) -> dict[str, dict[str, float]]:
    """Measure every method; for scripts without a loop."""
    return {m: f.mean() for m, f in asyncio.run(compare(prepared, queries)).items()}
