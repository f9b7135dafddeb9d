"""From catalog items to the passages that models score, and back to evidence rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePath

from ragweave.components.evidence import TEXT_LIMIT, Evidence, Strip
from ragweave.corpora.dates import known
from ragweave.corpora.parts import described
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item, Locator
from ragweave.corpora.video.title import filed_as
from ragweave.models import relevance, tables
from ragweave.models.relevance import Idf, Passage
from ragweave.models.relevance_reading import title_terms
from ragweave.models.text import clock, content_terms, numbers, sentences, terms, trimmed

_WINDOW = 1_200
"""Characters of a long item that one window shows."""
_CELL = " | "
"""What stands between the cells of a row."""
_NESTED = ("paragraph", "document")
"""Corpora of which one holds the texts of the other."""
_ALSO = 3
"""Other places of a duplicate that are named."""


def heading_title(item: Item) -> str:
    """Return the title under which an item is read: document title, then its innermost headings."""
    path = [h for h in item.heading if h != item.title][-2:]
    return " · ".join([item.title, *path]) if item.title else " · ".join(path)


def passage_of(item: Item, query: str = "") -> Passage:
    """Return what the evaluator reads of an item: all of a short one, the best window of a long one."""
    # The text around a picture is kept to find it by; judged by it, each picture of a page is as good as the
    # next.
    text = described(item) or item.text
    start, end = best_window(text, query)
    told = filed_as(heading_title(item), item.locator.get("file", ""))
    return Passage(told, text[start:end], str(item.meta.get("paragraph", item.id)))


def best_window(text: str, query: str, limit: int = TEXT_LIMIT) -> tuple[int, int]:
    """Return [start, end) of the stretch of sentences that covers the query best; all of a text within the limit."""
    if len(text) <= limit:
        return 0, len(text)
    spans, holding = _places_of(text)
    hits = [0] * len(spans)
    for term in content_terms(query):
        for n in holding.get(term, ()):
            hits[n] += 1
    best, window = (-1.0, 0), (0, min(len(text), limit))
    left = 0
    covered = 0
    for right, (_, end) in enumerate(spans):
        covered += hits[right]
        while end - spans[left][0] > _WINDOW and left < right:
            covered -= hits[left]
            left += 1
        if (covered, -left) > best:
            best, window = (covered, -left), (spans[left][0], min(end, spans[left][0] + limit))
    return window


def without_words(query: str, said: Set[str]) -> str:
    """Return a query without the words whose terms are said already, where others of its content remain."""
    left = " ".join(word for word in query.split() if said.isdisjoint(terms(word))) if said else query
    return left if content_terms(left) else query


@lru_cache(maxsize=64)
def _places_of(text: str) -> tuple[list[tuple[int, int]], dict[str, list[int]]]:
    """Return the stretches of a long text, and the numbers of those that hold each term.

    Kept, because what a library holds of long texts (whole recordings, say) is read again for each question.
    """
    spans = [part for a, b in sentences(text) for part in pieces(text, a, b, _WINDOW)]
    holding: dict[str, list[int]] = {}
    for n, (a, b) in enumerate(spans):
        for term in set(terms(text[a:b])):
            holding.setdefault(term, []).append(n)
    return spans, holding


def pieces(text: str, start: int, end: int, limit: int = TEXT_LIMIT) -> list[tuple[int, int]]:
    """Divide text[start:end] where it is longer than the limit, at the end of a word where there is one."""
    parts: list[tuple[int, int]] = []
    while end - start > limit:
        space = max(text.rfind(" ", start + 1, start + limit), text.rfind("\n", start + 1, start + limit))
        stop = space if space > start + limit // 2 else start + limit
        parts.append((start, start + len(text[start:stop].rstrip())))
        start = stop
        while start < end and text[start].isspace():
            start += 1
    return [*parts, (start, end)] if end > start else parts


def scores_of(library: Library, query: str, passages: Sequence[Passage]) -> relevance.Scores:
    """Score passages by the shipped head, as `scorer_of` does, all as one pool."""
    return scorer_of(library, query, passages)([range(len(passages))])[0]


def scorer_of(
    library: Library, query: str, passages: Sequence[Passage]
) -> Callable[[Sequence[Sequence[int]]], list[relevance.Scores]]:
    """Read passages once; return what scores pools of them, by their places, with the shipped head.

    Words weigh what they weigh in the library, and its vectors tell how near a passage is. CPU work: async
    callers use `asyncio.to_thread`.
    """
    return relevance.scorer(
        query, passages, weigher(library, query, passages), near_of(library, query, passages)
    )


def weigher(library: Library, query: str, passages: Sequence[Passage]) -> Idf:
    """Return what the terms of a query and of the titles of passages weigh."""
    return library.weights(set(terms(query)).union(*map(title_terms, passages))).__getitem__


def near_of(library: Library, query: str, passages: Sequence[Passage]) -> list[float]:
    """Return how near each passage is to a query, in standard deviations; 0 for one that is no item's."""
    found = library.nearness(query, {p.item for p in passages if p.item})
    return [found.get(p.item, 0.0) for p in passages]


