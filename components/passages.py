"""Turn catalog items into the passages that models score, and those into evidence rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePath

from ragweave.components.evidence import TEXT_LIMIT, Evidence, Strip
from ragweave.corpora.dates import known
from ragweave.corpora.parts import described
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item, Locator
from ragweave.corpora.video.title import filed_as
from ragweave.models import relevance
from ragweave.models.relevance import Idf, Passage
from ragweave.models.relevance_reading import title_terms
from ragweave.models.text import clock, content_terms, sentences, terms, trimmed

_WINDOW = 1_200
"""Characters of a long item that one window shows."""
_CELL = " | "
"""Separates the cells of a row."""
_NESTED = ("paragraph", "document")
"""Corpora whose items may contain each other's text."""
_ALSO = 3
"""Other places of a duplicate that a title names."""

_Span = tuple[int, int]


def heading_title(item: Item) -> str:
    """Return the title under which a model reads an item: document title, then its two innermost headings."""
    path = [h for h in item.heading if h != item.title][-2:]
    if not item.title:
        return " · ".join(path)
    return " · ".join([item.title, *path])


def passage_of(item: Item, query: str = "") -> Passage:
    """Return what the evaluator reads of an item: all of a short one, the best window of a long one."""
    # The text around a picture helps to find it. The evaluator must not see it: every picture of a page would
    # score alike.
    text = described(item) or item.text
    start, end = best_window(text, query)
    title = filed_as(heading_title(item), item.locator.get("file", ""))
    return Passage(title, text[start:end], str(item.meta.get("paragraph", item.id)))


def best_window(text: str, query: str, limit: int = TEXT_LIMIT) -> tuple[int, int]:
    """Return [start, end) of the run of sentences that covers a query best.

    A text within the limit is returned whole.
    """
    if len(text) <= limit:
        return 0, len(text)
    spans, spans_with = _term_index(text)
    hits = [0] * len(spans)
    for term in content_terms(query):
        for n in spans_with.get(term, ()):
            hits[n] += 1
    best: tuple[float, int] = (-1.0, 0)
    window = (0, limit)
    left = 0
    covered = 0
    for right, (_, end) in enumerate(spans):
        covered += hits[right]
        while end - spans[left][0] > _WINDOW and left < right:
            covered -= hits[left]
            left += 1
        if (covered, -left) > best:
            best = (covered, -left)
            start = spans[left][0]
            window = (start, min(end, start + limit))
    return window


def without_words(query: str, known_terms: Set[str]) -> str:
    """Return a query without the words whose terms are known; unchanged if it would lose all its content."""
    if not known_terms:
        return query
    words: list[str] = []
    for word in query.split():
        if known_terms.isdisjoint(terms(word)):
            words.append(word)
    shorter = " ".join(words)
    return shorter if content_terms(shorter) else query


@lru_cache(maxsize=64)
def _term_index(text: str) -> tuple[list[_Span], dict[str, list[int]]]:
    """Return the spans of a long text, and for each term the numbers of the spans that contain it.

    Cached, because every question reads the long texts of a library (whole recordings, say) again.
    """
    spans: list[_Span] = []
    for a, b in sentences(text):
        spans += pieces(text, a, b, _WINDOW)
    spans_with: dict[str, list[int]] = {}
    for n, (a, b) in enumerate(spans):
        for term in set(terms(text[a:b])):
            spans_with.setdefault(term, []).append(n)
    return spans, spans_with


def pieces(text: str, start: int, end: int, limit: int = TEXT_LIMIT) -> list[tuple[int, int]]:
    """Split text[start:end] into spans within the limit, at the end of a word if possible."""
    parts: list[_Span] = []
    while end - start > limit:
        space = max(text.rfind(" ", start + 1, start + limit), text.rfind("\n", start + 1, start + limit))
        stop = space if space > start + limit // 2 else start + limit
        parts.append((start, start + len(text[start:stop].rstrip())))
        start = stop
        while start < end and text[start].isspace():
            start += 1
    if end > start:
        parts.append((start, end))
    return parts


def scores_of(library: Library, query: str, passages: Sequence[Passage]) -> relevance.Scores:
    """Score passages with the shipped head as `scorer_of` does, all of them as one pool."""
    return scorer_of(library, query, passages)([range(len(passages))])[0]


def scorer_of(
    library: Library, query: str, passages: Sequence[Passage]
) -> Callable[[Sequence[Sequence[int]]], list[relevance.Scores]]:
    """Read passages once and return a function that scores pools of them with the shipped head.

    The function takes pools of indexes into `passages`. The library supplies term weights and how near each
    passage is to the query. CPU work: async callers use `asyncio.to_thread`.
    """
    near = near_of(library, query, passages)
    return relevance.scorer(query, passages, weigher(library, query, passages), near)


def weigher(library: Library, query: str, passages: Sequence[Passage]) -> Idf:
    """Return a function that weighs the terms of a query and of the titles of passages."""
    return library.weights(set(terms(query)).union(*map(title_terms, passages))).__getitem__


def near_of(library: Library, query: str, passages: Sequence[Passage]) -> list[float]:
    """Return how near each passage is to a query, in standard deviations; 0 for one without an item."""
    items = {p.item for p in passages if p.item}
    found = library.nearness(query, items)
    return [found.get(p.item, 0.0) for p in passages]


