"""Cut items into strips, and choose among them (CRAG, section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.components.evidence import Evidence, Strip
from ragweave.components.method import Method
from ragweave.components.passages import best_window, heading_title, pieces, strip_at
from ragweave.corpora.types import Item
from ragweave.models import tables
from ragweave.models.text import content_terms, fold, terms, words

THRESHOLD = -0.5
"""Relevance below which a strip is dropped (CRAG, section 4.4)."""
GROUP = 3
"""Sentences per strip."""
_SHORT = 5
"""A sentence of fewer words joins its neighbour."""
_MOST = 64
"""Strips of one item that are scored: of a very long item those that share most words with the query."""

Span = tuple[int, int]


def cut(text: str, mode: str, query: str) -> list[Span]:
    """Cut a text into [start, end) of strips, none longer than a state row may be; an empty text gives none.

    Args:
        text: whole text of an item or page.
        mode: `sentences` or `whole`; a long item as a whole is the stretch that covers the query best.
        query: what the strips will be judged against.
    """
    if mode == "whole":
        a, b = best_window(text, query)
        shown = text[a:b].strip()
        start = text.index(shown, a)
        spans = [(start, start + len(shown))] if shown else []
    else:
        spans = groups(text)
    fitting = [part for a, b in spans for part in pieces(text, a, b)]
    return likeliest(text, fitting, query, _MOST)


def groups(text: str) -> list[Span]:
    """Return groups of sentences; a short sentence or tail joins what stands before it, a row its table."""
    joined: list[Span] = []
    for start, end in tables.spans(text):
        in_table = joined and tables.is_row(text[start:end]) and tables.is_row(text[slice(*joined[-1])])
        if joined and (in_table or len(words(text[start:end])) < _SHORT):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    spans = [(joined[i][0], joined[min(i + GROUP, len(joined)) - 1][1]) for i in range(0, len(joined), GROUP)]
    if len(spans) > 1 and len(joined) % GROUP == 1:
        spans[-2:] = [(spans[-2][0], spans[-1][1])]
    return spans


def likeliest(text: str, spans: Sequence[Span], query: str, most: int, opening: bool = False) -> list[Span]:
    """Return the spans of a text that share most words with a query, in their order; with `opening` the first, too."""
    if len(spans) <= most:
        return [*spans]
    wanted = set(content_terms(query))
    shared = [len(wanted & set(terms(text[a:b]))) for a, b in spans]
    best = sorted(range(len(spans)), key=lambda i: (not (opening and i == 0), -shared[i]))[:most]
    return [spans[i] for i in sorted(best)]


def strip_of(e: Evidence, item: Item, start: int, end: int, hop: int) -> Strip:
    """Build the row of an item's strip, not scored yet."""
    return {**strip_at(item, start, end, e["query"], hop, -1.0), "title": heading_title(item)}


def select(made: Sequence[Strip], method: Method) -> list[Strip]:
    """Keep the best strips above the threshold, once per text, and with `strip_each` the best one of every item.

    They stand in source order.
    """
    if method.strip_mode == "all":
        return [*made]
    first: dict[str, Strip] = {}
    for strip in made:
        best = first.get(strip["evidence"])
        if best is None or strip["score"] > best["score"]:
            first[strip["evidence"]] = strip
    always = {s["id"] for s in first.values()} if method.strip_each else ()
    able = sorted(
        (s for s in made if s["score"] >= THRESHOLD or s["id"] in always),
        key=lambda s: (-s["score"], s["id"]),
    )
    unique: dict[str, Strip] = {}
    for strip in able:
        unique.setdefault(fold(strip["text"]), strip)
    best_first = list(unique.values())[: method.strips]
    kept = {s["id"] for s in best_first}
    return [s for s in made if s["id"] in kept]