async def relevances(library: Library, query: str, passages: Sequence[Passage]) -> list[float]:
    """Return the absolute relevance of passages by the shipped head, in [-1, 1]."""

    def read() -> list[float]:
        near = near_of(library, query, passages)
        found: list[float] = relevance.floors(
            query, passages, weigher(library, query, passages), near
        ).tolist()
        return found

    return await asyncio.to_thread(read)


def evidence_of(item: Item, query: str, hop: int, score: float, relevance: float) -> Evidence:
    """Build the evidence row of an item; of a long item it shows the window that matches the query."""
    # What was cut to a time range is blank at its ends.
    start, end = next(iter(trimmed(item.text, *best_window(item.text, query))), (0, 0))
    heads = column_heads(item.text, start)
    made: Evidence = {
        "id": item.id,
        "corpus": item.corpus,
        "origin": "library",
        "title": heading_title(item),
        "text": (heads + item.text[start:end])[:TEXT_LIMIT],
        "locator": item.locate(start, end) if (start, end) != (0, len(item.text)) else item.place,
        "query": query,
        "hop": hop,
        "score": round(float(score), 4),
        "relevance": round(float(relevance), 4),
        "date": item.date.date().isoformat() if item.date else "",
    }
    if item.date:
        # A name of a file has its words apart as it likes.
        stem = PurePath(item.locator.get("file", "")).stem.replace("_", " ")
        dated = _dated(item.date, (item.title, *item.heading, stem, stem.replace("-", " ")), item.text)
        made |= {"dated": dated} if dated != made["date"] else {}
    return made


_dated = lru_cache(maxsize=1_000)(known)


def column_heads(text: str, start: int) -> str:
    """Return the first line, with its end, of the table in which a cut at `start` would begin, or ""."""
    if not start or _CELL not in text[text.rfind("\n", 0, start) + 1 :].partition("\n")[0]:
        return ""
    rows = text[:start].rpartition("\n\n")[2].splitlines()
    return next((f"{row}\n" for row in rows if _CELL in row), "")


def reading(e: Evidence) -> Passage:
    """Return what an evaluator reads of an evidence row: its text, and what a vision model saw in it."""
    return replace(as_read(e), text=" ".join(filter(None, (e["text"], e.get("seen")))))


def as_read(row: Evidence | Strip) -> Passage:
    """Return a row as a passage, under the title that it is read with."""
    item = str(row.get("evidence") or row["id"])
    return Passage(filed_as(row["title"], row["locator"].get("file", "")), row["text"], item)


def best_sentence(text: str, passage: str) -> str:
    """Return the sentence of a passage that shares most numbers, then most words with a text: the quote of a citation.

    Of several that share as many it is the one with the fewest others. A row of a table is read under its
    heads; rows of one table that share as many are quoted from the first to the last, and a table from its
    heads.
    """
    spans = tables.spans(passage)
    told = {s: tables.as_sentence(passage, *s) for s in spans if not tables.is_heads(passage, *s)}
    if not told:
        return passage
    said = {s: set(terms(t)) for s, t in told.items()}
    figures, wanted = _figures(text), set(terms(text))

    def shared_by(span: tuple[int, int]) -> tuple[int, int, int]:
        own = _figures(told[span])
        same = len(figures & own)
        return same, -len(own - figures) * bool(same), len(wanted & said[span])

    shared = {s: shared_by(s) for s in told}
    best = a, b = max(said, key=lambda s: (shared[s], -len(said[s]) * any(shared[s])))
    top, bottom = passage.rfind("\n\n", 0, a), passage.find("\n\n", b) % (len(passage) + 1)
    alike = [s for s in said if top < s[0] < bottom and shared[s] == shared[best]]
    if len(alike) > 1 and tables.is_row(passage[a:b]):
        above = spans[max(0, spans.index(alike[0]) - 1)]
        a, b = (alike[0] if above in said else above)[0], alike[-1][1]
    return passage[a:b]


