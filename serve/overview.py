"""The front page of a library: its newest documents, and questions that a chat model wrote at the reader's wish.

A question is kept where a search for it finds the passage that it was written from.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ragweave.components.context import Context
from ragweave.components.llm.questions import questions_of
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.rows import Source
from ragweave.corpora.store.stores import stores
from ragweave.corpora.titles import told_apart
from ragweave.corpora.types import Item
from ragweave.graphs import run as graphs
from ragweave.models.chat import chat
from ragweave.models.meter import Limits, Meter
from ragweave.serve.media import with_openings
from ragweave.serve.problems import Refused

_PARAGRAPHS = 40
"""Paragraphs of a source that a passage is chosen from."""
_DOCUMENTS, _QUESTIONS, _PLACES = 6, 10, 3
"""Most that is told of each kind."""
_FIRST = 2
"""A question is kept where its passage is among so many."""
_TRIES = 3
"""Attempts at the one reply in which a chat model writes questions."""
_KEPT = 32
"""Libraries whose questions are kept until they change."""

_written: OrderedDict[tuple[str, int], dict[str, Any]] = OrderedDict()
_writing = asyncio.Lock()


@dataclass(frozen=True)
class _Part:
    """[start, end) of an item, and the question that it answers; the whole item where `end` is 0."""

    item: Item
    start: int = 0
    end: int = 0
    question: str = ""


async def overview(library: LibraryRow) -> dict[str, Any]:
    """Return the newest `documents`, and the `questions` that were written since the library last changed."""
    sources = await asyncio.to_thread(_sources, library)
    newest = sorted(sources, key=lambda s: (str(s.date or ""), s.indexed_at), reverse=True)[:_DOCUMENTS]
    titles = told_apart([(s.title, s.path) for s in newest])
    rows = zip(newest, titles, strict=True)
    documents = [{"source": s.id, "title": t, "date": str(s.date.date()) if s.date else ""} for s, t in rows]
    return {"documents": documents, **_written.get((library.id, library.generation), {"questions": []})}


async def rewritten(library: LibraryRow) -> dict[str, Any]:
    """Return the front page with the questions of the chat model, `by` whom, and the `spent` of one call.

    They are kept until the library changes; with the cache of replies on, the same passages cost nothing later either.
    """
    model, key = chat(), (library.id, library.generation)
    if model is None:
        raise Refused(409, "no chat model is set up", "run `ragweave setup`, or set RAGWEAVE_CHAT")
    async with _writing:
        if key not in _written:
            items, meter = await asyncio.to_thread(_passages, library), Meter(Limits(calls=_TRIES))
            rows = await questions_of([item.text for item in items], model, meter)
            kept = await _answered(library, [_Part(items[n], a, b, asked) for n, asked, a, b in rows])
            if not kept:
                raise Refused(502, f"no question that {model.name} wrote could be used", "ask for them once more")
            told = [
                {**row, "question": part.question} for part, row in zip(kept, await _cited(library, kept), strict=True)
            ]
            _written[key] = {"questions": told, "by": model.name, "spent": asdict(meter.spent)}
            while len(_written) > _KEPT:
                _written.popitem(last=False)
    return await overview(library)


async def further(library: LibraryRow, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the sections that follow those of some items in their sources."""
    found = await asyncio.to_thread(_sections, library, ids)
    return await _cited(library, [_Part(item) for item in found])


def _sections(library: LibraryRow, ids: Sequence[str]) -> list[Item]:
    """Return the items that begin the sections after those of some items, then those before."""
    catalog = stores().catalog
    held = list(catalog.items(library.id, ids).values())
    own = {i.heading for i in held}
    sections = dict[tuple[str, ...], Item]()
    for source in dict.fromkeys(i.source for i in held):
        rows = catalog.items_of(library.id, source, "paragraph")
        at = max((n for n, i in enumerate(rows) if i.heading in own), default=0)
        for item in [*rows[at:], *rows[:at]]:
            if item.heading and item.heading not in own:
                sections.setdefault(item.heading, item)
    return list(sections.values())[:_PLACES]


def _sources(library: LibraryRow) -> list[Source]:
    return [s for s in stores().catalog.sources(library.id) if s.status != "failed"]


def _passages(library: LibraryRow) -> list[Item]:
    """Return the longest paragraphs of evenly spaced sources, one of each in turn."""
    sources, catalog = _sources(library), stores().catalog
    read = [
        sorted(catalog.items_of(library.id, s.id, "paragraph")[:_PARAGRAPHS], key=lambda i: -len(i.text))
        for s in sources[:: max(1, -(-len(sources) // _QUESTIONS))]
    ]
    most = max(map(len, read), default=0)
    return [rows[n] for n in range(most) for rows in read if n < len(rows)][:_QUESTIONS]


async def _answered(library: LibraryRow, parts: Sequence[_Part]) -> list[_Part]:
    """Return those whose question finds their own passage."""
    context = Context(library=library.name, mode="extractive", web="off", corpora=["paragraph"], expand_when="never")
    kept: list[_Part] = []
    for part in parts:
        hits = await graphs.asearch(part.question, context=context)
        if part.item.id in [row["id"] for row in hits[:_FIRST]]:
            kept.append(part)
    return kept


async def _cited(library: LibraryRow, parts: Sequence[_Part]) -> list[dict[str, Any]]:
    rows = [{"id": p.item.id, "title": p.item.title, "locator": _locator(p), "quote": _quote(p)} for p in parts]
    return await with_openings(library, rows)


def _quote(part: _Part) -> str:
    return " ".join(part.item.text[part.start : part.end].split())


def _locator(part: _Part) -> Any:
    """Return the place of a part; of a whole item, the place where it begins."""
    place = part.item.locate(part.start, part.end or 1)
    if not part.end:
        place.pop("chars")
    return place
