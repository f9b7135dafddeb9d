"""The vectors: rows of the catalog, compared one by one where they are few or new, through Chroma where they are many.

What counts are the rows. An index is a snapshot of them that is never changed: rows that came after it are compared
exactly, those that have gone since are left out because the catalog does not know them, and where there is no index,
or it is broken, everything is compared exactly. So an answer is right with any index, and with none.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, func, select

from ragweave.corpora.store import blobs
from ragweave.corpora.store.blobs import SEEN, Matrix
from ragweave.corpora.store.chroma import Broken, Indexes
from ragweave.corpora.store.folders import catalog_of, folder_of
from ragweave.corpora.store.libraries import Libraries
from ragweave.corpora.store.schema import bump, generation, in_parts, indexes, upsert, vectors
from ragweave.corpora.types import Corpus
from ragweave.models.errors import LibraryError

logger = logging.getLogger(__name__)

INDEX_FROM = 10_000
"""Vectors of a corpus, or changes since its index was made, from which an index is made (anew). Below, comparing them
all takes less time than asking Chroma, and far less than importing it (docs/reliability.md)."""
PER_ITEM = 32
"""Chunks, or frames, of an item that are compared where it was found by another list."""
_HELD = 2**30
"""Bytes of vectors that a process keeps in memory."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """Vectors of a space and corpus that are held in memory, in the order of their rows."""

    generation: int
    after: int
    n: NDArray[np.int64]
    matrix: Matrix


class Vectors:
    """The vectors of the libraries of a home."""

    def __init__(self, catalog: Libraries, home: Path, url: str = "") -> None:
        self._catalog = catalog
        self._home = home
        self._indexes = Indexes(url)
        self._url = url
        self._least = 0 if url else INDEX_FROM
        self._held: OrderedDict[tuple[str, str, str], _Rows] = OrderedDict()
        self._lock = threading.Lock()

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
        with self._catalog.reading(library) as connection:
            mine = _mine(corpus, space)
            index = connection.execute(select(indexes).where(*mine(indexes))).mappings().first()
            near: list[list[tuple[int, float]]] = [[] for _ in usable]
            if index is not None:
                try:
                    near = self._indexed(connection, library, index, unit, most, sources)
                except Broken as error:
                    logger.warning("%s; all vectors are compared instead", error)
                    self._forget(library, str(index["name"]))
                    index = None
            rows = self._rows(connection, library, corpus, space, index["upto"] if index else 0)
            allowed = None
            if sources:
                query = select(vectors.c.n).where(*mine(vectors), vectors.c.source.in_(sources))
                allowed = np.isin(rows.n, np.fromiter(connection.execute(query).scalars(), np.int64))
            for own, exact in zip(near, _nearest(rows, unit, most, allowed), strict=True):
                own += exact
            items = _items(connection, {n for hits in near for n, _ in hits})
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
        return {item: _matrix(rows[:PER_ITEM]) for item, rows in found.items()}

    def tidy(self, library: str, *, anew: bool = False) -> str:
        """Make the indexes that are missing or too old; the caller holds the writer lock.

        `anew` makes every index anew, whatever state it is in.

        Returns:
            Why an index could not be made, in words, or "".
        """
        folder = folder_of(self._home, library) / "chroma"
        spaces = select(vectors.c.space, vectors.c.corpus).distinct()
        with self._catalog.reading(library) as connection:
            groups = connection.execute(spaces).all()
            named = {(r["space"], r["corpus"]): r for r in connection.execute(select(indexes)).mappings()}
        why = ""
        for space, corpus in groups:
            old = named.get((space, corpus))
            if anew or self._stale(library, corpus, space, old):
                try:
                    self._build(library, corpus, space, folder)
                except LibraryError as error:
                    why = str(error)
        self._sweep(library, folder)
        return why

    def forget_indexes(self, library: str) -> None:
        """Remove the indexes that hold vectors which were deleted, so that these leave the disk now."""
        with self._catalog.writing(library) as connection:
            for row in connection.execute(select(indexes)).mappings().all():
                if _counted(connection, row["corpus"], row["space"], row["upto"])[0] < row["count"]:
                    connection.execute(delete(indexes).where(indexes.c.name == row["name"]))
        self._sweep(library, folder_of(self._home, library) / "chroma")

    def drop(self, library: str) -> None:
        """Forget a library that was deleted."""
        with self._lock:
            for key in [key for key in self._held if key[0] == library]:
                del self._held[key]
        self._indexes.keep(folder_of(self._home, library) / "chroma", set())

    def close(self) -> None:
        """Let go of the memory and of every index."""
        with self._lock:
            self._held.clear()
        self._indexes.close()

    def _indexed(
        self, connection: Connection, library: str, index: Any, unit: Matrix, most: int, sources: Sequence[str]
    ) -> list[list[tuple[int, float]]]:
        """Return what an index finds, without what has gone since; more is asked for until enough of it lives."""
        folder = folder_of(self._home, library) / "chroma"
        asked = most
        while True:
            near = self._indexes.query(folder, index["name"], index["digest"], unit, asked, sources)
            alive = _items(connection, {n for hits in near for n, _ in hits})
            kept = [[hit for hit in hits if hit[0] in alive] for hits in near]
            short = any(len(k) < most and len(h) == asked for k, h in zip(kept, near, strict=True))
            if not short or asked >= index["count"]:
                return kept
            asked = min(2 * asked, index["count"])

    def _rows(self, connection: Connection, library: str, corpus: Corpus, space: str, after: int) -> _Rows:
        """Return the vectors after a row, brought up to the generation of this snapshot."""
        key, at = (library, corpus, space), generation(connection)
        with self._lock:
            held = self._held.get(key)
            if held is None or (held.generation, held.after) != (at, after):
                held = _loaded(connection, key, after, at, held)
                self._held[key] = held
            self._held.move_to_end(key)
            while len(self._held) > 1 and sum(r.matrix.nbytes for r in self._held.values()) > _HELD:
                self._held.popitem(last=False)
            return held

    def _forget(self, library: str, name: str) -> None:
        """Let nobody ask a broken index again; the next run of index, or the repair, makes another."""
        self._indexes.let_go(name)
        if self._url:  # the server may be back soon
            return
        try:
            with self._catalog.writing(library) as connection:
                connection.execute(delete(indexes).where(indexes.c.name == name))
        except LibraryError as error:  # another process may hold the disk, or it may not be written
            logger.warning("%s", error)

    def _stale(self, library: str, corpus: Corpus, space: str, old: Any) -> bool:
        with self._catalog.reading(library) as connection:
            upto = old["upto"] if old else 0
            living, newer = _counted(connection, corpus, space, upto)
        changes = newer + (old["count"] - living if old else 0)
        return changes > max(self._least, (living + newer) // 4)

    def _build(self, library: str, corpus: Corpus, space: str, folder: Path) -> None:
        with self._catalog.reading(library) as connection:
            top = select(func.max(vectors.c.n), func.count()).where(*_mine(corpus, space)(vectors))
            upto, count = connection.execute(top).one()
        if count <= self._least:
            with self._catalog.writing(library) as connection:
                connection.execute(delete(indexes).where(*_mine(corpus, space)(indexes)))
            return
        made = self._indexes.build(catalog_of(self._home, library), folder, (space, corpus, int(upto)))
        row = {"space": space, "corpus": corpus, "upto": upto, "count": count}
        with self._catalog.writing(library) as connection:
            upsert(connection, indexes, {**row, "name": made[0], "digest": made[1]})

    def _sweep(self, library: str, folder: Path) -> None:
        with self._catalog.reading(library) as connection:
            kept = set(connection.execute(select(indexes.c.name)).scalars())
        self._indexes.keep(folder, kept)


def _mine(corpus: str, space: str) -> Any:
    return lambda table: (table.c.space == space, table.c.corpus == corpus)


def _counted(connection: Connection, corpus: Corpus, space: str, upto: int) -> tuple[int, int]:
    """Return how many vectors there are up to a row, and after it."""
    query = select(func.count()).where(*_mine(corpus, space)(vectors))
    before = int(connection.execute(query.where(vectors.c.n <= upto)).scalar_one())
    return before, int(connection.execute(query.where(vectors.c.n > upto)).scalar_one())


def _loaded(connection: Connection, key: tuple[str, str, str], after: int, at: int, held: _Rows | None) -> _Rows:
    """Return the vectors after a row; those that are held already are not read again."""
    where = "FROM vectors WHERE corpus = ? AND space = ? AND n > ? ORDER BY n"
    live = np.fromiter(connection.exec_driver_sql(f"SELECT n {where}", (*key[1:], after)).scalars(), np.int64)
    if held is None or not len(held.n):
        held = _Rows(at, after, np.zeros(0, np.int64), np.zeros((0, 0), np.float32))
    kept = np.isin(held.n, live)
    missing = live[~np.isin(live, held.n)]
    if not kept.all():
        held = _Rows(at, after, held.n[kept], held.matrix[kept])
    if not len(missing):
        return _Rows(at, after, held.n, held.matrix)
    rows = connection.exec_driver_sql(f"SELECT n, data {where}", (*key[1:], int(missing[0]) - 1)).all()
    wanted = set(missing.tolist())
    new = [row for row in rows if row[0] in wanted]
    matrix = _matrix([row[1] for row in new])
    n = np.fromiter((row[0] for row in new), np.int64)
    if len(held.n):
        n, matrix = np.concatenate([held.n, n]), np.concatenate([held.matrix, matrix])
    return _Rows(at, after, n, matrix)


def _matrix(blobs: Sequence[bytes]) -> Matrix:
    if not blobs:
        return np.zeros((0, 0), dtype=np.float32)
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1).astype(np.float32, copy=False)


def _nearest(rows: _Rows, unit: Matrix, most: int, allowed: NDArray[np.bool_] | None) -> list[list[tuple[int, float]]]:
    """Return the nearest (row, cosine) of each query."""
    n, matrix = (rows.n, rows.matrix) if allowed is None else (rows.n[allowed], rows.matrix[allowed])
    if not len(n):
        return [[] for _ in unit]
    cosines = unit @ matrix.T
    found = []
    for own in cosines:
        best = np.argpartition(-own, most - 1)[:most] if len(own) > most else np.arange(len(own))
        found.append([(int(n[i]), float(own[i])) for i in best])
    return found


def _items(connection: Connection, rows: Iterable[int]) -> Mapping[int, str]:
    """Return the item of each row that the catalog holds."""
    found: dict[int, str] = {}
    for part in in_parts(sorted(rows)):
        query = select(vectors.c.n, vectors.c.item).where(vectors.c.n.in_(part))
        found |= {int(n): str(item) for n, item in connection.execute(query)}
    return found
