"""What a Chroma collection holds: vectors by the ids of their chunks, each with its source.

Texts are in the catalog.

A collection of a library's text vectors bears the name of its corpus; what image encoders saw, and the
entities of recordings, lie in collections of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from ragweave.corpora.store.blobs import ENTITIES, SEEN, Matrix
from ragweave.corpora.store.exact import matrix_of
from ragweave.corpora.store.schema import vectors

HNSW = {"space": "cosine", "ef_construction": 100, "ef_search": 500, "max_neighbors": 32}
"""With Chroma's defaults about 1 % of the vectors of a collection are not found by themselves; with these all
of 20,000 are. Twice the `ef_construction` costs a third more time and finds no more."""
BATCH = 5_000
"""CollectionRows of one call; Chroma refuses more than 5,461."""
_PART, _SMALLEST = 10, 500
"""A call has a tenth of the new rows, or at least so many: Chroma's log, whose file never shrinks, holds one
call at a time."""
_NUMBERS = 2**21
"""Numbers of one call; a server refuses bodies of more than 40 MB."""


class CollectionRows(NamedTuple):
    """CollectionRows of a collection; `embeddings` has shape (n, dim)."""

    ids: list[str]
    embeddings: Matrix
    metadatas: list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class CollectionChange:
    """What a collection lacks of the catalog: the `new` rows of a space and corpus from one row to another.

    `after` is 0 where the collection is to be made. `count` rows live up to `upto`; `gone` rows of the
    collection do not, or were written again.
    """

    space: str
    corpus: str
    after: int
    upto: int
    count: int
    new: int
    gone: int

    @property
    def collection(self) -> str:
        """Name of the collection."""
        return collection_of(self.space, self.corpus)

    def alive(self, connection: Connection) -> set[str]:
        """Return the ids of all rows that live."""
        query = select(vectors.c.item, vectors.c.part).where(*self._mine())
        ids = set()
        for item, part in connection.execute(query):
            ids.add(f"{item}~{part}")
        return ids

    def batch(self, connection: Connection) -> int:
        """Return how many rows one call takes: no more than Chroma allows, and a server's limit on a body."""
        data = connection.execute(select(vectors.c.data).where(*self._mine()).limit(1)).scalar() or b""
        bytes_allow = max(1, 4 * _NUMBERS // max(1, len(data)))
        return min(BATCH, bytes_allow, max(_SMALLEST, self.new // _PART))

    def rows(self, connection: Connection) -> Iterator[CollectionRows]:
        """Read the new rows in calls of one size, but for the first, which is what is left over."""
        query = select(vectors.c.item, vectors.c.part, vectors.c.source, vectors.c.data)
        query = query.where(*self._mine(), vectors.c.n > self.after).order_by(vectors.c.n)
        size = self.batch(connection)
        result = connection.execute(query, execution_options={"yield_per": 1_000})
        some = result.fetchmany(self.new % size or size)
        while some:
            ids = [f"{row.item}~{row.part}" for row in some]
            yield CollectionRows(
                ids, matrix_of([row.data for row in some]), [{"source": row.source} for row in some]
            )
            some = result.fetchmany(size)

    def _mine(self) -> tuple[Any, ...]:
        return vectors.c.space == self.space, vectors.c.corpus == self.corpus, vectors.c.n <= self.upto


def collection_of(space: str, corpus: str) -> str:
    """Return the name of the collection of a space and corpus."""
    if space.startswith(ENTITIES):
        return "entities"
    return (
        f"{corpus}-seen-{hashlib.sha256(space.encode()).hexdigest()[:8]}"
        if space.startswith(SEEN)
        else corpus
    )


def configuration(changes: int) -> dict[str, Any]:
    """Return when a collection writes its graph to the disk: with each call of so many changes.

    The log of calls, which holds every vector once more, is emptied then. The last call has to be one of
    these: what is left over, each reader would have to add again.
    """
    return {"sync_threshold": max(2, changes), "batch_size": min(max(2, changes), BATCH)}
