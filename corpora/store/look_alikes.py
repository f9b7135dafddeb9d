"""Which documents look alike: reports of several companies, editions of a handbook, copies of a form.

A document looks like another one if most of its first passages have a near copy there. Names and figures,
which set such documents apart, hardly move the vector of a passage. A ranking by words and vectors confuses
them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import groupby

import numpy as np
from sqlalchemy import Connection, select

from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.exact import matrix_of
from ragweave.corpora.store.schema import in_parts, items, vectors
from ragweave.corpora.store.stores import Stores
from ragweave.models.relevance import EncoderKind, kind_of

ALIKE: dict[EncoderKind, float] = {"static": 0.6, "transformer": 0.82}
"""Cosine from which a passage is a near copy of another one, by kind of encoder (docs/results.md)."""
FIRST = 8
"""Passages of a document that are compared."""

Key = tuple[str, str]
"""Source and title of a document: a source may hold several."""


class Passages:
    """The vectors of the first passages of documents, document by document."""

    def __init__(self, rows: dict[Key, range], matrix: Matrix, alike: float) -> None:
        self._rows, self._matrix, self._alike = rows, matrix, alike
        self._numbers: dict[Key, int] = {}
        for number, document in enumerate(rows):
            self._numbers[document] = number
        self._starts = [own.start for own in rows.values()]
        self._known: dict[Key, bool] = {}

    def any_like(self, document: Key) -> bool:
        """Return whether a document looks like another one."""
        if document not in self._known:
            self._known[document] = document in self._rows and self._compare(document)
        return self._known[document]

    def _compare(self, document: Key) -> bool:
        own = self._rows[document]
        cosines = self._matrix[own.start : own.stop] @ self._matrix.T
        best = np.maximum.reduceat(cosines, self._starts, axis=1)
        typical = np.median(best, axis=0)
        typical[self._numbers[document]] = -1.0
        return bool(typical.max() >= self._alike)


def with_look_alikes(
    held: Stores, library: str, documents: Iterable[Key], compared: Collection[Key]
) -> set[Key]:
    """Return the documents that look like another one.

    Args:
        held: stores of the library.
        library: its id.
        documents: documents in question.
        compared: documents that may look like them; in one generation of a library always the same.
    """
    memory = held.catalog.memory(library)
    if "first passages" not in memory:
        space = held.catalog.row(library).encoder
        with held.catalog.reading(library) as connection:
            memory["first passages"] = _read(connection, space, compared)
    passages: Passages = memory["first passages"]
    kept: set[Key] = set()
    for document in documents:
        if passages.any_like(document):
            kept.add(document)
    return kept


def _read(connection: Connection, space: str, compared: Collection[Key]) -> Passages:
    """Read the vectors of the first passages of documents; those of other documents are not read."""
    query = select(vectors.c.source, items.c.title, vectors.c.data)
    query = query.join(items, items.c.id == vectors.c.item)
    query = query.where(vectors.c.space == space, vectors.c.corpus != "document", items.c.ordinal < FIRST)
    query = query.order_by(vectors.c.source, items.c.title)
    rows: dict[Key, range] = {}
    blobs: list[bytes] = []
    for some in in_parts(sorted({source for source, _ in compared})):
        found = connection.execute(query.where(vectors.c.source.in_(some)))
        for document, group in groupby(found, key=lambda row: (row[0], row[1])):
            if document in compared:
                start = len(blobs)
                blobs += [data for _, _, data in group]
                rows[document] = range(start, len(blobs))
    return Passages(rows, matrix_of(blobs), ALIKE[kind_of(space)])
