"""A library with files beside it: they came with a question, and are searched with it for that conversation alone.

Nothing of them is stored. Their items are held in this process; a library that has them is searched and read
as any other, so that no node knows the difference.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

from ragweave.corpora.store import nearness
from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.library import Kind, Library
from ragweave.corpora.store.prepared import chunked
from ragweave.corpora.store.words import K1, WEIGHTS, B, Ranking
from ragweave.corpora.types import CORPORA, Corpus, Hit, Item, Lists, whole_of
from ragweave.models.embed import Encoder
from ragweave.models.text import content_terms, terms

Terms = tuple[str, str, str]
"""The terms of an item's title, heading and text, separated by spaces."""


@dataclass(frozen=True, eq=False)
class FileBeside:
    """One file as it was read.

    Attributes:
        id: digest of its name and content.
        name: as whoever sent it calls it.
        items: its paragraphs and itself as a document.
        chunks: [start, end) ranges of the text of each item that are embedded.
        terms: what stands in each item.
        notes: what of it was not read, in words.
    """

    id: str
    name: str
    items: tuple[Item, ...]
    chunks: tuple[tuple[tuple[int, int], ...], ...]
    terms: tuple[Terms, ...]
    notes: tuple[str, ...] = ()
    _vectors: dict[str, Matrix] = field(default_factory=dict)

    @cached_property
    def owners(self) -> list[Item]:
        """The item of each chunk."""
        return [item for item, ranges in zip(self.items, self.chunks, strict=True) for _ in ranges]

    def vectors(self, encoder: Encoder) -> Matrix:
        """Return the vectors of the chunks, (chunks, dim); each encoder is asked once."""
        if encoder.name not in self._vectors:
            texts = chunked(self.items, self.chunks).texts
            self._vectors[encoder.name] = (
                encoder.texts(texts) if texts else np.zeros((0, encoder.dim), np.float32)
            )
        return self._vectors[encoder.name]


