"""Fuse the hop's ranked lists into one order and keep the best items, each scored against the hop's query."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item, Locator, Recency
from ragweave.minds.context import Context
from ragweave.minds.evidence import Evidence, RankedList
from ragweave.minds.fusion import Ranking, fuse_ranks, fuse_scores, mix, standardise
from ragweave.minds.looks import lifted, told
from ragweave.minds.merge import merged
from ragweave.minds.passages import evidence_of, idf_of, passage_of
from ragweave.minds.recency import HALF_LIFE, faded, wants_recency, weights
from ragweave.models import relevance
from ragweave.models.errors import RagweaveError
from ragweave.models.relevance import Passage
from ragweave.models.rerank import Reranker, reranker
from ragweave.models.text import fold
from ragweave.nodes.run import Run
from ragweave.nodes.state import State, Update

logger = logging.getLogger(__name__)

TEXTUAL = ("paragraph", "document")
"""Corpora whose items are their text. Pictures and clips with the same caption are different pictures and clips."""

EMBEDDED_POOL = 20
"""Items that the shipped relevance model reads: more made it slower and no better (docs/fusion.md)."""
EACH = 10
"""Items of each corpus that are scored where several are ranked by themselves."""
STRONG = 0.7
"""Relevance of the best item from which a cross-encoder is not asked (docs/fusion.md)."""
BEFORE = 0.3
"""Weight of the fused score beside the relevance model's own order."""


async def fuse(state: State, runtime: Runtime[Context]) -> Update:
    """Return the hop's best items as evidence.

    Dense and lexical lists of one phrasing are joined by standardised scores, phrasings and corpora by reciprocal
    ranks, and the pool is ordered by the relevance model or a cross-encoder. The relevance model reads each item
    once: `grade` uses the same scores. Where the question asks for the newest, age counts last.
    """
    run = Run.of("fuse", state, runtime)
    run.by = run.context.fusion
    query = state["query"]
    found = state.get("found", [])
    pool = fused(found, query, run.context)
    notes: list[str] = []
    library = await run.library()
    routed = next((r for r in reversed(state.get("routes", [])) if r["hop"] == run.hop), None)
    if routed is not None and routed["by"] != "unified" and {row["corpus"] for row in found} - {*TEXTUAL}:
        confidence = routed["confidence"] or dict.fromkeys(routed["corpora"], 1.0)
        rows = merged(await _by_corpus(library, query, found, confidence, run, notes), confidence)
    else:
        rows = await score_items(library, query, pool, run.context, run.hop, notes, seen_in(found))
    for note in notes:
        run.note(note)
    now = datetime.now(UTC)
    aged = ""
    own = await library.about()
    if asks_recency(run.context.recency if run.context.recency != "auto" else own.recency, state["question"], now):
        half_life = run.context.half_life or own.half_life or HALF_LIFE
        rows = await asyncio.to_thread(by_age, rows, half_life, run.context.recency_floor, now)
        aged = f", newer first (half-life {half_life:g} days)"
    rows = with_looks(rows[: run.context.top_k], state.get("looked", {}))
    summary = f"{len(rows)} of {len(pool)} items kept{aged}" + (f", best: {rows[0]['title']}" if rows else "")
    ids = [r["id"] for r in rows]
    best = {"best": max(map(told, rows), default=-1.0)} if query == state["question"] else {}
    return run.done(summary, data={"items": ids}, evidence=rows, candidates=ids, found=Overwrite([]), **best)


async def _by_corpus(
    library: Library,
    query: str,
    found: list[RankedList],
    confidence: Mapping[str, float],
    run: Run,
    notes: list[str],
) -> dict[str, list[Evidence]]:
    """Rank what each corpus gave by itself: the likeliest from as many items as if it were alone."""
    context = run.context
    few = context.model_copy(update={"rerank_pool": min(context.rerank_pool, max(EACH, context.top_k))})
    corpora = dict.fromkeys(str(row["corpus"]) for row in found)
    likeliest = max(corpora, key=lambda c: confidence.get(c, 0.0))
    out: dict[str, list[Evidence]] = {}
    for corpus in corpora:
        own = context if corpus == likeliest else few
        pool = fused([row for row in found if row["corpus"] == corpus], query, own)
        out[corpus] = await score_items(library, query, pool, own, run.hop, notes, seen_in(found))
    return out


def with_looks(rows: list[Evidence], looked: Mapping[str, str]) -> list[Evidence]:
    """Add to clips what a vision model saw in their frames."""
    return [{**r, "seen": looked[r["id"]]} if r["id"] in looked else r for r in rows]


def seen_in(found: list[RankedList]) -> frozenset[str]:
    """Return the items whose picture was compared with the query."""
    return frozenset(i for row in found if row["kind"] == "visual" for i in row["ids"])