def _figures(text: str) -> set[str]:
    """Return the numbers of a text, 74,0 % as 74.0."""
    return {n.rstrip("%").replace(",", ".") for n in numbers(text)}


def distinct(rows: Iterable[Evidence], most: int, read: Sequence[Evidence] = ()) -> list[Evidence]:
    """Return the first `most` rows of text that no other row of their file holds, nor one that was read before.

    The whole takes the place of its first part; of a whole and its parts the better score counts for both.
    Headings alone are a part. A whole that says no more than what was read before, but for its title, was
    read.
    """
    kept: list[tuple[Evidence, str]] = []
    before = [(r, _flat(r)) for r in read]
    for row in rows:
        if len(kept) == most:
            break
        text, said = (" ".join(t.split()) for t in (row["text"], untitled(row)))
        if not is_nested(row):
            kept.append((row, ""))
        elif any(said in whole and _same_file(row, r) for r, whole in before):
            continue
        elif (
            at := next((n for n, (r, whole) in enumerate(kept) if text in whole and _same_file(row, r)), -1)
        ) >= 0:
            kept[at] = (_better(kept[at][0], row), kept[at][1])
        else:
            whole = _flat(row)
            parts = [
                n
                for n, (r, _) in enumerate(kept)
                if _same_file(row, r) and " ".join(r["text"].split()) in whole
            ]
            if parts:
                for n in parts:
                    row = _better(row, kept[n][0])
                kept[parts[0]] = (row, whole)
                kept = [k for n, k in enumerate(kept) if n not in parts[1:]]
            else:
                kept.append((row, whole))
    return [row for row, _ in kept]


def _better(row: Evidence, other: Evidence) -> Evidence:
    """Return a row with the better relevance and score of two."""
    relevance, score = max(row["relevance"], other["relevance"]), max(row["score"], other["score"])
    return {**row, "relevance": relevance, "score": score}


def _flat(row: Evidence) -> str:
    return " ".join(f"{row['title']}\n{row['text']}".split()) if is_nested(row) else ""


def _same_file(one: Evidence, other: Evidence) -> bool:
    return one["locator"].get("file") == other["locator"].get("file") and is_nested(other)


def is_nested(row: Evidence) -> bool:
    """Tell whether other rows of its file may hold the text of a row, or their texts be part of its."""
    return row["corpus"] in _NESTED


def headed(title: str, row: Evidence | None) -> str:
    """Return a title as a model reads it: its file, the seconds of a clip, its date, and who else says the same."""
    place: Locator = (row.get("locator") if row else None) or {}
    name = PurePath(place.get("file", ""))
    facts = [name.name] if name.name and name.stem != title else []
    if place.get("kind") == "time":
        facts.append(f"{clock(place.get('start', 0.0))}-{clock(place.get('end', 0.0))}")
    facts += [row.get("dated") or row["date"]] if row and row["date"] else []
    others = dict.fromkeys(PurePath(p.get("file", "")).name for p in row.get("also", [])) if row else {}
    if others:
        facts.append("also in " + ", ".join(list(others)[:_ALSO]))
    shown = name.name if name.stem == title else title
    return " ".join((shown + (f" ({'; '.join(facts)})" if facts else "")).split())


def untitled(strip: Evidence | Strip) -> str:
    """Return the text of a row as it is read under its title: without a first line that repeats it."""
    first, end, rest = strip["text"].partition("\n")
    return rest.lstrip() if end and rest.strip() and first.strip() in strip["title"] else strip["text"]


def as_strip(e: Evidence) -> Strip:
    """Read a whole evidence row as one strip, for graphs that do not refine."""
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
    """Return text[start:end] of an item as a strip, its locator narrowed to exactly that."""
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
    """Read what a vision model saw in a clip as a strip of its own; none where nothing was looked at."""
    if not e.get("seen"):
        return []
    seen = Strip(**{**as_strip(e), "id": f"{e['id']}~seen#0-{len(e['seen'])}", "text": e["seen"]})
    return [Strip(**{**seen, "locator": without_doubt(seen["locator"])})]


def without_doubt(place: Locator) -> Locator:
    """Return a place of which something is told that was not heard there."""
    found = place.copy()
    found.pop("doubtful", None)
    return found
