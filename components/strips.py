"""Cut items into strips and select the best (CRAG, section 4.4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragweave.components.evidence import Evidence, Strip
from ragweave.components.method import Method
from ragweave.components.passages import as_strip, best_window, heading_title, pieces, strip_at
from ragweave.corpora.types import Item
from ragweave.models import tables
from ragweave.models.text import content_terms, fold, terms, words

THRESHOLD = -0.5
"""Relevance below which a strip is dropped (CRAG, section 4.4)."""
GROUP = 3
"""Sentences per strip."""
_SHORT = 5
"""Words below which a sentence joins its neighbour."""
_MOST = 64
"""Strips of one item to score: in a very long item, those that share the most words with the query."""

Span = tuple[int, int]


def cut(text: str, mode: str, query: str) -> list[Span]:
    """Cut a text into [start, end) of strips that fit in a state row; an empty text gives none.

    Args:
        text: whole text of an item or page.
        mode: `sentences` or `whole`; the whole of a long item is the window that covers the query best.
        query: query that the strips will be scored against.
    """
    if mode == "whole":
        a, b = best_window(text, query)
        shown = text[a:b].strip()
        start = text.index(shown, a)
        spans = [(start, start + len(shown))] if shown else []
    else:
        spans = groups(text)
    fitting: list[Span] = []
    for a, b in spans:
        fitting += pieces(text, a, b)
    return likeliest(text, fitting, query, _MOST)


def groups(text: str) -> list[Span]:
    """Return groups of sentences.

    A short sentence, and a single one at the end, joins those before it. A row joins its table.
    """
    joined: list[Span] = []
    for start, end in tables.spans(text):
        sentence = text[start:end]
        if joined:
            before, before_end = joined[-1]
            in_table = tables.is_row(sentence) and tables.is_row(text[before:before_end])
            if in_table or len(words(sentence)) < _SHORT:
                joined[-1] = (before, end)
                continue
        joined.append((start, end))
    spans: list[Span] = []
    for first in range(0, len(joined), GROUP):
        group = joined[first : first + GROUP]
        spans.append((group[0][0], group[-1][1]))
    if len(spans) > 1 and len(joined) % GROUP == 1:
        last = spans.pop()
        spans[-1] = (spans[-1][0], last[1])
    return spans


def likeliest(text: str, spans: Sequence[Span], query: str, most: int, opening: bool = False) -> list[Span]:
    """Return the spans of a text that share the most words with a query, in their order.

    With `opening`, the first span is among them.
    """
    if len(spans) <= most:
        return [*spans]
    wanted = set(content_terms(query))
    shared: list[int] = []
    for start, end in spans:
        shared.append(len(wanted.intersection(terms(text[start:end]))))
    order = sorted(range(len(spans)), key=lambda i: -shared[i])
    if opening:
        order.remove(0)
        order.insert(0, 0)
    return [spans[i] for i in sorted(order[:most])]


def strip_of(e: Evidence, item: Item, start: int, end: int, hop: int) -> Strip:
    """Return a strip of an item without a score yet."""
    return {**strip_at(item, start, end, e["query"], hop, -1.0), "title": heading_title(item)}


def strip_of_text(e: Evidence, start: int, end: int) -> Strip:
    """Build the row of a strip of a text that no library holds, not scored yet."""
    strip = as_strip(e)
    return {**strip, "id": f"{e['id']}#{start}-{end}", "text": e["text"][start:end], "score": -1.0}


def select(made: Sequence[Strip], method: Method) -> list[Strip]:
    """Return the best strips above the threshold, each text once, in source order.

    With `strip_each`, the best strip of every item counts as above the threshold.
    """
    if method.strip_mode == "all":
        return [*made]
    always = _best_of_each(made) if method.strip_each else set()
    unique: dict[str, Strip] = {}
    for strip in sorted(made, key=lambda s: (-s["score"], s["id"])):
        if strip["score"] >= THRESHOLD or strip["id"] in always:
            unique.setdefault(fold(strip["text"]), strip)
    best = list(unique.values())[: method.strips]
    kept = _ids(best)
    return [strip for strip in made if strip["id"] in kept]


def _ids(strips: Iterable[Strip]) -> set[str]:
    return {strip["id"] for strip in strips}


def _best_of_each(made: Sequence[Strip]) -> set[str]:
    """Return the ids of the best strip of each item, the first of equals."""
    best: dict[str, Strip] = {}
    for strip in made:
        other = best.get(strip["evidence"])
        if other is None or strip["score"] > other["score"]:
            best[strip["evidence"]] = strip
    return _ids(best.values())
