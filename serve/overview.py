"""The front page of a library: when what is in it was, and questions that it answers, each from a sentence of its own.

A question is kept where a search for it finds the passage of its own sentence. No model is asked, but where the reader
wants a chat model to write the questions.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import asdict
from typing import Any

from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.rows import Source
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Item, Locator
from ragweave.graphs import run as graphs
from ragweave.minds.context import Context
from ragweave.minds.evidence import Evidence
from ragweave.minds.llm.questions import questions_of
from ragweave.models.chat import chat
from ragweave.models.meter import Limits, Meter
from ragweave.serve.differing import differing
from ragweave.serve.facts import Fact, facts
from ragweave.serve.media import with_openings
from ragweave.serve.problems import Refused

_SOURCES = 100
"""Sources that are read; of more, evenly spaced ones."""
_PARAGRAPHS = 40
"""Paragraphs read of each."""
_EVENTS, _DOCUMENTS, _QUESTIONS, _FOLLOW = 12, 6, 10, 3
"""Most that is told of each kind."""
_TRIED = 3
"""Times as many questions are tried as are told."""
_FIRST = 2
"""A question is kept where its passage is among so many."""
_TRIES = 3
"""Attempts at the one reply in which a chat model writes questions."""
_KEPT = 32
"""Libraries whose front page is kept until they change."""

_made: OrderedDict[tuple[str, int], dict[str, Any]] = OrderedDict()
_making = asyncio.Lock()


async def overview(library: LibraryRow) -> dict[str, Any]:
    """Return the front page: `timeline`, `questions` and what is `differing`; it is kept until the library changes."""
    key = (library.id, library.generation)
    async with _making:
        if key not in _made:
            found = await asyncio.to_thread(_read, library)
            _made[key] = await _told(library, *found)
            while len(_made) > _KEPT:
                _made.popitem(last=False)
        return _made[key]


async def rewritten(library: LibraryRow) -> dict[str, Any]:
    """Return the front page with questions of the chat model before the others, `by` whom, and the `spent` of one call.

    Kept as the page is; with the cache of replies on, the same passages cost nothing later either.
    """
    page, model = await overview(library), chat()
    if model is None:
        raise Refused(409, "no chat model is set up", "run `ragweave setup`, or set RAGWEAVE_CHAT")
    if "by" in page:
        return page
    items, meter = await asyncio.to_thread(_passages, library), Meter(Limits(calls=_TRIES))
    rows = await questions_of([item.text for item in items], model, meter)
    kept, _ = await _answered(library, [Fact(items[n], a, b, asked) for n, asked, a, b in rows], _QUESTIONS)
    if not kept:
        raise Refused(502, f"no question that {model.name} wrote could be used", "those that stand there stay")
    told = [{**row, "question": f.question} for f, row in await _cited(library, kept)]
    told += [row for row in page["questions"] if row["id"] not in {t["id"] for t in told}]
    made = {**page, "questions": told[:_QUESTIONS], "by": model.name, "spent": asdict(meter.spent)}
    _made[library.id, library.generation] = made
    return made


def _passages(library: LibraryRow) -> list[Item]:
    """Return the longest paragraphs of evenly spaced sources, one of each in turn."""
    rows = list[Fact]()
    for items in _sampled(library, _sources(library), _QUESTIONS):
        rows += [Fact(item, 0, 0) for item in sorted(items, key=lambda i: -len(i.text))[:_QUESTIONS]]
    return [fact.item for fact in _spread(rows, lambda f: f.item.id)[:_QUESTIONS]]


async def _told(library: LibraryRow, sources: Sequence[Source], found: Sequence[Fact]) -> dict[str, Any]:
    dated = sorted((s for s in sources if s.date), key=lambda s: str(s.date), reverse=True)[:_DOCUMENTS]
    events = [
        {**row, "date": f.when.isoformat(), "precise": f.precise}
        for f, row in await _cited(library, _events(found))
        if f.when
    ]
    documents = [
        {"date": str(s.date.date()), "precise": "document", "source": s.id, "title": s.title} for s in dated if s.date
    ]
    asked, tried = await _answered(library, _spread(found, lambda f: f.question), _QUESTIONS, further=True)
    return {
        "timeline": sorted([*events, *documents], key=lambda row: (row["date"], row["title"])),
        "questions": [{**row, "question": f.question} for f, row in await _cited(library, asked)],
        "differing": await differing(library, tried),
    }


async def follow_ups(library: LibraryRow, ids: Sequence[str], asked: str) -> dict[str, Any]:
    """Return what comes next to some items: questions of their sources that were not just asked, further sections."""
    found, sections = await asyncio.to_thread(_near, library, ids, _words(asked))
    kept, _ = await _answered(library, list({f.question: f for f in found}.values()), _FOLLOW)
    return {
        "questions": [{**row, "question": f.question} for f, row in await _cited(library, kept)],
        "places": [row for _, row in await _cited(library, [Fact(i, 0, 0) for i in sections])],
    }


def _near(library: LibraryRow, ids: Sequence[str], asked: Set[str]) -> tuple[list[Fact], list[Item]]:
    """Return facts of the sources of some items, the items' own sections first, and items that begin the next ones."""
    catalog = stores().catalog
    held = list(catalog.items(library.id, ids).values())
    own = {i.heading for i in held}
    found, sections = [], dict[tuple[str, ...], Item]()
    for source in dict.fromkeys(i.source for i in held):
        rows = catalog.items_of(library.id, source, "paragraph")
        at = max((n for n, i in enumerate(rows) if i.heading in own), default=0)
        found += [f for f in facts(rows[:_PARAGRAPHS]) if f.question and not _same(_words(f.question), asked)]
        for item in [*rows[at:], *rows[:at]]:
            if item.heading and item.heading not in own:
                sections.setdefault(item.heading, item)
    return sorted(found, key=lambda f: f.item.heading not in own), list(sections.values())[:_FOLLOW]


