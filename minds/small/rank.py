"""Order a fused pool by the relevance model, or by a cross-encoder where that finds nothing strong."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar, cast

from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item, Locator
from ragweave.minds.context import Context
from ragweave.minds.evidence import Evidence
from ragweave.minds.fusion import Ranking, standardise
from ragweave.minds.looks import lifted
from ragweave.minds.passages import evidence_of, passage_of, scores_of
from ragweave.models.errors import RagweaveError
from ragweave.models.rerank import reranker
from ragweave.models.text import fold

logger = logging.getLogger(__name__)

T = TypeVar("T")

TEXTUAL = ("paragraph", "document")
"""Corpora whose items are their text. Pictures and clips with the same caption are different pictures and clips."""
POOL = 50
"""Items of a pool that are reranked."""
EMBEDDED_POOL = 20
"""Items that the shipped relevance model reads: more made it slower and no better (docs/fusion.md)."""
STRONG = 0.7
"""Relevance of the best item from which a cross-encoder is not asked (docs/fusion.md)."""
BEFORE = 0.3
"""Weight of the fused score beside the relevance model's own order."""


def collapse(items: Sequence[Item]) -> list[tuple[Item, list[Locator]]]:
    """Keep the first of the items with the same text, or of the same picture, with the locators of the others.

    Items without text are never taken as the same. Of a picture the item counts about which most is written.
    """
    kept: dict[str, tuple[Item, list[Locator]]] = {}
    for item in items:
        key = _sameness(item)
        first, also = kept.setdefault(key, (item, []))
        places = [item.locator, *_places(item), *_places(first)]
        if item.corpus == "image" and len(item.text) > len(first.text):
            kept[key] = (item, also)
            places[0], first = first.locator, item
        for locator in places:
            if locator != first.locator and locator not in also:
                also.append(locator)
    return list(kept.values())


def _places(item: Item) -> list[Locator]:
    """Return the other places of a picture in its own source."""
    return cast("list[Locator]", item.meta.get("also", [])) if item.corpus == "image" else []


def _sameness(item: Item) -> str:
    """Return what equal items have in common: texts their words, pictures their pixels."""
    if item.corpus == "image" and item.meta.get("picture"):
        return f"picture {item.meta['picture']}"
    text = " ".join(fold(item.text).split()) if item.corpus in TEXTUAL else ""
    return f"text {text}" if text else f"id {item.id}"


async def score_items(
    library: Library,
    query: str,
    pool: Ranking,
    context: Context,
    hop: int,
    notes: list[str] | None = None,
    seen: frozenset[str] = frozenset(),
    most: int = POOL,
) -> list[Evidence]:
    """Score the pool's best items against the query, once each, and return them as evidence rows, best first.

    Args:
        library: holds the items.
        query: query of the hop.
        pool: fused ranking.
        context: knobs of the run.
        hop: hop that fetched them.
        notes: takes a sentence where a cross-encoder failed and the relevance model ordered in its stead.
        seen: items whose picture was compared with the query; what they show counts for `alpha` here, too.
        most: items that are scored at most.
    """

    def scored() -> list[Evidence]:
        with library.held.catalog.reading(library.id):  # one transaction for all that is read
            return list(_scored(library, query, pool[:most], context, hop, [] if notes is None else notes, seen))

    return await asyncio.to_thread(scored)


async def joint_order(library: Library, query: str, rows: Sequence[Evidence]) -> dict[str, float]:
    """Return the relevance model's order of items of several corpora as one pool, higher is better, by their ids."""

    def scored() -> dict[str, float]:
        with library.held.catalog.reading(library.id):
            held = library.read([row["id"] for row in rows])
            scores = scores_of(library, query, [passage_of(item, query) for item in held.values()])
        return dict(zip(held, scores.order.tolist(), strict=True))

    return await asyncio.to_thread(scored)


def _scored(
    library: Library, query: str, pool: Ranking, context: Context, hop: int, notes: list[str], seen: frozenset[str]
) -> Iterator[Evidence]:
    judge = _tried(reranker, notes) if context.rerank else None
    best = [i for i, _ in pool]
    embedded = context.rerank and judge is None
    kept = _read(library, best, max(EMBEDDED_POOL, context.kept) if embedded else len(best))
    if not kept:
        return
    passages = [passage_of(item, query) for item, _ in kept]
    scores = scores_of(library, query, passages)
    joined = dict(pool)
    order = before = [joined[item.id] for item, _ in kept]
    if context.rerank:
        needed = judge if scores.floor.max() < STRONG else None
        crossed = _tried(partial(needed.scores, query, passages), notes) if needed else None
        # The relevance model's order, with a little of the fused one.
        both = zip(standardise(scores.order.tolist()), standardise(before), strict=True)
        order = [a + BEFORE * b for a, b in both] if crossed is None else crossed.tolist()
        if seen:
            order = with_pictures(order, before, [item.id in seen for item, _ in kept], context.method.alpha)
    ranked = zip(kept, order, scores.floor, strict=True)
    compared = [item.id for item, _ in kept if item.corpus == "image" and item.id in seen]
    deviations = library.stand_out(query, compared) if compared else {}
    for (item, also), rank, floor in sorted(ranked, key=lambda r: (-r[1], r[0][0].id)):
        row = evidence_of(item, query, hop, rank, floor)
        row = lifted(row, item, deviations, context.method.alpha)
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


def with_pictures(order: Sequence[float], before: Sequence[float], seen: Sequence[bool], alpha: float) -> list[float]:
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
