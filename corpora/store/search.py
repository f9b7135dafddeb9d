"""One search of a library: the dense, lexical and visual lists of each query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ragweave.corpora.store import document_names, visual_search
from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.stores import Stores, check_encoder
from ragweave.corpora.store.words import Ranking
from ragweave.corpora.types import Corpus, Hit, Lists, whole_of
from ragweave.models.embed import Encoder

Kind = Literal["dense", "lexical", "visual"]

_PARAGRAPHS_PER_DOCUMENT = 4
"""Paragraphs to search for each document wanted: some documents have the vectors of a paragraph."""


def search(
    held: Stores,
    library: str,
    encoder: Encoder,
    corpus: Corpus,
    queries: Sequence[str],
    k: int,
    sources: Sequence[str],
    only: Kind | None,
) -> list[Lists]:
    """Return the lists of each query; the caller has opened a snapshot of the library.

    Each list has up to `k` hits. `sources` are ids; all sources are searched if there are none. `only` names
    the one list that is wanted; None means all three.
    """
    if only == "visual" and visual_search.is_blind():
        return [Lists() for _ in queries]
    vectors = encoder.queries(list(queries))
    row = held.catalog.row(library)
    check_encoder(row, encoder.name)
    return _Search(held, row, corpus, queries, vectors, k, sources).lists(only)


@dataclass(frozen=True, slots=True)
class _Search:
    """The parameters of one search."""

    held: Stores
    row: LibraryRow
    corpus: Corpus
    queries: Sequence[str]
    vectors: Matrix
    k: int
    sources: Sequence[str]

    def lists(self, only: Kind | None) -> list[Lists]:
        dense: list[Ranking] = [[] for _ in self.queries]
        lexical, visual, note = dense, dense, ""
        if only != "lexical":
            dense = self._dense(self.vectors, self.k, self.sources)
        if only != "dense":
            lexical = self.held.lexical.search(self.row.id, self.corpus, self.queries, self.k, self.sources)
        if only is None and not self.sources:
            dense, lexical = self._with_named_documents(dense, lexical)
        if only in (None, "visual"):
            # It also scores the pictures of the items that the other two lists found.
            visual, note = visual_search.look(
                self.held, self.row, self.corpus, self.queries, self.k, self.sources, dense, lexical
            )
        if any(visual):
            dense = self._with_cosines_of(dense, visual)
        if only is None and any(dense):
            # Without these cosines the ranking would take what only the words found for the least similar.
            dense = self._with_cosines_of(dense, lexical)
        return self._known_lists(dense, lexical, visual, note)

    def _dense(self, vectors: Matrix, k: int, sources: Sequence[str]) -> list[Ranking]:
        """Return the k nearest items of each query vector."""
        query = self.held.vectors.query
        found = query(self.row.id, self.corpus, self.row.encoder, vectors, k, sources)
        if self.corpus != "document":
            return found
        # A document of one paragraph has no vectors of its own: those of the paragraph find it.
        most = _PARAGRAPHS_PER_DOCUMENT * k
        paragraphs = query(self.row.id, "paragraph", self.row.encoder, vectors, most, sources)
        merged = []
        for ranking, more in zip(found, self._documents_of(paragraphs), strict=True):
            best = sorted(ranking + more, key=lambda hit: (-hit[1], hit[0]))
            merged.append(best[:k])
        return merged

    def _documents_of(self, paragraphs: Sequence[Ranking]) -> list[Ranking]:
        """Return the documents of one paragraph among the found paragraphs, with the paragraphs' scores."""
        candidates: list[Ranking] = []
        for hits in paragraphs:
            candidates.append([(whole_of(id_), cosine) for id_, cosine in hits])
        known = self.held.catalog.known(self.row.id, _ids(candidates))
        return [_only_known(hits, known) for hits in candidates]

    def _with_named_documents(
        self, dense: list[Ranking], lexical: list[Ranking]
    ) -> tuple[list[Ranking], list[Ranking]]:
        """Return both lists with the best items of the documents that each query names."""

        def near(n: int, sources: Sequence[str]) -> Ranking:
            return self._dense(self.vectors[n : n + 1], document_names.MORE, sources)[0]

        return document_names.added(self.held, self.row.id, self.corpus, self.queries, dense, lexical, near)

    def _with_cosines_of(self, dense: list[Ranking], others: Sequence[Ranking]) -> list[Ranking]:
        """Return the dense lists with the cosines of the items of other lists added."""
        wanted = [_ids([ranking]) for ranking in others]
        return visual_search.completed(
            self.held, self.row, self.corpus, self.row.encoder, self.vectors, dense, wanted
        )

    def _known_lists(
        self, dense: Sequence[Ranking], lexical: Sequence[Ranking], visual: Sequence[Ranking], note: str
    ) -> list[Lists]:
        """Return the lists without items that are no longer in the catalog."""
        known = self.held.catalog.known(self.row.id, _ids([*dense, *lexical, *visual]))
        note = note or self.held.vectors.note()
        found = []
        for near, worded, seen in zip(dense, lexical, visual, strict=True):
            found.append(Lists(_hits(near, known), _hits(worded, known), _hits(seen, known), note))
        return found


def _ids(rankings: Iterable[Ranking]) -> list[str]:
    found: list[str] = []
    for ranking in rankings:
        for id_, _ in ranking:
            found.append(id_)
    return found


def _only_known(ranking: Ranking, known: set[str]) -> Ranking:
    kept = []
    for hit in ranking:
        if hit[0] in known:
            kept.append(hit)
    return kept


def _hits(ranking: Ranking, known: set[str]) -> tuple[Hit, ...]:
    found = []
    for hit in _only_known(ranking, known):
        found.append(Hit(*hit))
    return tuple(found)