def _words(text: str) -> frozenset[str]:
    return frozenset(w.strip("?,.").lower() for w in text.split())


def _same(a: Set[str], b: Set[str]) -> bool:
    return len(a & b) >= 0.8 * min(len(a), len(b))


def _read(library: LibraryRow) -> tuple[list[Source], list[Fact]]:
    sources = _sources(library)
    return sources, [fact for items in _sampled(library, sources, _SOURCES) for fact in facts(items)]


def _sources(library: LibraryRow) -> list[Source]:
    return [s for s in stores().catalog.sources(library.id) if s.status != "failed"]


def _sampled(library: LibraryRow, sources: Sequence[Source], most: int) -> Iterator[list[Item]]:
    """Yield the first paragraphs of sources, of evenly spaced ones where there are more than `most`."""
    for source in sources[:: max(1, -(-len(sources) // most))]:
        yield stores().catalog.items_of(library.id, source.id, "paragraph")[:_PARAGRAPHS]


def _events(found: Sequence[Fact]) -> list[Fact]:
    """Choose dated sentences: the more precise first, from as many sources as there are."""
    order = {"day": 0, "month": 1, "year": 2}
    rows = sorted((f for f in found if f.when), key=lambda f: order[f.precise])
    return _spread(rows, lambda f: f.when)[:_EVENTS]


def _spread(found: Iterable[Fact], key: Any) -> list[Fact]:
    """Return facts that have a key, each key once, one of each source in turn."""
    held: dict[str, list[Fact]] = {}
    seen = set()
    for fact in found:
        if key(fact) and key(fact) not in seen:
            seen.add(key(fact))
            held.setdefault(fact.item.source, []).append(fact)
    return [rows[n] for n in range(max(map(len, held.values()), default=0)) for rows in held.values() if n < len(rows)]


async def _answered(
    library: LibraryRow, found: Sequence[Fact], most: int, *, further: bool = False
) -> tuple[list[Fact], list[tuple[str, list[Evidence]]]]:
    """Return the first facts whose question finds their own passage, and what each question that was tried found.

    With `further`, the rest are tried as well.
    """
    kept: list[Fact] = []
    tried: list[tuple[str, list[Evidence]]] = []
    context = Context(library=library.name, mind="small", web="off", corpora=["paragraph"], expand_when="never")
    for fact in found[: most * _TRIED]:
        hits = await graphs.asearch(fact.question, context=context)
        tried.append((fact.question, hits))
        if len(kept) < most and fact.item.id in [row["id"] for row in hits[:_FIRST]]:
            kept.append(fact)
        if len(kept) == most and not further:
            break
    return kept, tried


async def _cited(library: LibraryRow, found: Sequence[Fact]) -> list[tuple[Fact, dict[str, Any]]]:
    rows = [
        {"id": f.item.id, "title": f.item.title, "locator": _locator(f.item, f.start, f.end), "quote": f.text}
        for f in found
    ]
    return list(zip(found, await with_openings(library, rows), strict=True))


def _locator(item: Item, start: int, end: int) -> Locator:
    """Return the place of a stretch of an item; without one, the place where the item begins."""
    place = item.locate(start, end or 1)
    if not end:
        place.pop("chars")
    return place
