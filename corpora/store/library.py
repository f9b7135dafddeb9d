"""An open library: search it, read its items, remove what should not be there."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import document_names, locks, named, nearness, visual_search
from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.folders import arrived, sweep
from ragweave.corpora.store.objects import discard, take_in_uploads
from ragweave.corpora.store.rows import RecordingRow, Source
from ragweave.corpora.store.stores import Stores, check_encoder, open_stores, stores
from ragweave.corpora.store.together import together
from ragweave.corpora.store.words import Ranking
from ragweave.corpora.types import Corpus, Hit, Item, Lists, whole_of
from ragweave.models import embed
from ragweave.models.embed import Encoder
from ragweave.models.errors import InputError
from ragweave.models.settings import model_settings

T = TypeVar("T")
Kind = Literal["dense", "lexical", "visual"]

_STRAY, _LANGUAGES = 0.005, 6
"""Share of the sources from which a language counts as held, and the most languages that are named."""
_AMONG = 4
"""Paragraphs that are looked at for each document of one paragraph that is wanted."""
_WEIGHED = 100_000
"""Terms whose rarity is remembered of a generation."""
PRIOR = 50
"""Items that a small library is taken to stand beside when the rarity of a word is judged."""

_COUNTED: tuple[Corpus, ...] = ("paragraph", "clip")
"""Corpora over which the rarity of a word is told: every text stands in one of them once."""


@dataclass(frozen=True)
class Library:
    """One library, open for questions; safe to share between tasks and threads. Its id outlives its name.

    From `start` to `end`, seconds, is what is read of its recordings; None is no border.
    """

    name: str
    id: str
    held: Stores
    encoder: Encoder
    start: float | None = None
    end: float | None = None

    async def about(self) -> LibraryRow:
        """Return what the catalog knows of this library as a whole."""
        return await self._told("row", self.held.catalog.row)

    async def counts(self) -> dict[Corpus, int]:
        """Return the number of items in each corpus that holds any."""
        return await self._told("counts", self.held.catalog.counts)

    async def _told(self, name: str, ask: Callable[[str], T]) -> T:
        """Return what is remembered of the library under a name; ask in a thread where it is not."""
        memory = self.held.catalog.remembered(self.id)
        if memory is not None and name in memory:
            known: T = memory[name]
            return known
        return await asyncio.to_thread(ask, self.id)

    async def search(
        self,
        corpus: Corpus,
        queries: Sequence[str],
        k: int = 50,
        sources: Sequence[str] = (),
        only: Kind | None = None,
    ) -> list[Lists]:
        """Return the dense, lexical and visual lists of each query, all as of one generation of the library.

        The queries are phrasings, embedded and asked in one batch; no sources means all. `only` names the one
        list that is wanted.

        Raises:
            LibraryError: a store cannot be read, or the library was deleted.
        """
        if not queries or k < 1:
            return [Lists() for _ in queries]
        # A hop to a thread costs more than most searches: those of one round go together.
        return await together(self.id, lambda: self._search(corpus, queries, k, sources, only), self._as_one)

    @contextmanager
    def _as_one(self) -> Iterator[None]:
        with self.held.catalog.reading(self.id):  # one transaction
            yield

    def _search(
        self, corpus: Corpus, queries: Sequence[str], k: int, sources: Sequence[str], only: Kind | None
    ) -> list[Lists]:
        if only == "visual" and visual_search.is_blind():
            return [Lists() for _ in queries]
        vectors = self.encoder.queries(list(queries))
        with self._as_one():
            row = self.held.catalog.row(self.id)
            check_encoder(row, self.encoder.name)
            dense: list[Ranking] = [[] for _ in queries]
            words, seen, note = dense, dense, ""
            if only != "lexical":
                dense = self._dense(row, corpus, vectors, k, sources)
            if only != "dense":
                words = self.held.lexical.search(self.id, corpus, queries, k, sources)
            if only is None and not sources:

                def near(n: int, some: Sequence[str]) -> Ranking:
                    return self._dense(row, corpus, vectors[n : n + 1], document_names.MORE, some)[0]

                dense, words = document_names.added(self.held, self.id, corpus, queries, dense, words, near)
            if only in (None, "visual"):  # of what the other lists found it says whether it has a picture
                seen, note = visual_search.look(self.held, row, corpus, queries, k, sources, dense, words)
            if any(seen):
                shown = [[id_ for id_, _ in ranking] for ranking in seen]
                dense = visual_search.completed(self.held, row, corpus, row.encoder, vectors, dense, shown)
            if only is None and any(dense):
                # Cosines without those of what the words found would take these for the lowest.
                lacking = [[id_ for id_, _ in ranking] for ranking in words]
                dense = visual_search.completed(self.held, row, corpus, row.encoder, vectors, dense, lacking)
            known = self.held.catalog.known(self.id, (i for hits in (*dense, *words, *seen) for i, _ in hits))
        found = (
            [tuple(Hit(*hit) for hit in hits if hit[0] in known) for hits in lists]
            for lists in (dense, words, seen)
        )
        return [Lists(d, w, v, note or self.held.vectors.note()) for d, w, v in zip(*found, strict=True)]

    def _dense(
        self, row: LibraryRow, corpus: Corpus, asked: Matrix, k: int, sources: Sequence[str]
    ) -> list[Ranking]:
        query = self.held.vectors.query
        found = query(self.id, corpus, row.encoder, asked, k, sources)
        if corpus != "document":
            return found
        # A document that is one paragraph has the vectors of that; among the paragraphs there are others.
        small = query(self.id, "paragraph", row.encoder, asked, _AMONG * k, sources)
        small = [[(whole_of(id_), cosine) for id_, cosine in hits] for hits in small]
        known = self.held.catalog.known(self.id, (id_ for hits in small for id_, _ in hits))
        wholes = ([hit for hit in hits if hit[0] in known] for hits in small)
        return [
            sorted(a + b, key=lambda hit: (-hit[1], hit[0]))[:k] for a, b in zip(found, wholes, strict=True)
        ]

    async def items(self, ids: Sequence[str]) -> dict[str, Item]:
        """Return items with their full text; ids that this library does not hold are left out."""
        known: Mapping[str, Item] = self.remembered("items")
        if all(id_ in known for id_ in ids):
            return {i.id: i for i in self._in_time(known[id_] for id_ in dict.fromkeys(ids))}
        return await asyncio.to_thread(self.read, ids)

    def is_called(self, name: str) -> bool:
        """Tell whether the library is known, without asking, to have a name."""
        memory = self.held.catalog.remembered(self.id)
        row: LibraryRow | None = (memory or {}).get("row")
        return row is not None and row.name == name

    def memory(self) -> dict[str, Any]:
        """Return what is remembered of the library while nobody commits to it, to those who have a thread."""
        return self.held.catalog.memory(self.id)

    def remembered(self, name: str) -> Mapping[str, Any]:
        """Return a table that is remembered of the library; an empty one where asking for it would take time."""
        memory = self.held.catalog.remembered(self.id)
        return (memory or {}).get(name) or {}

    def read(self, ids: Sequence[str]) -> dict[str, Item]:
        """Return what `items` returns, to those who have a thread of their own."""
        return {i.id: i for i in self._in_time(self.held.catalog.items(self.id, ids).values())}

    def around(self, id: str, most: int) -> list[Item]:
        """Return an item among its neighbours, at most `most` before and after it, to those who have a thread."""
        return self._in_time(self.held.catalog.beside(self.id, id, most))

    async def items_of(self, source: str, corpus: Corpus) -> list[Item]:
        """Return the items of a source in one corpus, in order."""
        return self._in_time(await asyncio.to_thread(self.held.catalog.items_of, self.id, source, corpus))

    def _in_time(self, items: Iterable[Item]) -> list[Item]:
        if self.start is None and self.end is None:
            return list(items)
        return [cut for i in items if (cut := i.between(self.start, self.end)) is not None]

    async def recordings(self) -> list[RecordingRow]:
        """Return every recording, in the order of the titles."""
        return await self._told("recordings", self.held.catalog.recordings)

    def stand_out(self, query: str, pictures: Sequence[str]) -> dict[str, float]:
        """Return how far pictures answer to a query rather than to others, in standard deviations, by item id.

        Without an image encoder, or one that has seen them, there are none.
        """
        return visual_search.stand_out(self.held, self.held.catalog.row(self.id), query, pictures)

    def nearness(self, query: str, ids: Collection[str]) -> dict[str, float]:
        """Return how near items are to a query by their vectors, by id, to those who have a thread of their own.

        It counts standard deviations above the passages of the library; items without a vector are left out.
        """
        return nearness.of_items(self.held, self.id, self.encoder, query, ids)

    def titles_in(self, text: str) -> list[str]:
        """Return the titles of the library that a text names, in its order, to those who have a thread of their own."""
        return named.titles_in(self.held, self.id, text)

    def leads(self, query: str) -> document_names.Leads:
        """Return which documents a query names, and how clearly, to those who have a thread of their own."""
        return document_names.leads(self.held, self.id, query)

    def leads_of(self, query: str, ids: Iterable[str]) -> dict[str, float]:
        """Return the lead of the document of each item, by item id, to those who have a thread of their own."""
        return document_names.of_items(self.held, self.id, query, ids)

    async def idf(self, terms: Iterable[str]) -> dict[str, float]:
        """Return the inverse document frequency of stemmed terms over the paragraphs and the clips of recordings.

        It is log((N + PRIOR + 1) / (df + 1.5)), never below 0: as if PRIOR further items, one of them with
        the term, stood in the library. Without them a word that a library of three items lacks would outweigh
        all others.
        """
        wanted = set(terms)
        weights = self.remembered("idf")
        if not wanted <= weights.keys():
            weights = await asyncio.to_thread(self.weights, wanted)
        return {t: weights[t] for t in wanted}

    def weights(self, wanted: Set[str]) -> Mapping[str, float]:
        """Return what is remembered of `idf`, the wanted terms among it, to those who have a thread of their own."""
        memory = self.memory()
        weights: dict[str, float] = memory.setdefault("idf", {})
        if len(weights) > _WEIGHED:
            memory["idf"] = weights = {}
        if missing := wanted - weights.keys():
            items, counts = self.held.lexical.counted(self.id, _COUNTED, list(missing))
            # Of thousands of terms most stand in as few items as others do.
            weight = {df: max(0.0, math.log((items + PRIOR + 1) / (df + 1.5))) for df in set(counts.values())}
            weights |= zip(counts, map(weight.__getitem__, counts.values()), strict=True)
        return weights

    async def sources(self) -> list[Source]:
        """Return every source, also those that failed, in the order of their paths."""
        return await asyncio.to_thread(self.held.catalog.sources, self.id)

    async def languages(self) -> list[str]:
        """Return the ISO 639-1 codes of the languages held, without those of a stray source or two in hundreds."""
        found = await self._told("languages", self.held.catalog.languages)
        return [code for code, n in found.items() if n >= _STRAY * sum(found.values())][:_LANGUAGES]

    async def remove(self, *source_ids: str) -> None:
        """Remove sources: their items, vectors and words; then from the disk as well what the files still hold.

        A file goes only where it was uploaded: left there, the next server would take it for one still to be
        read.

        Raises:
            InputError: the library holds no such source; those that it holds are removed.
            LibraryError: another process writes the library, or the disk has no room to write the catalog
                anew.
        """
        await asyncio.to_thread(self._remove, source_ids)

    def _remove(self, source_ids: Sequence[str]) -> None:
        with locks.writer(self.id, self.name):
            committer = Committer(self.held.catalog, self.held.catalog.row(self.id))
            committer.recover()
            home = corpora_settings().home
            for source in self.held.catalog.sources(self.id, source_ids):
                discard(home, self.id, source.paths)
                arrived(home, self.id, [source.sha256])  # also where it was about to be perceived anew
            unknown = [id for id in source_ids if not committer.remove_source(id)]
            sweep(home, self.id, (s.sha256 for s in self.held.catalog.sources(self.id)))
            self.held.vectors.forget_removed(self.id)
        self.held.catalog.kept.erase(self.id)  # beside whoever writes next
        if unknown:
            raise InputError(
                f"The library {self.name!r} holds no source {unknown[0]!r}",
                "list them with: ragweave sources",
            )


async def open_library(name: str = "default") -> Library:
    """Open a library; the stores of a process are open once.

    Raises:
        LibraryNotFound: there is none of that name.
        LibraryError: it was made by another encoder or a newer Ragweave.
    """
    held = open_stores()
    found: Library | None = None if held is None else held.opened.get((name, model_settings().embed))
    if found is not None and found.is_called(name):
        return found
    return await asyncio.to_thread(_open, name)


def _open(name: str) -> Library:
    name = check_name(name)
    held, text_encoder = stores(), embed.encoder()
    row = held.catalog.library(name)
    check_encoder(row, text_encoder.name)
    held.opened[name, model_settings().embed] = found = Library(name, row.id, held, text_encoder)
    return found


async def create_library(name: str) -> None:
    """Make an empty library for the encoder that is set.

    Raises:
        InputError: the name cannot be used.
        LibraryError: one of that name exists.
    """

    def make() -> None:
        text_encoder = embed.encoder()
        stores().catalog.create(name, text_encoder.name, text_encoder.dim)

    await asyncio.to_thread(make)


async def delete_library(name: str) -> str:
    """Delete a library with everything it holds, also the files that were uploaded to it, and return its id.

    Raises:
        LibraryNotFound: there is none of that name.
        LibraryError: another process writes it.
    """
    return await asyncio.to_thread(_delete, check_name(name))


def _delete(name: str) -> str:
    held = stores()
    row = held.catalog.library(name)
    with locks.writer(row.id, name):
        take_in_uploads(
            corpora_settings().home, row.id
        )  # first: of a library that is gone nobody would look for them
        held.catalog.delete(row.id)
        held.vectors.drop(row.id)
    return row.id
