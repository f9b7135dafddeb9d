"""Order a fused pool by the relevance model, or by a cross-encoder where that finds nothing strong."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple, TypeVar

from ragweave.components.context import Context
from ragweave.components.duplicates import collapse
from ragweave.components.evidence import Evidence
from ragweave.components.fusion import ALPHA, Ranking, ordered, standardise
from ragweave.components.passages import evidence_of, passage_of, scorer_of
from ragweave.components.picture_relevance import lifted
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item, Locator
from ragweave.models.errors import RagweaveError
from ragweave.models.relevance import Passage, Scores
from ragweave.models.rerank import Reranker, reranker

logger = logging.getLogger(__name__)

T = TypeVar("T")

POOL = 50
"""Items of a pool that are reranked."""
EACH = 10
"""Items of each of several pools that are ordered as one."""
EMBEDDED_POOL = 30
"""Items that the shipped relevance model reads (docs/results.md)."""
STRONG = 0.7
"""Relevance of the best item from which a cross-encoder is not asked (docs/results.md)."""
LIFT, LEAD = 3.0, 1.5
"""Weights of how clearly a query names an item's document: beside the fused score, and in the order."""
BEFORE = 0.5
"""Weight of the fused score, standardised, beside the relevance model's own order."""


async def score_pools(
    library: Library,
    query: str,
    pools: Sequence[Ranking],
    context: Context,
    hop: int,
    notes: list[str] | None = None,
    seen: frozenset[str] = frozenset(),
) -> tuple[list[list[Evidence]], dict[str, float]]:
    """Score the best items of each pool against the query, pool by pool, and return them as evidence rows, best first.

    Args:
        library: holds the items, each of which is read once.
        query: query of the hop.
        pools: fused rankings.
        context: knobs of the run.
        hop: hop that fetched them.
        notes: takes a sentence where a cross-encoder failed and the relevance model ordered in its stead.
        seen: items whose picture was compared with the query; what they show counts for `alpha` here, too.

    Returns:
        The rows of each pool; and, of several pools, the relevance model's order of the first `EACH` of all
        of them as one pool, higher is better, by their ids.
    """
    noted = [] if notes is None else notes

    def scored() -> tuple[list[list[Evidence]], dict[str, float]]:
        with library.held.catalog.reading(library.id):  # one transaction for all that is read
            judge = _tried(reranker, noted) if context.method.reranks else None
            ids = [i for pool in pools for i, _ in pool]
            leads = library.leads_of(query, ids) if context.method.by_scores else {}
            return _scored(_Hop(library, query, context, hop, judge, noted, seen, leads), pools)

    return await asyncio.to_thread(scored)


def _scored(at: _Hop, pools: Sequence[Ranking]) -> tuple[list[list[Evidence]], dict[str, float]]:
    """Return the rows of each pool, and the order of the first of all pools as one."""
    pools = [_led(at, pool) for pool in pools]
    embedded = at.context.method.reranks and at.judge is None
    enough = max(EMBEDDED_POOL, at.context.kept) if embedded else POOL
    read = [_read(at.library, [i for i, _ in pool[:POOL]], enough) for pool in pools]
    passages = [passage_of(item, at.query) for kept in read for item, _ in kept]
    score = scorer_of(at.library, at.query, passages)
    ends = [*accumulate(map(len, read))]
    places = [range(end - len(kept), end) for kept, end in zip(read, ends, strict=True)]
    rows: list[list[Evidence]] = []
    first: dict[str, int] = {}
    for pool, kept, own, scores in zip(pools, read, places, score(places), strict=True):
        of = _Scored(kept, [passages[n] for n in own], scores, dict(pool))
        rows.append([*_ordered(at, of)])
        place = {item.id: n for n, (item, _) in zip(own, kept, strict=True)}
        first |= {row["id"]: place[row["id"]] for row in rows[-1][:EACH]}
    joint = score([[*first.values()]])[0].order.tolist() if len(pools) > 1 else []
    together = dict(zip(first, joint, strict=False))
    return rows, {i: rank + LEAD * at.leads.get(i, 0.0) for i, rank in together.items()}


def _led(at: _Hop, pool: Ranking) -> Ranking:
    """Lift the items of the documents that the query names, so that they are among those that are read."""
    if not at.leads or not pool:
        return pool
    lifted = {i: score + LIFT * at.leads.get(i, 0.0) for i, score in pool}
    return ordered(lifted)


class _Hop(NamedTuple):
    """What all pools of a hop are scored with."""

    library: Library
    query: str
    context: Context
    number: int
    judge: Reranker | None
    notes: list[str]
    seen: frozenset[str]
    leads: Mapping[str, float]
    """How clearly the query names the document of each item, by item id."""


class _Scored(NamedTuple):
    """Items of a pool with the other places of their text, as passages, their scores, and those of the fused lists."""

    items: list[tuple[Item, list[Locator]]]
    passages: list[Passage]
    scores: Scores
    fused: Mapping[str, float]


def _ordered(at: _Hop, of: _Scored) -> Iterator[Evidence]:
    if not of.items:
        return
    alpha = ALPHA
    order = before = [of.fused[item.id] for item, _ in of.items]
    if at.context.method.reranks:
        needed = at.judge if of.scores.floor.max() < STRONG else None
        crossed = _tried(partial(needed.scores, at.query, of.passages), at.notes) if needed else None
        # The relevance model's order, with a little of the fused one.
        both = zip(of.scores.order.tolist(), standardise(before), strict=True)
        order = [a + BEFORE * b for a, b in both] if crossed is None else crossed.tolist()
        order = [a + LEAD * at.leads.get(item.id, 0.0) for a, (item, _) in zip(order, of.items, strict=True)]
        if at.seen:
            order = with_pictures(order, before, [item.id in at.seen for item, _ in of.items], alpha)
    ranked = zip(of.items, order, of.scores.floor, strict=True)
    compared = [item.id for item, _ in of.items if item.corpus == "image" and item.id in at.seen]
    deviations = at.library.stand_out(at.query, compared) if compared else {}
    for (item, also), rank, floor in sorted(ranked, key=lambda r: (-r[1], r[0][0].id)):
        row = lifted(evidence_of(item, at.query, at.number, rank, floor), item, deviations, alpha)
        yield {**row, "also": also} if also else row


def _read(library: Library, ids: Sequence[str], enough: int) -> list[tuple[Item, list[Locator]]]:
    """Read items in their order, as many at a time as are wanted, until there are enough with different texts."""
    items: list[Item] = []
    kept: list[tuple[Item, list[Locator]]] = []
    for start in range(0, len(ids), max(enough, 1)):
        part = ids[start : start + enough]
        found = library.read(part)
        items += [found[i] for i in part if i in found]
        kept = collapse(items)
        if len(kept) >= enough:
            break
    return kept[:enough]


def with_pictures(
    order: Sequence[float], before: Sequence[float], seen: Sequence[bool], alpha: float
) -> list[float]:
    """Order pictures by what they show as well: the models of relevance read only what is written about them."""
    rows = zip(standardise(order), standardise(before), seen, strict=True)
    return [alpha * b + (1 - alpha) * a if picture else a for a, b, picture in rows]


def _tried(make: Callable[[], T], notes: list[str]) -> T | None:
    """Return what a reranker gives; None where it failed, which is noted."""
    try:
        return make()
    except RagweaveError as error:
        logger.info("reranking fell back: %s", error)
        notes.append(f"The reranker was not used: {error}")
        return None
