"""An open library: search it, read its items, remove sources.

Methods that are not coroutines read the catalog and block: call them in a worker thread.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import document_names, locks, named, nearness, visual_search
from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.folders import arrived, sweep
from ragweave.corpora.store.objects import discard, take_in_uploads
from ragweave.corpora.store.rows import RecordingRow, Source
from ragweave.corpora.store.search import Kind, search
from ragweave.corpora.store.stores import Stores, check_encoder, open_stores, stores
from ragweave.corpora.store.together import together
from ragweave.corpora.types import Corpus, Item, Lists
from ragweave.models import embed
from ragweave.models.embed import Encoder
from ragweave.models.errors import InputError
from ragweave.models.settings import model_settings

__all__ = ["Kind", "Library", "create_library", "delete_library", "open_library"]

T = TypeVar("T")

_MIN_LANGUAGE_SHARE = 0.005
"""Share of the sources that a language needs to be listed."""
_MOST_LANGUAGES = 6
_MOST_WEIGHTS = 100_000
"""Terms whose inverse document frequency is cached for one generation."""
PRIOR = 50
"""Items added to the count of a library when the rarity of a word is computed."""

_COUNTED: tuple[Corpus, ...] = ("paragraph", "clip")
"""Corpora over which rarity is computed: they hold every text exactly once."""


@dataclass(frozen=True)
class Library:
    """One library, open for questions; safe to share between tasks and threads. Its id outlives its name.

    `start` and `end`, in seconds, limit the part of its recordings that is read; None is no limit.
    """

    name: str
    id: str
    held: Stores
    encoder: Encoder
    start: float | None = None
    end: float | None = None

    async def about(self) -> LibraryRow:
        """Return the row of this library in the catalog."""
        return await self._cached("row", self.held.catalog.row)

    async def counts(self) -> dict[Corpus, int]:
        """Return the number of items in each corpus that holds any."""
        return await self._cached("counts", self.held.catalog.counts)

    async def _cached(self, name: str, read: Callable[[str], T]) -> T:
        """Return a cached value of the library; if there is none, read it in a thread."""
        memory = self.held.catalog.remembered(self.id)
        if memory is not None and name in memory:
            known: T = memory[name]
            return known
        return await asyncio.to_thread(read, self.id)

    async def search(
        self,
        corpus: Corpus,
        queries: Sequence[str],
        k: int = 50,
        sources: Sequence[str] = (),
        only: Kind | None = None,
    ) -> list[Lists]:
        """Return the dense, lexical and visual lists of each query, all as of one generation of the library.

        The queries are embedded and searched in one batch. All sources are searched if none are given. `only`
        names the one list that is wanted.

        Raises:
            LibraryError: a store cannot be read, or the library was deleted.
        """
        if not queries or k < 1:
            return [Lists() for _ in queries]
        # A hop to a thread costs more than most searches, so those of one round share a hop.
        return await together(
            self.id, lambda: self._search(corpus, queries, k, sources, only), self._snapshot
        )

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Let all reads of the block see one generation: they share a transaction."""
        with self.held.catalog.reading(self.id):
            yield

    def _search(
        self, corpus: Corpus, queries: Sequence[str], k: int, sources: Sequence[str], only: Kind | None
    ) -> list[Lists]:
        with self._snapshot():
            return search(self.held, self.id, self.encoder, corpus, queries, k, sources, only)

    async def items(self, ids: Sequence[str]) -> dict[str, Item]:
        """Return items with their full text; ids that this library does not hold are left out."""
        known: Mapping[str, Item] = self.remembered("items")
        if not known.keys() >= set(ids):
            return await asyncio.to_thread(self.read, ids)
        wanted = [known[id_] for id_ in dict.fromkeys(ids)]
        return _by_id(self._in_time(wanted))

    def is_called(self, name: str) -> bool:
        """Tell whether the cached row of the library has this name; False if no row is cached."""
        row: LibraryRow | None = self._memory_now().get("row")
        return row is not None and row.name == name

    def memory(self) -> dict[str, Any]:
        """Return the cache of the library, which lasts until the next commit. Blocks."""
        return self.held.catalog.memory(self.id)

    def remembered(self, name: str) -> Mapping[str, Any]:
        """Return a cached table of the library without blocking; an empty one if it is not cached."""
        return self._memory_now().get(name) or {}

    def _memory_now(self) -> Mapping[str, Any]:
        return self.held.catalog.remembered(self.id) or {}

    def read(self, ids: Sequence[str]) -> dict[str, Item]:
        """Return what `items` returns. Blocks."""
        return _by_id(self._in_time(self.held.catalog.items(self.id, ids).values()))

    def around(self, id: str, most: int) -> list[Item]:
        """Return an item with up to `most` neighbours before it and after it. Blocks."""
        return self._in_time(self.held.catalog.beside(self.id, id, most))

    async def items_of(self, source: str, corpus: Corpus) -> list[Item]:
        """Return the items of a source in one corpus, in order."""
        return self._in_time(await asyncio.to_thread(self.held.catalog.items_of, self.id, source, corpus))

    def _in_time(self, items: Iterable[Item]) -> list[Item]:
        """Return the items between `start` and `end`, cut to them."""
        if self.start is None and self.end is None:
            return list(items)
        found = []
        for item in items:
            cut = item.between(self.start, self.end)
            if cut is not None:
                found.append(cut)
        return found

    async def recordings(self) -> list[RecordingRow]:
        """Return every recording, in the order of the titles."""
        return await self._cached("recordings", self.held.catalog.recordings)

    def stand_out(self, query: str, pictures: Sequence[str]) -> dict[str, float]:
        """Score how much better pictures fit a query than unrelated ones, in standard deviations, by item id.

        The result is empty if no image encoder is set, or if it has not encoded these pictures. Blocks.
        """
        return visual_search.stand_out(self.held, self.held.catalog.row(self.id), query, pictures)

    def nearness(self, query: str, ids: Collection[str]) -> dict[str, float]:
        """Return the similarity of items to a query by their vectors, by item id. Blocks.

        The unit is standard deviations above the passages of the library. Items without a vector are omitted.
        """
        return nearness.of_items(self.held, self.id, self.encoder, query, ids)

    def titles_in(self, text: str) -> list[str]:
        """Return the titles of the library that a text names, in the order of the text. Blocks."""
        return named.titles_in(self.held, self.id, text)

    def leads(self, query: str) -> document_names.Leads:
        """Return which documents a query names, and how clearly. Blocks."""
        return document_names.leads(self.held, self.id, query)

    def leads_of(self, query: str, ids: Iterable[str]) -> dict[str, float]:
        """Return the lead of the document of each item, by item id. Blocks."""
        return document_names.of_items(self.held, self.id, query, ids)

    async def idf(self, terms: Iterable[str]) -> dict[str, float]:
        """Return the inverse document frequency of stemmed terms over paragraphs and clips.

        It is log((N + PRIOR + 1) / (df + 1.5)), never below 0, as if the library held PRIOR more items, and
        one of them the term. Otherwise a word that a library of three items lacks would outweigh all others.
        """
        wanted = set(terms)
        weights = self.remembered("idf")
        if not wanted <= weights.keys():
            weights = await asyncio.to_thread(self.weights, wanted)
        found: dict[str, float] = {}
        for term in wanted:
            found[term] = weights[term]
        return found

    def weights(self, wanted: Set[str]) -> Mapping[str, float]:
        """Return the cached `idf`, with the wanted terms added to it. Blocks."""
        memory = self.memory()
        weights: dict[str, float] = memory.setdefault("idf", {})
        if len(weights) > _MOST_WEIGHTS:
            weights = {}
            memory["idf"] = weights
        missing = wanted - weights.keys()
        if not missing:
            return weights
        items, counts = self.held.lexical.counted(self.id, _COUNTED, list(missing))
        # Most of thousands of terms share few counts, so compute the logarithm once a count.
        weight_of: dict[int, float] = {}
        for df in set(counts.values()):
            weight_of[df] = max(0.0, math.log((items + PRIOR + 1) / (df + 1.5)))
        for term, df in counts.items():
            weights[term] = weight_of[df]
        return weights

    async def sources(self) -> list[Source]:
        """Return every source, also those that failed, in the order of their paths."""
        return await asyncio.to_thread(self.held.catalog.sources, self.id)

    async def languages(self) -> list[str]:
        """Return the ISO 639-1 codes of the languages that at least one source in 200 has."""
        found = await self._cached("languages", self.held.catalog.languages)
        fewest = _MIN_LANGUAGE_SHARE * sum(found.values())
        frequent = []
        for code, n in found.items():
            if n >= fewest:
                frequent.append(code)
        return frequent[:_MOST_LANGUAGES]

    async def remove(self, *source_ids: str) -> None:
        """Remove sources: their items, vectors and words, then their data from the files on disk.

        A source file is deleted only if it was uploaded: the next server would index it again.

        Raises:
            InputError: the library holds no such source; those that it holds are removed.
            LibraryError: another process writes the library, or the disk has no room to rewrite the catalog.
        """
        await asyncio.to_thread(self._remove, source_ids)

    def _remove(self, source_ids: Sequence[str]) -> None:
        with locks.writer(self.id, self.name):
            committer = Committer(self.held.catalog, self.held.catalog.row(self.id))
            committer.recover()
            home = corpora_settings().home
            for source in self.held.catalog.sources(self.id, source_ids):
                discard(home, self.id, source.paths)
                # Remove the mark of unfinished processing as well, or the sweep below would keep the data.
                arrived(home, self.id, [source.sha256])
            unknown = []
            for id_ in source_ids:
                if not committer.remove_source(id_):
                    unknown.append(id_)
            kept = [source.sha256 for source in self.held.catalog.sources(self.id)]
            sweep(home, self.id, kept)
            self.held.vectors.forget_removed(self.id)
        # The lock is released before this, so that the next writer does not wait.
        self.held.catalog.kept.erase(self.id)
        if unknown:
            raise InputError(
                f"The library {self.name!r} holds no source {unknown[0]!r}",
                "list them with: ragweave sources",
            )


