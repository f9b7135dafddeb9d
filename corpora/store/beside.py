"""A library with attached files, which only the questions of one conversation search.

Nothing of the files is stored: their items stay in the memory of this process. A library with attached files
has the interface of any other library, so nodes need not distinguish them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from ragweave.corpora.store import nearness
from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.library import Kind, Library
from ragweave.corpora.store.prepared import chunked
from ragweave.corpora.store.words import Ranking, bm25, term_weight, weighted_counts
from ragweave.corpora.types import CORPORA, Corpus, Hit, Item, Lists, whole_of
from ragweave.models.embed import Encoder
from ragweave.models.text import content_terms, terms

Terms = tuple[str, str, str]
"""The terms of an item's title, heading and text, separated by spaces."""


@dataclass(frozen=True, eq=False)
class FileBeside:
    """One attached file, read and cut into items.

    Attributes:
        id: digest of its name and content.
        name: the name that its sender gave it.
        items: its paragraphs and the whole as a document.
        chunks: [start, end) ranges of the text of each item that are embedded.
        terms: the terms of each item.
        notes: sentences about the parts that were not read.
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
        found: list[Item] = []
        for item, ranges in zip(self.items, self.chunks, strict=True):
            found += [item] * len(ranges)
        return found

    def vectors(self, encoder: Encoder) -> Matrix:
        """Return the vectors of the chunks, (chunks, dim); each encoder embeds them once."""
        if encoder.name not in self._vectors:
            texts = chunked(self.items, self.chunks).texts
            vectors = encoder.texts(texts) if texts else np.zeros((0, encoder.dim), np.float32)
            self._vectors[encoder.name] = vectors
        return self._vectors[encoder.name]


@dataclass(frozen=True)
class LibraryBeside(Library):
    """A library with attached files.

    The limits of a search, such as its sources, apply to the library and not to the files.
    """

    files: tuple[FileBeside, ...] = ()

    @cached_property
    def _items(self) -> dict[str, Item]:
        found: dict[str, Item] = {}
        for file in self.files:
            for item in file.items:
                found[item.id] = item
        return found

    async def counts(self) -> dict[Corpus, int]:
        """Return the number of items in each corpus that holds any."""
        found = Counter(await super().counts())
        for item in self._items.values():
            found[item.corpus] += 1
        result: dict[Corpus, int] = {}
        for corpus in CORPORA:
            if found[corpus]:
                result[corpus] = found[corpus]
        return result

    async def search(
        self,
        corpus: Corpus,
        queries: Sequence[str],
        k: int = 50,
        sources: Sequence[str] = (),
        only: Kind | None = None,
    ) -> list[Lists]:
        """Return the lists of `Library.search`, with the items of the files merged by score."""
        found = await super().search(corpus, queries, k, sources, only)
        if not queries or k < 1 or only == "visual":
            return found
        corpora_of_files = {item.corpus for item in self._items.values()}
        if corpus not in corpora_of_files:
            return found
        return await asyncio.to_thread(self._merged, corpus, queries, k, only, found)

    def _merged(
        self, corpus: Corpus, queries: Sequence[str], k: int, only: Kind | None, found: Sequence[Lists]
    ) -> list[Lists]:
        nothing: list[Ranking] = [[] for _ in queries]
        dense = nothing if only == "lexical" else self._by_meaning(corpus, queries)
        lexical = nothing if only == "dense" else [self._by_words(corpus, query) for query in queries]
        merged = []
        for lists, more_dense, more_lexical in zip(found, dense, lexical, strict=True):
            best_dense = _best(lists.dense, more_dense, k)
            best_lexical = _best(lists.lexical, more_lexical, k)
            merged.append(Lists(best_dense, best_lexical, lists.visual, lists.note))
        return merged

    def _by_meaning(self, corpus: Corpus, queries: Sequence[str]) -> list[Ranking]:
        """Return for each query the cosine of each item's best chunk."""
        vectors = self.encoder.queries(list(queries))
        best: list[dict[str, float]] = [{} for _ in queries]
        for file in self.files:
            cosines = vectors @ file.vectors(self.encoder).T
            for n, item in enumerate(file.owners):
                id_ = self._found_by(item, corpus)
                if id_ is None:
                    continue
                for scores, row in zip(best, cosines, strict=True):
                    scores[id_] = max(float(row[n]), scores.get(id_, -1.0))
        return [list(scores.items()) for scores in best]

    def _found_by(self, owner: Item, corpus: Corpus) -> str | None:
        """Return the id of the item of a corpus that the chunk of an item finds; None if there is none."""
        if owner.corpus == corpus:
            id_ = owner.id
        elif corpus == "document":
            # A document of one paragraph has no vectors of its own: those of the paragraph find it.
            id_ = whole_of(owner.id)
        else:
            return None
        return id_ if id_ in self._items else None

    def _by_words(self, corpus: Corpus, query: str) -> Ranking:
        """Return the BM25 of the items of the files; a term's weight counts the library and the files."""
        wanted = list(dict.fromkeys(content_terms(query) or terms(query)))
        rows = self._terms_of(corpus)
        counts = {}
        lengths = {}
        for id_, columns in rows.items():
            counts[id_] = weighted_counts(columns, wanted)
            lengths[id_] = sum(map(len, columns))
        weights = self._term_weights(corpus, wanted, counts)
        average = sum(lengths.values()) / max(1, len(rows)) or 1.0
        found: Ranking = []
        for id_, length in lengths.items():
            score = bm25(weights, counts[id_], length, average)
            if score > 0:
                found.append((id_, score))
        return found

    def _terms_of(self, corpus: Corpus) -> dict[str, list[list[str]]]:
        """Return the terms of title, heading and text of the files' items in a corpus, by item id."""
        found = {}
        for file in self.files:
            for item, columns in zip(file.items, file.terms, strict=True):
                if item.corpus == corpus:
                    found[item.id] = [column.split() for column in columns]
        return found

    def _term_weights(
        self, corpus: Corpus, wanted: Sequence[str], counts: Mapping[str, Mapping[str, float]]
    ) -> dict[str, float]:
        """Return the weight of each term over the items of the library and of the files."""
        in_library, frequency = self.held.lexical.counted(self.id, (corpus,), wanted)
        total = in_library + len(counts)
        weights = {}
        for term in wanted:
            containing = frequency.get(term, 0)
            for own in counts.values():
                if own[term]:
                    containing += 1
            weights[term] = term_weight(total, containing)
        return weights

    def nearness(self, query: str, ids: Collection[str]) -> dict[str, float]:
        """Return the similarity of items of the library and of the files, as `Library.nearness` does."""
        own, _ = self._split(ids)
        if not own:
            return super().nearness(query, ids)
        cosines: dict[str, float] = {}
        corpora_of_own = {item.corpus for item in own.values()}
        for corpus in corpora_of_own:
            cosines.update(self._by_meaning(corpus, [query])[0])
        return nearness.of_items(self.held, self.id, self.encoder, query, ids, cosines)

    async def items(self, ids: Sequence[str]) -> dict[str, Item]:
        """Return items of the library and of the files with their full text."""
        own, rest = self._split(ids)
        if not rest:
            return own
        return {**(await super().items(rest)), **own}

    def read(self, ids: Sequence[str]) -> dict[str, Item]:
        """Return what `items` returns. Blocks."""
        own, rest = self._split(ids)
        if not rest:
            return own
        return {**super().read(rest), **own}

    def _split(self, ids: Iterable[str]) -> tuple[dict[str, Item], list[str]]:
        """Return the items of the files among some ids, and the ids of the others."""
        own: dict[str, Item] = {}
        rest: list[str] = []
        for id_ in ids:
            if id_ in self._items:
                own[id_] = self._items[id_]
            else:
                rest.append(id_)
        return own, rest

    def around(self, id: str, most: int) -> list[Item]:
        """Return an item with up to `most` neighbours before it and after it. Blocks."""
        item = self._items.get(id)
        if item is None:
            return super().around(id, most)
        near = []
        for other in self._of(item.source, item.corpus):
            if abs(other.ordinal - item.ordinal) <= most:
                near.append(other)
        return sorted(near, key=lambda other: other.ordinal)

    async def items_of(self, source: str, corpus: Corpus) -> list[Item]:
        """Return the items of a source in one corpus, in order."""
        return self._of(source, corpus) or await super().items_of(source, corpus)

    def _of(self, source: str, corpus: Corpus) -> list[Item]:
        wanted = (source, corpus)
        kept: list[Item] = []
        for item in self._items.values():
            if (item.source, item.corpus) == wanted:
                kept.append(item)
        return kept


def beside(library: Library, files: Iterable[FileBeside]) -> Library:
    """Return a library with attached files; the library itself if there are no files."""
    held = {}
    for file in files:
        held[file.id] = file
    if not held:
        return library
    own: dict[str, Any] = {}
    for own_field in fields(Library):
        own[own_field.name] = getattr(library, own_field.name)
    return LibraryBeside(**own, files=tuple(held.values()))


def _best(hits: Sequence[Hit], more: Ranking, k: int) -> tuple[Hit, ...]:
    every = list(hits)
    every += [Hit(id_, score) for id_, score in more]
    return tuple(sorted(every, key=lambda hit: (-hit.score, hit.id))[:k])
