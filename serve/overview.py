"""The front page of a library: its files by kind, the newest of them, and what a chat model wrote of it.

A question is kept where a search for it finds the passage that it was written from.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from ragweave.components.context import Context
from ragweave.components.overview import overview_of
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.rows import Source
from ragweave.corpora.store.stores import stores
from ragweave.corpora.titles import told_apart
from ragweave.corpora.types import Item
from ragweave.graphs import run as graphs
from ragweave.models.chat import chat
from ragweave.models.meter import Limits, Meter
from ragweave.serve.database import Database
from ragweave.serve.media import with_openings
from ragweave.serve.problems import Refused
from ragweave.serve.slots import Slots

_PARAGRAPHS = 40
"""Paragraphs of a source that a passage is chosen from."""
_DOCUMENTS, _QUESTIONS = 6, 4
"""Most that is told of each kind."""
_PASSAGES = 10
"""Passages that the chat model reads."""
_FIRST = 2
"""A question is kept where its passage is among so many."""
_TRIES, _TOKENS = 3, 12_000
"""Attempts at the one reply in which a chat model writes, and the tokens that they may take."""


class Overviews:
    """The overviews of this server: one that is being written is written to its end, whoever leaves."""

    def __init__(self, store: Database, slots: Slots) -> None:
        self._store, self._slots = store, slots
        self._tasks: dict[tuple[str, int], asyncio.Task[None]] = {}

    async def read(self, library: LibraryRow) -> dict[str, Any]:
        """Return the front page of a library, and whether a chat model is `writing` for it."""
        return {"writing": _key(library) in self._tasks, **await overview(library, self._store)}

    async def write(self, library: LibraryRow) -> None:
        """Have the chat model write, unless it does so already, and wait for the end.

        Raises:
            Refused: no chat model is set up, what it wrote cannot be used, or somebody stopped it.
        """
        key = _key(library)
        if key not in self._tasks:
            self._slots.take()
            self._tasks[key] = asyncio.create_task(_write(library, self._store))
            self._tasks[key].add_done_callback(partial(self._ended, key))
        task = self._tasks[key]
        await asyncio.wait([task])
        if task.cancelled():
            raise Refused(409, "the writing was stopped", "ask for it once more").named("writing_stopped")
        task.result()

    def stop(self, library: LibraryRow) -> None:
        """Stop the chat model that writes for a library."""
        for (id, _), task in self._tasks.items():
            if id == library.id:
                task.cancel()

    async def close(self) -> None:
        """Stop all."""
        for task in (tasks := [*self._tasks.values()]):
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _ended(self, key: tuple[str, int], task: asyncio.Task[None]) -> None:
        del self._tasks[key]
        self._slots.give()
        if not task.cancelled():
            task.exception()  # whoever waits is told; nobody may


def _key(library: LibraryRow) -> tuple[str, int]:
    return library.id, library.generation


async def overview(library: LibraryRow, store: Database) -> dict[str, Any]:
    """Return the files of each of the `kinds`, the newest `documents`, and what was written since the last change."""
    sources = await asyncio.to_thread(_sources, library)
    newest = sorted(sources, key=lambda s: (str(s.date or ""), s.indexed_at), reverse=True)[:_DOCUMENTS]
    titles = told_apart([(s.title, s.path) for s in newest])
    rows = zip(newest, titles, strict=True)
    documents = [{"source": s.id, "title": t, "date": str(s.date.date()) if s.date else ""} for s, t in rows]
    written = await asyncio.to_thread(store.overview, library.id, library.generation)
    told = written or {"summary": "", "questions": []}
    return {"kinds": Counter(s.kind for s in sources), "documents": documents, **told}


async def _write(library: LibraryRow, store: Database) -> None:
    """Keep the summary and questions of the chat model, `by` whom, and the `spent` of one call, unless they are kept.

    They count until the library changes; with the cache of replies on, the same passages cost nothing later
    either.
    """
    model, key = chat(), _key(library)
    if model is None:
        raise Refused(409, "no chat model is set up", "run `ragweave setup`, or set RAGWEAVE_CHAT").named(
            "no_chat_model_set"
        )
    if await asyncio.to_thread(store.overview, *key) is not None:
        return
    titles, items = await asyncio.to_thread(_read, library)
    meter = Meter(Limits(calls=_TRIES, tokens=_TOKENS))
    summary, rows = await overview_of(titles, [item.text for item in items], model, meter)
    kept = await _answered(library, [(items[n], asked, a, b) for n, asked, a, b in rows])
    if not (summary or kept):
        raise Refused(502, f"nothing that {model.name} wrote could be used", "ask for it once more").named(
            "nothing_wrote_could_used", name=model.name
        )
    told = {"summary": summary, "questions": kept, "by": model.name, "spent": asdict(meter.spent)}
    await asyncio.to_thread(store.keep_overview, *key, told)


def _sources(library: LibraryRow) -> list[Source]:
    return [s for s in stores().catalog.sources(library.id) if s.status != "failed"]


def _read(library: LibraryRow) -> tuple[list[str], list[Item]]:
    """Return the titles of all sources, and the longest paragraphs of evenly spaced ones, one of each in turn."""
    sources, catalog = _sources(library), stores().catalog
    read = [
        sorted(catalog.items_of(library.id, s.id, "paragraph")[:_PARAGRAPHS], key=lambda i: -len(i.text))
        for s in sources[:: max(1, -(-len(sources) // _PASSAGES))]
    ]
    most = max(map(len, read), default=0)
    passages = [rows[n] for n in range(most) for rows in read if n < len(rows)][:_PASSAGES]
    return [s.title for s in sources], passages


async def _answered(
    library: LibraryRow, written: Sequence[tuple[Item, str, int, int]]
) -> list[dict[str, Any]]:
    """Return as citations the questions that find their own passage, each with the words that answer it."""
    context = Context(library=library.name, mode="extractive", web="off", corpora=["paragraph"])
    kept: list[dict[str, Any]] = []
    for item, question, start, end in written:
        hits = await graphs.asearch(question, context=context)
        if len(kept) < _QUESTIONS and item.id in [row["id"] for row in hits[:_FIRST]]:
            quote = " ".join(item.text[start:end].split())
            row = {"id": item.id, "title": item.title, "locator": item.locate(start, end), "quote": quote}
            kept.append({**row, "question": question})
    return await with_openings(library, kept)