def fused(found: list[RankedList], query: str, context: Context) -> Ranking:
    """Join every list of the hop into one ranking."""
    groups: dict[tuple[str, str], list[tuple[float, Ranking]]] = {}
    shown: dict[tuple[str, str], Ranking] = {}
    for row in found:
        key = (str(row["corpus"]), row["query"])
        ranking = list(zip(row["ids"], row["scores"], strict=True))
        lists = groups.setdefault(key, [])
        if row["kind"] == "visual":
            shown[key] = ranking
        else:
            lists.append((context.dense_weight if row["kind"] == "dense" else 1.0, ranking))
    joined: list[tuple[float, Ranking]] = []
    for key, lists in sorted(groups.items()):
        weight = context.original_weight if key[1] == query else 1.0
        seen = shown.get(key, [])
        if context.fusion == "rrf":
            text = 1 - context.alpha if seen else 1.0
            joined.extend((weight * text * own, ranking) for own, ranking in lists)
            joined += [(weight * context.alpha, seen)] if seen else []
        else:
            both = fuse_scores(lists)
            joined.append((weight, mix(both, seen, context.alpha) if seen else both))
    return joined[0][1] if len(joined) == 1 else fuse_ranks(joined, context.rrf_k, context.rrf_base)


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
) -> list[Evidence]:
    """Score the pool's best items against the query, once each, and return them as evidence rows, best first.

    Args:
        library: holds the items.
        query: query of the hop.
        pool: fused ranking.
        context: knobs of the run.
        hop: hop that fetched them.
        notes: takes a sentence where a cross-encoder failed and the relevance model ordered in its stead.
        seen: items whose picture was compared with the query; what they show counts for `context.alpha` here, too.
    """
    judge = await _judge(notes) if context.rerank else None
    best = [i for i, _ in pool[: context.rerank_pool]]
    embedded = context.rerank and judge is None
    kept = await _read(library, best, max(EMBEDDED_POOL, context.top_k) if embedded else len(best))
    if not kept:
        return []
    passages = [passage_of(item, query) for item, _ in kept]
    idf = await idf_of(library, query, passages)
    scores = await asyncio.to_thread(relevance.score, query, passages, idf)
    joined = dict(pool)
    order = before = [joined[item.id] for item, _ in kept]
    if context.rerank:
        needed = judge if context.rerank_when == "always" or scores.floor.max() < STRONG else None
        crossed = await _crossed(needed, query, passages, notes) if needed else None
        order = crossed or blended(scores.order.tolist(), before)
        if seen:
            order = with_pictures(order, before, [item.id in seen for item, _ in kept], context.alpha)
    rows: list[Evidence] = []
    ranked = zip(kept, order, scores.floor, strict=True)
    compared = [item.id for item, _ in kept if item.corpus == "image" and item.id in seen]
    deviations = await library.stand_out(query, compared) if compared else {}
    for (item, also), rank, floor in sorted(ranked, key=lambda r: (-r[1], r[0][0].id)):
        row = evidence_of(item, query, hop, rank, floor)
        row = lifted(row, item, deviations, context.alpha, context.stands_out)
        rows.append({**row, "also": also} if also else row)
    return rows


async def _read(library: Library, ids: Sequence[str], enough: int) -> list[tuple[Item, list[Locator]]]:
    """Read items in their order, as many at a time as are wanted, until there are enough with different texts."""
    items: list[Item] = []
    kept: list[tuple[Item, list[Locator]]] = []
    for start in range(0, len(ids), max(enough, 1)):
        part = ids[start : start + enough]
        found = await library.items(part)
        items += [found[i] for i in part if i in found]
        kept = collapse(items)
        if len(kept) >= enough:
            break
    return kept[:enough]


def blended(order: Sequence[float], before: Sequence[float]) -> list[float]:
    """Return the relevance model's order with a little of the fused one, both standardised over the pool."""
    return [a + BEFORE * b for a, b in zip(standardise(order), standardise(before), strict=True)]


def with_pictures(order: Sequence[float], before: Sequence[float], seen: Sequence[bool], alpha: float) -> list[float]:
    """Order pictures by what they show as well: the models of relevance read only what is written about them."""
    rows = zip(standardise(order), standardise(before), seen, strict=True)
    return [alpha * b + (1 - alpha) * a if picture else a for a, b, picture in rows]


async def _judge(notes: list[str] | None) -> Reranker | None:
    try:
        return await asyncio.to_thread(reranker)
    except RagweaveError as error:
        _unused(error, notes)
        return None


async def _crossed(judge: Reranker, query: str, passages: list[Passage], notes: list[str] | None) -> list[float] | None:
    try:
        found: list[float] = (await asyncio.to_thread(judge.scores, query, passages)).tolist()
        return found
    except RagweaveError as error:
        _unused(error, notes)
        return None


def _unused(error: RagweaveError, notes: list[str] | None) -> None:
    logger.info("reranking fell back: %s", error)
    if notes is not None:
        notes.append(f"The reranker was not used: {error}")


def asks_recency(when: Recency, question: str, now: datetime) -> bool:
    """Tell whether newer items shall be preferred."""
    return when == "on" or (when == "auto" and wants_recency(question, now))


def by_age(rows: list[Evidence], half_life: float, floor: float, now: datetime) -> list[Evidence]:
    """Weaken older items and order by what is left of their relevance; what was equal keeps its order.

    The document's own date counts, else the date of its file as it lies on disk. `decay` says what the numbers mean.
    """
    made = weights(
        [date_of(r) for r in rows],
        [r["relevance"] for r in rows],
        half_life=half_life,
        floor=floor,
        now=now,
    )
    aged: list[Evidence] = [
        {**r, "relevance": round(faded(r["relevance"], w), 4), "fresh": round(w, 4)}
        for r, w in zip(rows, made, strict=True)
    ]
    return sorted(aged, key=lambda r: -r["relevance"])


def date_of(row: Evidence) -> datetime | None:
    """Return the date of an evidence row's document, or None where neither it nor its file has one."""
    if row["date"]:
        return datetime.fromisoformat(row["date"])
    try:
        return datetime.fromtimestamp(Path(row["locator"]["file"]).stat().st_mtime, UTC)
    except (KeyError, OSError, OverflowError, ValueError):
        return None
