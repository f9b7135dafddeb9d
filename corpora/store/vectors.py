"""Vector search: rows of the catalog, found through a Chroma index or compared one by one.

The rows of the catalog decide. Rows newer than the index are compared one by one; rows that were deleted
since are dropped from what the index returns. Without an index, or with a broken one, all rows are compared,
so the result does not depend on the index. There is one exception: if a Chroma server cannot be reached and
its index is large, the indexed rows are not found, and `note` says so.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from sqlalchemy import Connection, select

from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store import blobs, locks
from ragweave.corpora.store.blobs import SEEN, Matrix, item_of
from ragweave.corpora.store.chroma import Broken, FolderIndexes, Index, IndexLost, Near
from ragweave.corpora.store.chroma_server import ServerIndexes
from ragweave.corpora.store.exact import Held, matrix_of, nearest
from ragweave.corpora.store.index_state import alive_of, living_of, rows_of
from ragweave.corpora.store.index_upkeep import FEW, Upkeep
from ragweave.corpora.store.libraries import Libraries
from ragweave.corpora.store.schema import bump, in_parts, indexes, vectors
from ragweave.corpora.types import Corpus
from ragweave.models.errors import LibraryError

__all__ = ["FEW", "MANY", "Vectors"]

logger = logging.getLogger(__name__)

MANY = 100_000
"""Most vectors of a corpus that are compared one by one while a Chroma server cannot be reached."""
PER_ITEM = 32
"""Chunks, or frames, of an item that are compared if another list found it."""


class Vectors:
    """The vectors of the libraries of a home."""

    stays = False
    """Whether this process answers many questions, and so uses the index however few vectors there are."""

    def __init__(self, catalog: Libraries, home: Path, server: CorporaSettings | None = None) -> None:
        """Keep the indexes under the home, or in the Chroma server that the settings name."""
        self._catalog = catalog
        self._indexes = ServerIndexes(server) if server else FolderIndexes(home)
        self._upkeep = Upkeep(catalog, self._indexes)
        self._note = ""
        self._mending = threading.Lock()
        self._held = Held()

    def query(
        self,
        library: str,
        corpus: Corpus,
        space: str,
        queries: Matrix,
        k: int,
        sources: Sequence[str] = (),
    ) -> list[list[tuple[str, float]]]:
        """Return up to k (item id, cosine) for each query vector, best first.

        An item has the cosine of its best chunk. `queries` has shape (q, dim); a row of zeros finds nothing.
        """
        norms = np.linalg.norm(queries, axis=1)
        usable = np.flatnonzero(np.isfinite(norms) & (norms > 1e-6))
        found: list[list[tuple[str, float]]] = [[] for _ in queries]
        if not len(usable):
            return found
        unit = (queries[usable] / norms[usable, None]).astype(np.float32)
        most = k if corpus == "paragraph" else 4 * k
        try:
            near = self._near(library, corpus, space, unit, most, sources)
        except IndexLost:
            # Another process may have replaced the index since its name was read.
            near = self._near(library, corpus, space, unit, most, sources, again=True)
        for at, hits in zip(usable, near, strict=True):
            best: dict[str, float] = {}
            for item, cosine in sorted(hits, key=lambda hit: -hit[1])[:most]:
                best.setdefault(item, cosine)
            found[at] = list(best.items())[:k]
        return found

    def put(
        self,
        library: str,
        corpus: Corpus,
        space: str,
        ids: Sequence[str],
        sources: Sequence[str],
        rows: Matrix,
    ) -> int:
        """Write chunk vectors, shape (n, dim), over those of the same ids; return how many were written."""
        with self._catalog.writing(library) as connection:
            written = blobs.put(connection, corpus, space, ids, sources, rows)
            if written:
                bump(connection)
        return written

    def discard(self, library: str, corpus: Corpus, space: str, ids: Sequence[str]) -> None:
        """Remove chunks by id."""
        if ids:
            with self._catalog.writing(library) as connection:
                blobs.discard(connection, corpus, space, ids)
                bump(connection)

    def ids(self, library: str, corpus: Corpus, space: str) -> list[str]:
        """Return the ids of every chunk, in order."""
        query = select(vectors.c.item, vectors.c.part).where(*rows_of(vectors, corpus, space))
        with self._catalog.reading(library) as connection:
            found: list[str] = []
            for item, part in connection.execute(query):
                found.append(f"{item}~{part}")
            return sorted(found)

    def has(self, library: str, corpus: Corpus, space: str) -> bool:
        """Tell whether there are vectors of a corpus in a space."""
        query = select(vectors.c.n).where(*rows_of(vectors, corpus, space)).limit(1)
        with self._catalog.reading(library) as connection:
            return connection.execute(query).first() is not None

    def image_encoders(self, library: str) -> list[str]:
        """Return the names of the image encoders that have vectors."""
        query = select(vectors.c.space).where(vectors.c.space.startswith(SEEN))
        with self._catalog.reading(library) as connection:
            spaces = connection.execute(query.distinct()).scalars().all()
        found: list[str] = []
        for space in spaces:
            found.append(space.removeprefix(SEEN))
        return sorted(found)

    def of_items(self, library: str, corpus: Corpus, space: str, items: Sequence[str]) -> dict[str, Matrix]:
        """Return the first vectors of items, shape (n, dim) each; items without vectors are left out."""
        found: dict[str, list[bytes]] = {}
        with self._catalog.reading(library) as connection:
            for some in in_parts(list(items)):
                query = select(vectors.c.item, vectors.c.data).where(*rows_of(vectors, corpus, space))
                query = query.where(vectors.c.item.in_(some)).order_by(vectors.c.n)
                for item, data in connection.execute(query):
                    found.setdefault(item, []).append(data)
        result: dict[str, Matrix] = {}
        for item, rows in found.items():
            result[item] = matrix_of(rows[:PER_ITEM])
        return result

    def note(self) -> str:
        """Return a sentence about what the last search could not use, or ""."""
        return self._note

    def tidy(self, library: str, *, rebuild: bool = False) -> str:
        """Update the index if it is missing or too old; see `Upkeep.tidy`."""
        return self._upkeep.tidy(library, rebuild=rebuild)

    def forget_removed(self, library: str) -> None:
        """Remove deleted rows from the index; see `Upkeep.forget_removed`."""
        self._upkeep.forget_removed(library)

    def drop(self, library: str) -> None:
        """Forget a library that was deleted."""
        self._held.drop(library)
        self._indexes.keep(library, set())

    def close(self) -> None:
        """Release the cached vectors and every index."""
        self._held.drop()
        self._indexes.close()

    def _near(
        self,
        library: str,
        corpus: Corpus,
        space: str,
        unit: Matrix,
        most: int,
        sources: Sequence[str],
        again: bool = False,
    ) -> list[Near]:
        """Return up to `most` (item, cosine) or more of each query, in no order.

        Raises:
            IndexLost: the index is not there; not when asked `again`.
        """
        near: list[Near] = [[] for _ in unit]
        with self._catalog.reading(library, fresh=again) as connection:
            after = 0
            index = self._index_of(connection, library, corpus, space)
            if index is not None and (self.stays or index["count"] > FEW):
                try:
                    near = self._indexed(connection, library, index, unit, most, sources)
                    after = index["upto"]
                    self._note = ""
                except Broken as error:
                    if isinstance(error, IndexLost) and not again:
                        raise
                    after = self._without(library, index, error)
            rows = self._held.rows(connection, (library, corpus, space), after)
            allowed = None
            if sources:
                mine = rows_of(vectors, corpus, space)
                query = select(vectors.c.n).where(*mine, vectors.c.source.in_(sources))
                allowed = np.isin(rows.n, np.fromiter(connection.execute(query).scalars(), np.int64))
            for own, exact in zip(near, nearest(rows, unit, most, allowed), strict=True):
                own += [(rows.items[n], cosine) for n, cosine in exact]
            return near

    def _index_of(self, connection: Connection, library: str, corpus: Corpus, space: str) -> Index | None:
        """Return the row of the index of a corpus in a space; None if there is none."""
        memory, key = self._catalog.memory(library), f"index {corpus} {space}"
        if key not in memory:
            query = select(indexes).where(*rows_of(indexes, corpus, space))
            memory[key] = connection.execute(query).mappings().first()
        index: Index | None = memory[key]
        return index

    def _indexed(
        self,
        connection: Connection,
        library: str,
        index: Index,
        unit: Matrix,
        most: int,
        sources: Sequence[str],
    ) -> list[Near]:
        """Return what an index finds, without deleted rows; query for more until enough are left."""
        memory, key = self._catalog.memory(library), f"whole {index['corpus']} {index['space']}"
        if key not in memory:
            # In most generations the index holds no deleted row.
            memory[key] = living_of(connection, index) == index["count"]
        limit = most
        while True:
            near = self._indexes.query(library, index, unit, limit, sources)
            if memory[key]:
                return [_with_items(hits) for hits in near]
            items = set()
            for hits in near:
                for id_, _ in hits:
                    items.add(item_of(id_))
            alive = alive_of(connection, index, items)
            kept: list[Near] = []
            enough = True
            for hits in near:
                living = []
                for hit in hits:
                    if hit[0] in alive:
                        living.append(hit)
                kept.append(_with_items(living))
                if len(living) < most and len(hits) == limit:
                    enough = False
            if enough or limit >= index["count"]:
                return kept
            limit = min(2 * limit, index["count"])

    def _without(self, library: str, index: Index, error: Broken) -> int:
        """Return the row after which vectors are compared one by one, if the index cannot be queried.

        A damaged index on disk is not used again; the next run of index makes another. An index that a server
        has lost is rebuilt at once, while questions are answered.
        """
        self._indexes.let_go(library, str(index["name"]))
        if not self._indexes.in_place:
            # A lost index may lie in another home that uses the same database, so keep its row.
            if not isinstance(error, IndexLost):
                logger.warning("%s; all vectors are compared instead", error)
                # Another process may hold the disk, or it may be read-only.
                with suppress(LibraryError):
                    self._upkeep.forget_rows(library)
            return 0
        if isinstance(error, IndexLost) and not self._mending.locked():
            threading.Thread(target=self._mend, args=(library,), name="ragweave-mend", daemon=True).start()
        few = index["count"] <= MANY
        how = "all vectors were compared one by one" if few else "it was searched by its words alone"
        self._note = f"{error}, so {how}"
        return 0 if few else int(index["upto"])

    def _mend(self, library: str) -> None:
        # If another process holds the lock, it updates the index.
        with suppress(LibraryError), self._mending, locks.writer(library, library, 0):
            self.tidy(library)


def _with_items(hits: Near) -> Near:
    """Return the hits of chunks with the ids of their items."""
    return [(item_of(id_), cosine) for id_, cosine in hits]
