"""The vectors: rows of the catalog, compared one by one where they are few or new, through Chroma where they are many.

What counts are the rows. An index is a snapshot of them that is never changed: rows that came after it are compared
exactly, those that have gone since are left out because the catalog does not know them, and where there is no index,
or it is broken, everything is compared exactly: an answer is right with any index, and with none. Only where a Chroma
server is away and its index is large, what lies in it is not found; then `note` says so.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, func, select

from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store import blobs, locks
from ragweave.corpora.store.blobs import SEEN, Matrix
from ragweave.corpora.store.chroma import Broken, FolderIndexes, IndexLost
from ragweave.corpora.store.chroma_server import ServerIndexes
from ragweave.corpora.store.exact import Held, matrix_of, nearest
from ragweave.corpora.store.libraries import Libraries
from ragweave.corpora.store.schema import bump, in_parts, indexes, upsert, vectors
from ragweave.corpora.types import Corpus
from ragweave.models.errors import LibraryError

logger = logging.getLogger(__name__)

INDEX_FROM = 100_000
"""Vectors of a corpus, or changes since its index was made, from which an index is made (anew). Below, a process has
read them all and compared them before it has opened Chroma's, and holds no more (docs/reliability.md)."""
PER_ITEM = 32
"""Chunks, or frames, of an item that are compared where it was found by another list."""