@dataclass(frozen=True)
class LibraryBeside(Library):
    """A library and files beside it.

    What narrows a search of the library does not narrow that of the files.
    """

    files: tuple[FileBeside, ...] = ()

    @cached_property
    def _items(self) -> dict[str, Item]:
        return {item.id: item for file in self.files for item in file.items}

    async def counts(self) -> dict[Corpus, int]:
        """Return the number of items in each corpus that holds any."""
        found = Counter(await super().counts())
        found.update(item.corpus for item in self._items.values())
        return {corpus: found[corpus] for corpus in CORPORA if found[corpus]}

    async def search(
        self,
        corpus: Corpus,
        queries: Sequence[str],
        k: int = 50,
        sources: Sequence[str] = (),
        only: Kind | None = None,
    ) -> list[Lists]:
        """Return the lists of each query as `Library.search` does, those of the files merged into them by score."""
        found = await super().search(corpus, queries, k, sources, only)
        if (
            not queries
            or k < 1
            or only == "visual"
            or not any(i.corpus == corpus for i in self._items.values())
        ):
            return found
        return await asyncio.to_thread(self._merged, corpus, queries, k, only, found)

    def _merged(
        self, corpus: Corpus, queries: Sequence[str], k: int, only: Kind | None, found: Sequence[Lists]
    ) -> list[Lists]:
        nothing: list[Ranking] = [[] for _ in queries]
        dense = nothing if only == "lexical" else self._by_meaning(corpus, queries)
        lexical = nothing if only == "dense" else [self._by_words(corpus, query) for query in queries]
        return [
            Lists(_best(lists.dense, near, k), _best(lists.lexical, said, k), lists.visual, lists.note)
            for lists, near, said in zip(found, dense, lexical, strict=True)
        ]

    def _by_meaning(self, corpus: Corpus, queries: Sequence[str]) -> list[Ranking]:
        """Return for each query the cosine of each item's best chunk."""
        asked = self.encoder.queries(list(queries))
        best: list[dict[str, float]] = [{} for _ in queries]
        for file in self.files:
            cosines = asked @ file.vectors(self.encoder).T
            for n, item in enumerate(file.owners):
                # A document that is one paragraph has the vectors of that.
                id_ = item.id if item.corpus == corpus else whole_of(item.id) if corpus == "document" else ""
                if id_ in self._items:
                    for scores, row in zip(best, cosines, strict=True):
                        scores[id_] = max(float(row[n]), scores.get(id_, -1.0))
        return [list(scores.items()) for scores in best]

    def _by_words(self, corpus: Corpus, query: str) -> Ranking:
        """Return the BM25 of items in which words of a query stand; a word weighs what it weighs in both together."""
        wanted = list(dict.fromkeys(content_terms(query) or terms(query)))
        rows = [
            (item.id, [column.split() for column in columns])
            for file in self.files
            for item, columns in zip(file.items, file.terms, strict=True)
            if item.corpus == corpus
        ]
        held, frequency = self.held.lexical.counted(self.id, (corpus,), wanted)
        total = held + len(rows)
        average = sum(len(words) for _, columns in rows for words in columns) / max(1, len(rows)) or 1.0
        counts = {id_: _weighed(columns, wanted) for id_, columns in rows}
        weights = {}
        for term in wanted:
            standing = frequency.get(term, 0) + sum(1 for each in counts.values() if each[term])
            weights[term] = max(math.log((total - standing + 0.5) / (standing + 0.5)), 1e-6)
        found: Ranking = []
        for id_, columns in rows:
            norm = K1 * (1 - B + B * sum(map(len, columns)) / average)
            score = sum(weights[t] * n * (K1 + 1) / (n + norm) for t, n in counts[id_].items())
            if score > 0:
                found.append((id_, score))
        return found

    def nearness(self, query: str, ids: Collection[str]) -> dict[str, float]:
        """Return how near items of the library and of the files are to a query, as `Library.nearness` does."""
        if not any(i in self._items for i in ids):
            return super().nearness(query, ids)
        corpora = {self._items[i].corpus for i in ids if i in self._items}
        cosines = {i: c for corpus in corpora for i, c in self._by_meaning(corpus, [query])[0]}
        return nearness.of_items(self.held, self.id, self.encoder, query, ids, cosines)

    async def items(self, ids: Sequence[str]) -> dict[str, Item]:
        """Return items of the library and of the files with their full text."""
        held = {i: self._items[i] for i in ids if i in self._items}
        rest = [i for i in ids if i not in held]
        return {**(await super().items(rest)), **held} if rest else held

    def read(self, ids: Sequence[str]) -> dict[str, Item]:
        """Return what `items` returns, to those who have a thread of their own."""
        held = {i: self._items[i] for i in ids if i in self._items}
        rest = [i for i in ids if i not in held]
        return {**super().read(rest), **held} if rest else held

    def around(self, id: str, most: int) -> list[Item]:
        """Return an item among its neighbours, at most `most` before and after it, to those who have a thread."""
        if (item := self._items.get(id)) is None:
            return super().around(id, most)
        near = (i for i in self._of(item.source, item.corpus) if abs(i.ordinal - item.ordinal) <= most)
        return sorted(near, key=lambda i: i.ordinal)

    async def items_of(self, source: str, corpus: Corpus) -> list[Item]:
        """Return the items of a source in one corpus, in order."""
        return self._of(source, corpus) or await super().items_of(source, corpus)

    def _of(self, source: str, corpus: Corpus) -> list[Item]:
        return [i for i in self._items.values() if i.source == source and i.corpus == corpus]


def beside(library: Library, files: Iterable[FileBeside]) -> Library:
    """Return a library with files beside it; the library itself where there are none."""
    held = tuple({file.id: file for file in files}.values())
    if not held:
        return library
    own: Mapping[str, object] = {f.name: getattr(library, f.name) for f in fields(Library)}
    return LibraryBeside(**own, files=held)  # type: ignore[arg-type]


def _weighed(columns: Sequence[Sequence[str]], wanted: Sequence[str]) -> dict[str, float]:
    """Return how often each term stands in an item; a word of the title counts more."""
    found = dict.fromkeys(wanted, 0.0)
    for words, weight in zip(columns, WEIGHTS, strict=True):
        for term in found.keys() & set(words):
            found[term] += weight * words.count(term)
    return found


def _best(held: Sequence[Hit], found: Ranking, k: int) -> tuple[Hit, ...]:
    every = [*held, *(Hit(id_, score) for id_, score in found)]
    return tuple(sorted(every, key=lambda hit: (-hit.score, hit.id))[:k])
