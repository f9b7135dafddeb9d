"""Order fused pools by the relevance model, or by a cross-encoder if that finds nothing strong."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

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
"""First items of each of several pools that are ordered together."""
EMBEDDED_POOL = 30
"""Items that the shipped relevance model reads (docs/results.md)."""
STRONG = 0.7
"""Relevance of the best item from which the cross-encoder is not needed (docs/results.md)."""
LIFT = 3.0
"""Weight of how clearly a query names an item's document, added to the fused score."""
LEAD = 1.5
"""Weight of how clearly a query names an item's document, added to the rank score."""
BEFORE = 0.5
"""Weight of the standardised fused score, added to the relevance model's score."""


async def score_pools(
    library: Library,
    query: str,
    pools: Sequence[Ranking],
    context: Context,
    hop: int,
    notes: list[str] | None = None,
    seen: frozenset[str] = frozenset(),
) -> tuple[list[list[Evidence]], dict[str, float]]:
    """Score the best items of each pool against the query.

    Args:
        library: holds the items; each is read once.
        query: query of the hop.
        pools: fused rankings.
        context: knobs of the run.
        hop: hop that fetched the items.
        notes: takes a sentence if a cross-encoder failed and the relevance model ordered instead.
        seen: ids of items whose picture was compared with the query; that score then counts by `alpha`.

    Returns:
        The rows of each pool, best first. For several pools, also the relevance model's scores of the first
        `EACH` items of all of them as one pool, by id, higher is better.
    """
    noted = [] if notes is None else notes

    def scored() -> tuple[list[list[Evidence]], dict[str, float]]:
        with library.held.catalog.reading(library.id):  # one transaction for all that is read
            judge = _tried(reranker, noted) if context.method.cross_encodes else None
            leads: Mapping[str, float] = {}
            if context.method.by_scores:
                leads = library.leads_of(query, _ids(pools))
            return _scored(_Hop(library, query, context, hop, judge, noted, seen, leads), pools)

    return await asyncio.to_thread(scored)


def _ids(pools: Iterable[Ranking]) -> list[str]:
    """Return the ids of the items of several pools."""
    ids: list[str] = []
    for pool in pools:
        ids += [item_id for item_id, _ in pool]
    return ids


def _scored(at: _Hop, pools: Sequence[Ranking]) -> tuple[list[list[Evidence]], dict[str, float]]:
    """Return the rows of each pool, and the scores of the first of all pools as one."""
    pools = [_led(at, pool) for pool in pools]
    embedded = at.context.method.reranks and at.judge is None
    enough = max(EMBEDDED_POOL, at.context.kept) if embedded else POOL
    read: list[list[_ReadItem]] = []
    places: list[range] = []
    passages: list[Passage] = []
    for pool in pools:
        kept = _read(at.library, _ids([pool[:POOL]]), enough)
        read.append(kept)
        places.append(range(len(passages), len(passages) + len(kept)))
        passages += [passage_of(item, at.query) for item, _ in kept]
    score = scorer_of(at.library, at.query, passages)
    rows: list[list[Evidence]] = []
    first: dict[str, int] = {}
    for pool, kept, own, scores in zip(pools, read, places, score(places), strict=True):
        ordered_rows = [*_ordered(at, _Scored(kept, passages[own.start : own.stop], scores, dict(pool)))]
        rows.append(ordered_rows)
        place: dict[str, int] = {}
        for n, (item, _) in zip(own, kept, strict=True):
            place[item.id] = n
        for row in ordered_rows[:EACH]:
            first[row["id"]] = place[row["id"]]
    if len(pools) < 2:
        return rows, {}
    joint = score([[*first.values()]])[0].order.tolist()
    together = {}
    for item_id, rank in zip(first, joint, strict=True):
        together[item_id] = rank + LEAD * at.leads.get(item_id, 0.0)
    return rows, together


def _led(at: _Hop, pool: Ranking) -> Ranking:
    """Raise the scores of items whose document the query names, so that they are read."""
    if not at.leads or not pool:
        return pool
    raised = dict(pool)
    for item_id in raised:
        raised[item_id] += LIFT * at.leads.get(item_id, 0.0)
    return ordered(raised)


class _Hop(NamedTuple):
    """The inputs with which all pools of a hop are scored."""

    library: Library
    query: str
    context: Context
    number: int
    judge: Reranker | None
    notes: list[str]
    seen: frozenset[str]
    leads: Mapping[str, float]
    """How clearly the query names the document of each item, by item id."""