class Vectors:
    """The vectors of the libraries of a home."""

    def __init__(self, catalog: Libraries, home: Path, server: CorporaSettings | None = None) -> None:
        """Keep the indexes under the home, or in the Chroma server that the settings name."""
        self._catalog = catalog
        self._indexes = ServerIndexes(catalog, server) if server else FolderIndexes(catalog, home)
        self._on_server = server is not None
        # In a server from the first vector on: many processes ask it, and need not load the vectors.
        self._least = 0 if server else INDEX_FROM
        self._note = ""
        self._mending = threading.Lock()
        self._held = Held()

    def query(
        self, library: str, corpus: Corpus, space: str, asked: Matrix, k: int, sources: Sequence[str] = ()
    ) -> list[list[tuple[str, float]]]:
        """Return up to k (item id, cosine) for each query vector, best first.

        Chunks of one item are joined by their best. `asked` has shape (q, dim); a row of zeros finds nothing.
        """
        norms = np.linalg.norm(asked, axis=1)
        usable = np.flatnonzero(np.isfinite(norms) & (norms > 1e-6))
        found: list[list[tuple[str, float]]] = [[] for _ in asked]
        if not len(usable):
            return found
        unit = (asked[usable] / norms[usable, None]).astype(np.float32)
        most = k if corpus == "paragraph" else 4 * k
        asked_for = (library, corpus, space, unit, most, sources)
        try:
            near, items = self._near(*asked_for)
        except IndexLost:  # another process may have put a new index in its place since its name was read
            near, items = self._near(*asked_for, again=True)
        for at, hits in zip(usable, near, strict=True):
            best: dict[str, float] = {}
            for n, cosine in sorted(hits, key=lambda hit: -hit[1])[:most]:
                if n in items:
                    best.setdefault(items[n], cosine)
            found[at] = list(best.items())[:k]
        return found

    def put(
        self, library: str, corpus: Corpus, space: str, ids: Sequence[str], sources: Sequence[str], rows: Matrix
    ) -> int:
        """Write chunk vectors, shape (n, dim), in place of those of the same ids; return how many were written."""
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
        query = select(vectors.c.item, vectors.c.part).where(*_mine(corpus, space)(vectors))
        with self._catalog.reading(library) as connection:
            return sorted(f"{item}~{part}" for item, part in connection.execute(query))

    def has(self, library: str, corpus: Corpus, space: str) -> bool:
        """Say whether there are vectors of a corpus in a space."""
        query = select(vectors.c.n).where(*_mine(corpus, space)(vectors)).limit(1)
        with self._catalog.reading(library) as connection:
            return connection.execute(query).first() is not None

    def image_encoders(self, library: str) -> list[str]:
        """Return the names of the image encoders that have vectors."""
        query = select(vectors.c.space).where(vectors.c.space.startswith(SEEN))
        with self._catalog.reading(library) as connection:
            return sorted(s.removeprefix(SEEN) for s in connection.execute(query.distinct()).scalars())

    def of_items(self, library: str, corpus: Corpus, space: str, items: Sequence[str]) -> dict[str, Matrix]:
        """Return the first vectors of items, shape (n, dim) each; without those that have none."""
        found: dict[str, list[bytes]] = {}
        with self._catalog.reading(library) as connection:
            for some in in_parts(list(items)):
                query = select(vectors.c.item, vectors.c.data).where(*_mine(corpus, space)(vectors))
                for item, data in connection.execute(query.where(vectors.c.item.in_(some)).order_by(vectors.c.n)):
                    found.setdefault(item, []).append(data)
        return {item: matrix_of(rows[:PER_ITEM]) for item, rows in found.items()}

    def note(self) -> str:
        """Return what the last question had to do without, in words, or ""."""
        return self._note

    def tidy(self, library: str, *, anew: bool = False) -> str:
        """Make the indexes that are missing or too old; the caller holds the writer lock.

        `anew` makes every index anew, whatever state it is in.

        Returns:
            Why an index could not be made, in words, or "".
        """
        spaces = select(vectors.c.space, vectors.c.corpus).distinct()
        try:
            there = self._indexes.names(library)
        except Broken as error:
            return f"{error}; check RAGWEAVE_CHROMA_URL"
        with self._catalog.reading(library) as connection:
            groups = connection.execute(spaces).all()
            rows = connection.execute(select(indexes)).mappings()
            named = {(r["space"], r["corpus"]): r for r in rows if r["name"] in there}
        why = ""
        for space, corpus in groups:
            if anew or self._stale(library, corpus, space, named.get((space, corpus))):
                try:
                    self._build(library, corpus, space)
                except LibraryError as error:
                    why = str(error)
        self._sweep(library)
        return why

    def forget_indexes(self, library: str) -> None:
        """Remove the indexes that hold vectors which were deleted, so that these leave the disk now."""
        with self._catalog.writing(library) as connection:
            for row in connection.execute(select(indexes)).mappings().all():
                if _counted(connection, row["corpus"], row["space"], row["upto"])[0] < row["count"]:
                    connection.execute(delete(indexes).where(indexes.c.name == row["name"]))
        self._sweep(library)
        if self._on_server:
            self.tidy(library)

    def drop(self, library: str) -> None:
        """Forget a library that was deleted."""
        self._held.drop(library)
        self._indexes.keep(library, set())

    def close(self) -> None:
        """Let go of the memory and of every index."""
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
    ) -> tuple[list[list[tuple[int, float]]], Mapping[int, str]]:
        """Return up to `most` (row, cosine) or more of each query, in no order, and the items of the rows.

        Raises:
            Lost: the index is not there; not when asked `again`.
        """
        near: list[list[tuple[int, float]]] = [[] for _ in unit]
        with self._catalog.reading(library, anew=again) as connection:
            mine, after = _mine(corpus, space), 0
            index = connection.execute(select(indexes).where(*mine(indexes))).mappings().first()
            if index is not None:
                try:
                    near, after = self._indexed(connection, library, index, unit, most, sources), index["upto"]
                    self._note = ""
                except Broken as error:
                    if isinstance(error, IndexLost) and not again:
                        raise
                    after = self._without(library, index, error)
            rows = self._held.rows(connection, (library, corpus, space), after)
            allowed = None
            if sources:
                query = select(vectors.c.n).where(*mine(vectors), vectors.c.source.in_(sources))
                allowed = np.isin(rows.n, np.fromiter(connection.execute(query).scalars(), np.int64))
            for own, exact in zip(near, nearest(rows, unit, most, allowed), strict=True):
                own += exact
            found = {n for hits in near for n, _ in hits}
            beyond = _items(connection, found - rows.items.keys())
            return near, {n: rows.items[n] for n in found & rows.items.keys()} | dict(beyond)

    def _indexed(
        self, connection: Connection, library: str, index: Any, unit: Matrix, most: int, sources: Sequence[str]
    ) -> list[list[tuple[int, float]]]:
        """Return what an index finds, without what has gone since; more is asked for until enough of it lives."""
        asked = most
        while True:
            near = self._indexes.query(library, index["name"], index["digest"], unit, asked, sources)
            alive = _items(connection, {n for hits in near for n, _ in hits})
            kept = [[hit for hit in hits if hit[0] in alive] for hits in near]
            short = any(len(k) < most and len(h) == asked for k, h in zip(kept, near, strict=True))
            if not short or asked >= index["count"]:
                return kept
            asked = min(2 * asked, index["count"])

    def _without(self, library: str, index: Any, error: Broken) -> int:
        """Return the row after which vectors are compared one by one, where an index cannot be asked.

        One on the disk is not asked again; the next run of index, or the repair, makes another. A server may be back
        soon, and what it has lost is made anew at once, beside the questions.
        """
        name = str(index["name"])
        self._indexes.let_go(name)
        if not self._on_server:
            logger.warning("%s; all vectors are compared instead", error)
            try:
                with self._catalog.writing(library) as connection:
                    connection.execute(delete(indexes).where(indexes.c.name == name))
            except LibraryError as refused:  # another process may hold the disk, or it may not be written
                logger.warning("%s", refused)
            return 0
        if isinstance(error, IndexLost) and not self._mending.locked():
            threading.Thread(target=self._mend, args=(library,), name="ragweave-mend", daemon=True).start()
        few = index["count"] <= INDEX_FROM
        how = "all vectors were compared one by one" if few else "it was searched by its words alone"
        self._note = f"{error}, so {how}"
        return 0 if few else int(index["upto"])

    def _mend(self, library: str) -> None:
        with suppress(LibraryError), self._mending, locks.writer(library, library, 0):  # else another process does it
            self.tidy(library)

    def _stale(self, library: str, corpus: Corpus, space: str, old: Any) -> bool:
        with self._catalog.reading(library) as connection:
            upto = old["upto"] if old else 0
            living, newer = _counted(connection, corpus, space, upto)
        changes = newer + (old["count"] - living if old else 0)
        return changes > max(self._least, (living + newer) // 4)

    def _build(self, library: str, corpus: Corpus, space: str) -> None:
        with self._catalog.reading(library) as connection:
            top = select(func.max(vectors.c.n), func.count()).where(*_mine(corpus, space)(vectors))
            upto, count = connection.execute(top).one()
        if count <= self._least:
            with self._catalog.writing(library) as connection:
                connection.execute(delete(indexes).where(*_mine(corpus, space)(indexes)))
            return
        made = self._indexes.build(library, (space, corpus, int(upto)))
        row = {"space": space, "corpus": corpus, "upto": upto, "count": count}
        with self._catalog.writing(library) as connection:
            upsert(connection, indexes, {**row, "name": made[0], "digest": made[1]})

    def _sweep(self, library: str) -> None:
        with self._catalog.reading(library) as connection:
            kept = set(connection.execute(select(indexes.c.name)).scalars())
        self._indexes.keep(library, kept)


def _mine(corpus: str, space: str) -> Any:
    return lambda table: (table.c.space == space, table.c.corpus == corpus)


def _counted(connection: Connection, corpus: Corpus, space: str, upto: int) -> tuple[int, int]:
    """Return how many vectors there are up to a row, and after it."""
    query = select(func.count()).where(*_mine(corpus, space)(vectors))
    before = int(connection.execute(query.where(vectors.c.n <= upto)).scalar_one())
    return before, int(connection.execute(query.where(vectors.c.n > upto)).scalar_one())


def _items(connection: Connection, rows: Iterable[int]) -> Mapping[int, str]:
    """Return the item of each row that the catalog holds."""
    found: dict[int, str] = {}
    for part in in_parts(sorted(rows)):
        query = select(vectors.c.n, vectors.c.item).where(vectors.c.n.in_(part))
        found |= {int(n): str(item) for n, item in connection.execute(query)}
    return found