async def relevances(library: Library, query: str, passages: Sequence[Passage]) -> list[float]:
    """Return the absolute relevance of passages by the shipped head, in [-1, 1]."""

    def read() -> list[float]:
        near = near_of(library, query, passages)
        weights = weigher(library, query, passages)
        found: list[float] = relevance.floors(query, passages, weights, near).tolist()
        return found

    return await asyncio.to_thread(read)


def evidence_of(item: Item, query: str, hop: int, score: float, relevance: float) -> Evidence:
    """Build the evidence row of an item; a long item shows the window that matches the query."""
    # The ends of a text that was cut to a time range are blank.
    windows = trimmed(item.text, *best_window(item.text, query))
    start, end = windows[0] if windows else (0, 0)
    heads = column_heads(item.text, start)
    whole = (start, end) == (0, len(item.text))
    row: Evidence = {
        "id": item.id,
        "corpus": item.corpus,
        "origin": "library",
        "title": heading_title(item),
        "text": (heads + item.text[start:end])[:TEXT_LIMIT],
        "locator": item.place if whole else item.locate(start, end),
        "query": query,
        "hop": hop,
        "score": round(float(score), 4),
        "relevance": round(float(relevance), 4),
        "date": item.date.date().isoformat() if item.date else "",
    }
    if item.date:
        # A file name may separate its words by "_" or "-".
        stem = PurePath(item.locator.get("file", "")).stem.replace("_", " ")
        dated = _dated(item.date, (item.title, *item.heading, stem, stem.replace("-", " ")), item.text)
        if dated != row["date"]:
            row["dated"] = dated
    return row


_dated = lru_cache(maxsize=1_000)(known)


def column_heads(text: str, start: int) -> str:
    """Return the head row, with its line end, of the table that a cut at `start` would split, or ""."""
    line = text[text.rfind("\n", 0, start) + 1 :].partition("\n")[0]
    if not start or _CELL not in line:
        return ""
    above = text[:start].rpartition("\n\n")[2]
    for row in above.splitlines():
        if _CELL in row:
            return f"{row}\n"
    return ""


def reading(e: Evidence) -> Passage:
    """Return what an evaluator reads of an evidence row: its text, and what a vision model saw in it."""
    texts = [e["text"]] if e["text"] else []
    if e.get("seen"):
        texts.append(e["seen"])
    return replace(as_read(e), text=" ".join(texts))


def as_read(row: Evidence | Strip) -> Passage:
    """Return a row as a passage, under the title that a model reads."""
    item = str(row.get("evidence") or row["id"])
    return Passage(filed_as(row["title"], row["locator"].get("file", "")), row["text"], item)


def is_nested(row: Evidence) -> bool:
    """Return whether a row may contain the text of other rows of its file, or they its text."""
    return row["corpus"] in _NESTED


def headed(title: str, row: Evidence | None) -> str:
    """Return a title as a model reads it: with file, seconds of a clip, date, other files of the text."""
    if row is None:
        return " ".join(title.split())
    place: Locator = row.get("locator") or {}
    name = PurePath(place.get("file", ""))
    facts: list[str] = []
    if name.name and name.stem != title:
        facts.append(name.name)
    if place.get("kind") == "time":
        facts.append(f"{clock(place.get('start', 0.0))}-{clock(place.get('end', 0.0))}")
    if row["date"]:
        facts.append(row.get("dated") or row["date"])
    others: dict[str, None] = {}
    for other in row.get("also", []):
        others[PurePath(other.get("file", "")).name] = None
    if others:
        facts.append("also in " + ", ".join(list(others)[:_ALSO]))
    shown = name.name if name.stem == title else title
    if facts:
        shown += f" ({'; '.join(facts)})"
    return " ".join(shown.split())


def untitled(strip: Evidence | Strip) -> str:
    """Return the text of a row without a first line that repeats its title."""
    first, end, rest = strip["text"].partition("\n")
    repeated = end and rest.strip() and first.strip() in strip["title"]
    return rest.lstrip() if repeated else strip["text"]


def as_strip(e: Evidence) -> Strip:
    """Return a whole evidence row as one strip, for graphs that do not refine."""
    return {
        "id": f"{e['id']}#0-{len(e['text'])}",
        "evidence": e["id"],
        "text": e["text"],
        "title": e["title"],
        "locator": e["locator"],
        "origin": e["origin"],
        "query": e["query"],
        "hop": e["hop"],
        "score": e["relevance"],
    }


def strip_at(item: Item, start: int, end: int, query: str, hop: int = 0, score: float = 1.0) -> Strip:
    """Return text[start:end] of an item as a strip whose locator covers exactly that span."""
    return {
        "id": f"{item.id}#{start}-{end}",
        "evidence": item.id,
        "text": item.text[start:end],
        "title": item.title,
        "locator": item.locate(start, end),
        "origin": "library",
        "query": query,
        "hop": hop,
        "score": score,
    }


def as_seen(e: Evidence) -> list[Strip]:
    """Return what a vision model saw in a clip as a strip of its own; none if no model looked at it."""
    if not e.get("seen"):
        return []
    strip = as_strip(e)
    strip["id"] = f"{e['id']}~seen#0-{len(e['seen'])}"
    strip["text"] = e["seen"]
    strip["locator"] = without_doubt(strip["locator"])
    return [strip]


def without_doubt(place: Locator) -> Locator:
    """Return a place without its mark of doubtful hearing, for a statement that was not heard there."""
    found = place.copy()
    found.pop("doubtful", None)
    return found
