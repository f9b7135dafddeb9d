"""Retrieval figures: recall@k, all-gold@k, nDCG and MRR for each way of ranking, in one index and one run."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from ragweave.components.context import Context
from ragweave.components.evidence import Evidence
from ragweave.components.fusion import fused
from ragweave.components.local.rank import score_pools
from ragweave.corpora.store.library import Library
from ragweave.evals.corpus import PreparedLibrary
from ragweave.evals.data import listed, read_jsonl
from ragweave.evals.metrics import all_gold_at, mrr, ndcg_at, recall_at
from ragweave.evals.runner import Row, Runner
from ragweave.models.errors import InputError
from ragweave.nodes.retrieve import ranked_lists

Method = Literal["dense", "lexical", "rrf", "hybrid", "fusion", "rerank", "agent"]
METHODS: tuple[Method, ...] = get_args(Method)
SINGLE: tuple[Method, ...] = ("dense", "lexical", "rrf", "hybrid", "rerank")
"""Methods that make one search with the question as it is."""
POOL = 50
"""Items of each list of such a search."""


@dataclass(frozen=True)
class Query:
    """A question and the ids of the passages that answer it; `gains` has their grades, if they have any."""

    text: str
    gold: tuple[str, ...]
    gains: Mapping[str, float] = field(default_factory=dict)


@dataclass
class Figures:
    """Means over the queries of one method.

    `values` has each metric's value per query, in query order.
    """

    values: dict[str, list[float]] = field(default_factory=dict)
    ms: list[float] = field(default_factory=list)

    def mean(self) -> dict[str, float]:
        """Return the mean of every metric, and of the milliseconds."""
        out = {}
        for metric, values in self.values.items():
            out[metric] = round(float(np.mean(values)), 4)
        out["ms_per_query"] = round(float(np.mean(self.ms)), 2)
        return out

    def add(self, ranked: Sequence[str], query: Query, ks: Sequence[int], seconds: float) -> None:
        """Score one ranking; only nDCG knows grades."""
        gold = query.gold
        for k in ks:
            self.values.setdefault(f"recall@{k}", []).append(recall_at(ranked, gold, k))
            self.values.setdefault(f"all_gold@{k}", []).append(all_gold_at(ranked, gold, k))
        self.values.setdefault("ndcg@10", []).append(ndcg_at(ranked, query.gains or gold, 10))
        self.values.setdefault("mrr", []).append(mrr(ranked, gold))
        self.ms.append(seconds * 1000)


def read_passages(path: Path) -> list[dict[str, str]]:
    """Read passages: `id` (or `_id`), `text`, and optionally `title`.

    Raises:
        InputError: a line lacks an id or a text.
    """
    out = []
    for n, row in enumerate(read_jsonl(path, ["text"]), 1):
        key = row.get("id", row.get("_id"))
        if key is None:
            raise InputError(f"passage {n} of {path.name} has no id", "give every passage an id")
        out.append({"id": str(key), "title": str(row.get("title") or key), "text": str(row["text"])})
    return out


def read_queries(path: Path, qrels: Path | None = None) -> list[Query]:
    """Read queries with `id` (or `_id`), `question` (or `query`, `text`), and `gold` ids.

    A qrels file replaces the `gold` ids. Its columns are query id, passage id and grade (above 0 is
    relevant); a heading is skipped.

    Raises:
        InputError: a query has no question, or no query has a relevant passage.
    """
    judged: dict[str, dict[str, float]] = {}
    for line in qrels.read_text(encoding="utf-8").splitlines() if qrels else ():
        # Three columns, or four with a round number in the second.
        columns = line.split("\t") if "\t" in line else line.split()
        if len(columns) >= 3 and columns[-1].strip().isdigit() and int(columns[-1]) > 0:
            judged.setdefault(columns[0], {})[columns[-2]] = float(columns[-1])
    out = []
    for n, row in enumerate(read_jsonl(path), 1):
        text = row.get("question", row.get("query", row.get("text")))
        if not text:
            raise InputError(f"query {n} of {path.name} has no question", "give it a `question`")
        gains = judged.get(str(row.get("id", row.get("_id"))), {})
        gold = tuple(gains) if qrels else listed(row.get("gold"))
        if gold:
            out.append(Query(str(text), gold, gains))
    if not out:
        raise InputError(f"no query of {path.name} names a relevant passage", "give `gold`, or a qrels file")
    return out


async def ranking(library: Library, query: str, method: Method) -> list[str]:
    """Return item ids of the paragraph corpus, best first, by one of SINGLE."""
    (lists,) = await library.search("paragraph", [query], POOL)
    if method in {"dense", "lexical"}:
        hits = lists.dense if method == "dense" else lists.lexical
        return [hit.id for hit in hits]
    context = Context.model_validate(
        {"top_k": 20, "method": {"fusion": "rrf" if method == "rrf" else "reranked"}}
    )
    joined = fused(ranked_lists("paragraph", query, lists), query, context)
    if method in {"hybrid", "rrf"}:
        return [i for i, _ in joined]
    (rows,), _ = await score_pools(library, query, [joined], context, hop=1)
    return [r["id"] for r in rows]


async def by_graph(prepared: PreparedLibrary, query: str, method: Method, hops: int) -> list[str]:
    """Return the item ids of a run of the graph, best first: search with rewrites, or the whole agent."""
    from ragweave.graphs.agent import graph as agent
    from ragweave.graphs.search import graph as search

    sent: Any = {"messages": [("human", query)]}
    base = {"library": prepared.library.name, "corpora": ("paragraph",)}
    if method == "fusion":
        state = await search.ainvoke(sent, context=Context(**base, top_k=20))
        return list(state["candidates"])
    state = await agent.ainvoke(sent, context=Context(**base, max_hops=hops, top_k=10))
    return [e["id"] for e in by_global_score(state["evidence"])]


def by_global_score(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Order the evidence of all hops as the run ranks it, best first."""
    return sorted(evidence, key=lambda e: (-e.get("global_score", e["score"]), e["id"]))


