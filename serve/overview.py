"""Build the overview of a library: its files by kind, the newest files, a summary and suggested questions.

A chat model writes summary and questions from passages of the library. A question is kept only if a search
for it finds the passage that it was written from.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from itertools import zip_longest
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
"""Paragraphs at the beginning of a source from which a passage is chosen."""
_DOCUMENTS = 6
"""Most documents that are listed."""
_QUESTIONS = 4
"""Most questions that are suggested."""
_PASSAGES = 10
"""Passages that the chat model reads."""
_FIRST = 2
"""A question is kept if its passage is among so many first results."""
_TRIES = 3
"""Attempts to get a usable reply from the chat model."""
_TOKENS = 12_000
"""Tokens that all attempts together may use."""


class Overviews:
    """The overviews of this server; writing one continues if the client disconnects."""

    def __init__(self, store: Database, slots: Slots) -> None:
        self._store, self._slots = store, slots
        self._tasks: dict[tuple[str, int], asyncio.Task[None]] = {}

    async def read(self, library: LibraryRow) -> dict[str, Any]:
        """Return the overview of a library, and whether a chat model is `writing` it."""
        return {"writing": _key(library) in self._tasks, **await overview(library, self._store)}

    async def write(self, library: LibraryRow) -> None:
        """Let the chat model write, unless it does so already, and wait for the end.

        Raises:
            Refused: no chat model is set up, its reply cannot be used, or the writing was stopped.
        """
        key = _key(library)
        if key not in self._tasks:
            self._slots.take()
            self._tasks[key] = asyncio.create_task(_write(library, self._store))
            self._tasks[key].add_done_callback(partial(self._ended, key))
        task = self._tasks[key]
        await asyncio.wait([task])
        if task.cancelled():
            raise Refused(409, "the writing was stopped", "ask for it once more").named("overview_stopped")
        task.result()

    def stop(self, library: LibraryRow) -> None:
        """Stop the chat model that writes for a library."""
        for (id, _), task in self._tasks.items():
            if id == library.id:
                task.cancel()

    async def close(self) -> None:
        """Stop the writing of all overviews."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _ended(self, key: tuple[str, int], task: asyncio.Task[None]) -> None:
        del self._tasks[key]
        self._slots.give()
        if not task.cancelled():
            task.exception()  # mark it as read: there may be no client left that waits for it


def _key(library: LibraryRow) -> tuple[str, int]:
    return library.id, library.generation


async def overview(library: LibraryRow, store: Database) -> dict[str, Any]:
    """Return the number of files by `kinds`, the newest `documents`, the `summary` and the `questions`.

    Summary and questions are empty if none was written since the library changed last.
    """
    sources = await asyncio.to_thread(_sources, library)
    newest = sorted(sources, key=lambda s: (str(s.date or ""), s.indexed_at), reverse=True)[:_DOCUMENTS]
    titles = told_apart([(s.title, s.path) for s in newest])
    documents = []
    for source, title in zip(newest, titles, strict=True):
        date = str(source.date.date()) if source.date else ""
        documents.append({"source": source.id, "title": title, "date": date})
    written = await asyncio.to_thread(store.overview, library.id, library.generation)
    if not written:
        written = {"summary": "", "questions": []}
    kinds = Counter([source.kind for source in sources])
    return {"kinds": kinds, "documents": documents, **written}


async def _write(library: LibraryRow, store: Database) -> None:
    """Store the summary and questions, the model they are `by`, and the budget `spent`; at most once.

    They are valid until the library changes. If the cache of replies is on, the same passages cost nothing
    later either.
    """
    model = chat()
    key = _key(library)
    if model is None:
        raise Refused(409, "no chat model is set up", "run `ragweave setup`, or set RAGWEAVE_CHAT").named(
            "chat_model_missing"
        )
    if await asyncio.to_thread(store.overview, *key) is not None:
        return
    titles, items = await asyncio.to_thread(_titles_and_passages, library)
    meter = Meter(Limits(calls=_TRIES, tokens=_TOKENS))
    summary, rows = await overview_of(titles, [item.text for item in items], model, meter)
    written = [(items[n], question, start, end) for n, question, start, end in rows]
    kept = await _answered(library, written)
    if not (summary or kept):
        raise Refused(502, f"nothing that {model.name} wrote could be used", "ask for it once more").named(
            "overview_unusable", name=model.name
        )
    result = {"summary": summary, "questions": kept, "by": model.name, "spent": asdict(meter.spent)}
    await asyncio.to_thread(store.keep_overview, *key, result)


def _sources(library: LibraryRow) -> list[Source]:
    """Return the sources of a library that could be indexed."""
    return [s for s in stores().catalog.sources(library.id) if s.status != "failed"]


def _titles_and_passages(library: LibraryRow) -> tuple[list[str], list[Item]]:
    """Return the titles of all sources, and long passages of evenly spaced ones, one of each in turn."""
    sources = _sources(library)
    step = max(1, math.ceil(len(sources) / _PASSAGES))
    longest_first: list[list[Item]] = []
    for source in sources[::step]:
        paragraphs = stores().catalog.items_of(library.id, source.id, "paragraph")[:_PARAGRAPHS]
        longest_first.append(sorted(paragraphs, key=lambda item: -len(item.text)))
    passages: list[Item] = []
    for nth in zip_longest(*longest_first):
        for item in nth:
            if item is not None:
                passages.append(item)
    return [s.title for s in sources], passages[:_PASSAGES]


async def _answered(
    library: LibraryRow, written: Sequence[tuple[Item, str, int, int]]
) -> list[dict[str, Any]]:
    """Return the questions that find their own passage, as citations that quote the answer."""
    context = Context(library=library.name, mode="extractive", web="off", corpora=["paragraph"])
    kept: list[dict[str, Any]] = []
    for item, question, start, end in written:
        hits = await graphs.asearch(question, context=context)
        first = [row["id"] for row in hits[:_FIRST]]
        if len(kept) < _QUESTIONS and item.id in first:
            quote = " ".join(item.text[start:end].split())
            row = {"id": item.id, "title": item.title, "locator": item.locate(start, end), "quote": quote}
            kept.append({**row, "question": question})
    return await with_openings(library, kept)