def _by_id(items: Iterable[Item]) -> dict[str, Item]:
    found: dict[str, Item] = {}
    for item in items:
        found[item.id] = item
    return found


async def open_library(name: str = "default") -> Library:
    """Open a library; a process opens its stores once.

    Raises:
        LibraryNotFound: there is none of that name.
        LibraryError: it was made by another encoder or a newer Ragweave.
    """
    held = open_stores()
    if held is not None:
        found: Library | None = held.opened.get((name, model_settings().embed))
        if found is not None and found.is_called(name):
            return found
    return await asyncio.to_thread(_open, name)


def _open(name: str) -> Library:
    name = check_name(name)
    held, text_encoder = stores(), embed.encoder()
    row = held.catalog.library(name)
    check_encoder(row, text_encoder.name)
    library = Library(name, row.id, held, text_encoder)
    held.opened[name, model_settings().embed] = library
    return library


async def create_library(name: str) -> None:
    """Create an empty library for the encoder of the settings.

    Raises:
        InputError: the name cannot be used.
        LibraryError: one of that name exists.
    """

    def make() -> None:
        text_encoder = embed.encoder()
        stores().catalog.create(name, text_encoder.name, text_encoder.dim)

    await asyncio.to_thread(make)


async def delete_library(name: str) -> str:
    """Delete a library, its data and its uploaded files, and return its id.

    Raises:
        LibraryNotFound: there is none of that name.
        LibraryError: another process is writing it.
    """
    return await asyncio.to_thread(_delete, check_name(name))


def _delete(name: str) -> str:
    held = stores()
    row = held.catalog.library(name)
    with locks.writer(row.id, name):
        # Before the deletion: later no code would look for the uploads of this library.
        take_in_uploads(corpora_settings().home, row.id)
        held.catalog.delete(row.id)
        held.vectors.drop(row.id)
    return row.id