async def measure(
    prepared: PreparedLibrary,
    queries: Sequence[Query],
    rank: Callable[[str], Awaitable[Sequence[str]]],
    ks: Sequence[int] = (1, 5, 10),
    runner: Runner | None = None,
    of: Mapping[str, Any] | None = None,
) -> Figures:
    """Run one ranking over the queries.

    Without a runner the queries are asked one after another, so that times mean something; `of` is what the
    rankings depend on in addition to library and queries: the method.
    """

    async def one(query: Query) -> Row:
        started = time.perf_counter()
        ids = await rank(query.text)
        seconds = time.perf_counter() - started
        items = await prepared.library.items(ids)
        ranked: dict[str, None] = {}
        for i in ids:
            if i in items:
                passage = prepared.id_of(items[i].locator["file"])
                ranked[prepared.first_of(passage)] = None
        return {"ranked": list(ranked), "seconds": seconds}

    units = {}
    for n, query in enumerate(queries):
        units[str(n)] = query
    texts = [query.text for query in queries]
    depends = {**(of or {}), "library": prepared.library.name, "queries": texts}
    rows = await (runner or Runner()).each("queries", units, one, depends)
    figures = Figures()
    for query, row in zip(queries, rows, strict=True):
        figures.add(row["ranked"], _distinct(prepared, query), ks, row["seconds"])
    return figures


def _distinct(prepared: PreparedLibrary, query: Query) -> Query:
    """Return a query whose gold passages with the same words count as one."""
    gold = dict.fromkeys(map(prepared.first_of, query.gold))
    gains = {}
    for i, gain in query.gains.items():
        gains[prepared.first_of(i)] = gain
    return Query(query.text, tuple(gold), gains)


def ranker(
    prepared: PreparedLibrary, method: Method, hops: int = 3
) -> Callable[[str], Awaitable[Sequence[str]]]:
    """Return the ranking function of a method."""
    if method in SINGLE:
        return partial(ranking, prepared.library, method=method)
    return partial(by_graph, prepared, method=method, hops=hops)
