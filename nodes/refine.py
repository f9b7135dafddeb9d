"""Refine the hop's items into strips: decompose, filter, recompose (CRAG, section 4.4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from langgraph.runtime import Runtime

from ragweave.corpora.types import Item
from ragweave.models import relevance
from ragweave.models.relevance import Passage
from ragweave.models.text import clip, fold, sentences, words
from ragweave.nodes.context import Context
from ragweave.nodes.passages import heading_title, idf_of
from ragweave.nodes.run import Run
from ragweave.nodes.state import TEXT_LIMIT, Evidence, State, Strip, Update

GROUP = 3
"""Sentences per strip."""
_SHORT = 5
"""A sentence of fewer words joins its neighbour."""
STRIP_THRESHOLD = -0.5
"""Strips below this relevance are dropped (CRAG, appendix); the best strip of each kept item always stays."""


async def refine(state: State, runtime: Runtime[Context]) -> Update:
    """Return the strips of this hop that bear on its query, in source order, each with a locator of its own."""
    run = Run.of("refine", state, runtime)
    grade = state.get("grade")
    lower = grade["lower"] if grade else relevance.LOWER
    rows = {e["id"]: e for e in state.get("evidence", [])}
    kept = [rows[i] for i in state.get("candidates", []) if i in rows and rows[i]["relevance"] >= lower]
    library = await run.library()
    items = await library.items([e["id"] for e in kept if e["origin"] == "library"])
    cut = [(e, items[e["id"]], a, b) for e in kept if e["id"] in items for a, b in strips(items[e["id"]].text)]
    passages = [Passage(heading_title(item), item.text[a:b]) for _, item, a, b in cut]
    made: list[Strip] = []
    if passages:
        idf = await idf_of(library, state["query"], passages)
        made = [
            strip_of(e, item, a, b, s, run.hop)
            for (e, item, a, b), s in zip(cut, await asyncio.to_thread(floors, cut, passages, idf), strict=True)
        ]
    chosen = select(made, run.context.strips)
    removed = 1 - sum(len(s["text"]) for s in chosen) / (sum(len(p.text) for p in passages) or 1)
    summary = f"{len(chosen)} of {len(made)} strips kept from {len(kept)} items, {removed:.0%} of the text removed"
    return run.done(summary, data={"strips": [s["id"] for s in chosen]}, knowledge=chosen)


def strips(text: str, group: int = GROUP) -> list[tuple[int, int]]:
    """Return [start, end) of groups of sentences; a short sentence or a short tail joins what stands before it."""
    spans = sentences(text)
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and len(words(text[start:end])) < _SHORT:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    groups = [(joined[i][0], joined[min(i + group, len(joined)) - 1][1]) for i in range(0, len(joined), group)]
    if len(groups) > 1 and len(joined) % group == 1:
        groups[-2:] = [(groups[-2][0], groups[-1][1])]
    return groups


Cut = tuple[Evidence, Item, int, int]


def floors(cut: list[Cut], passages: list[Passage], idf: Callable[[str], float]) -> list[float]:
    """Score strips against the query of the hop that fetched their item; shape (n,), in [-1, 1]."""
    scores = [0.0] * len(cut)
    for query in {e["query"] for e, *_ in cut}:
        at = [i for i, (e, *_) in enumerate(cut) if e["query"] == query]
        for i, value in zip(at, relevance.score(query, [passages[i] for i in at], idf).floor, strict=True):
            scores[i] = float(value)
    return scores


def strip_of(e: Evidence, item: Item, start: int, end: int, score: float, hop: int) -> Strip:
    """Build a strip row; its locator is narrowed to the strip."""
    return {
        "id": f"{e['id']}#{start}-{end}",
        "evidence": e["id"],
        "text": clip(item.text[start:end], TEXT_LIMIT),
        "title": heading_title(item),
        "locator": item.locate(start, end),
        "origin": e["origin"],
        "query": e["query"],
        "hop": hop,
        "score": round(score, 4),
    }


def select(made: list[Strip], top: int, threshold: float = STRIP_THRESHOLD) -> list[Strip]:
    """Keep the best strips above the threshold, and the best one of every item, once per text, in source order."""
    first: dict[str, Strip] = {}
    for strip in made:
        best = first.get(strip["evidence"])
        if best is None or strip["score"] > best["score"]:
            first[strip["evidence"]] = strip
    always = {s["id"] for s in first.values()}
    able = sorted(
        (s for s in made if s["score"] >= threshold or s["id"] in always), key=lambda s: (-s["score"], s["id"])
    )
    unique: dict[str, Strip] = {}
    for strip in able:
        unique.setdefault(fold(strip["text"]), strip)
    kept = {s["id"] for s in list(unique.values())[:top]}
    return [s for s in made if s["id"] in kept]