_ReadItem = tuple[Item, list[Locator]]
"""An item, and the other places of its text."""


class _Scored(NamedTuple):
    """The items of a pool with their passages, scores, and fused scores by id."""

    items: list[_ReadItem]
    passages: list[Passage]
    scores: Scores
    fused: Mapping[str, float]


def _ordered(at: _Hop, of: _Scored) -> Iterator[Evidence]:
    """Yield the items of a pool as evidence, best first."""
    if not of.items:
        return
    ranked = zip(of.items, _rank_scores(at, of), of.scores.floor, strict=True)
    compared = []
    for item, _ in of.items:
        if item.corpus == "image" and item.id in at.seen:
            compared.append(item.id)
    deviations = at.library.stand_out(at.query, compared) if compared else {}
    for (item, also), rank, floor in sorted(ranked, key=lambda r: (-r[1], r[0][0].id)):
        row = lifted(evidence_of(item, at.query, at.number, rank, floor), item, deviations, ALPHA)
        yield {**row, "also": also} if also else row


def _rank_scores(at: _Hop, of: _Scored) -> list[float]:
    """Return the scores by which the items of a pool are ordered; without reranking the fused ones."""
    fused = [of.fused[item.id] for item, _ in of.items]
    if not at.context.method.reranks:
        return _crossed(at, of) or fused
    scores = _model_scores(at, of, fused)
    for n, (item, _) in enumerate(of.items):
        scores[n] += LEAD * at.leads.get(item.id, 0.0)
    if not at.seen:
        return scores
    return with_pictures(scores, fused, [item.id in at.seen for item, _ in of.items], ALPHA)


def _model_scores(at: _Hop, of: _Scored, fused: Sequence[float]) -> list[float]:
    """Return the cross-encoder's scores if it is needed and works, else those of the relevance model."""
    if at.judge is not None and of.scores.floor.max() < STRONG:
        crossed = _tried(partial(at.judge.scores, at.query, of.passages), at.notes)
        if crossed is not None:
            crossed_scores: list[float] = crossed.tolist()
            return crossed_scores
    scores: list[float] = of.scores.order.tolist()
    for n, before in enumerate(standardise(fused)):
        scores[n] += BEFORE * before
    return scores


def _crossed(at: _Hop, of: _Scored) -> list[float] | None:
    """Return the cross-encoder's scores from 0 to 1, so that age can multiply them; None if it has none.

    Scores outside of that range are logits.
    """
    if at.judge is None:
        return None
    crossed = _tried(partial(at.judge.scores, at.query, of.passages), at.notes)
    if crossed is None:
        return None
    if crossed.min() < 0 or crossed.max() > 1:
        crossed = 1 / (1 + np.exp(-np.clip(crossed, -50, 50)))
    scores: list[float] = crossed.tolist()
    return scores


def _read(library: Library, ids: Sequence[str], enough: int) -> list[_ReadItem]:
    """Read items in their order, in batches of `enough`, until as many have different texts."""
    items: list[Item] = []
    kept: list[_ReadItem] = []
    for start in range(0, len(ids), max(enough, 1)):
        batch = ids[start : start + enough]
        found = library.read(batch)
        for item_id in batch:
            if item_id in found:
                items.append(found[item_id])
        kept = collapse(items)
        if len(kept) >= enough:
            break
    return kept[:enough]


def with_pictures(
    order: Sequence[float], before: Sequence[float], seen: Sequence[bool], alpha: float
) -> list[float]:
    """Return scores in which those of pictures include the comparison with the query.

    Models of relevance read only the text about a picture; the fused score knows what it shows.

    Args:
        order: scores of the items.
        before: fused scores of the items.
        seen: whether the picture of each item was compared with the query.
        alpha: weight of the fused score of such an item, in [0, 1].
    """
    scores = []
    for own, fused, compared in zip(standardise(order), standardise(before), seen, strict=True):
        scores.append(alpha * fused + (1 - alpha) * own if compared else own)
    return scores


def _tried(make: Callable[[], T], notes: list[str]) -> T | None:
    """Return the result of a reranker; if it fails, note that and return None."""
    try:
        return make()
    except RagweaveError as error:
        logger.info("reranking fell back: %s", error)
        notes.append(f"The reranker was not used: {error}")
        return None
