"""Compare vectors one by one: a process keeps rows of the catalog in memory, as of one generation."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.schema import generation, in_parts, vectors

_HELD = 2**30
"""Bytes of vectors that a process keeps in memory."""

Key = tuple[str, str, str]
"""Library, corpus and space."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Vectors of a space and corpus that are held in memory, in the order of their rows."""

    generation: int
    after: int
    n: NDArray[np.int64]
    matrix: Matrix
    items: dict[int, str]


class Held:
    """The vectors in memory; the least recently used ones are dropped first."""

    def __init__(self) -> None:
        self._rows: OrderedDict[Key, Rows] = OrderedDict()
        self._lock = threading.Lock()

    def rows(self, connection: Connection, key: Key, after: int) -> Rows:
        """Return the vectors after a row, as of the generation of this snapshot."""
        at = generation(connection)
        with self._lock:
            held = self._rows.get(key)
            if held is None or (held.generation, held.after) != (at, after):
                held = _loaded(connection, key, after, at, held)
                self._rows[key] = held
            self._rows.move_to_end(key)
            while len(self._rows) > 1 and self._bytes() > _HELD:
                self._rows.popitem(last=False)
            return held

    def _bytes(self) -> int:
        total = 0
        for rows in self._rows.values():
            total += rows.matrix.nbytes
        return total

    def drop(self, library: str = "") -> None:
        """Forget the vectors of a library, or all."""
        with self._lock:
            for key in list(self._rows):
                if library in ("", key[0]):
                    del self._rows[key]


def _loaded(connection: Connection, key: Key, after: int, at: int, held: Rows | None) -> Rows:
    """Return the vectors after a row; read only those that are not in memory."""
    mine = (vectors.c.corpus == key[1], vectors.c.space == key[2], vectors.c.n > after)
    query = select(vectors.c.n).where(*mine).order_by(vectors.c.n)
    live = np.fromiter(connection.execute(query).scalars(), np.int64)
    if held is None or not len(held.n):
        held = Rows(at, after, np.zeros(0, np.int64), np.zeros((0, 0), np.float32), {})
    kept = np.isin(held.n, live)
    missing = live[~np.isin(live, held.n)]
    if not kept.all():
        kept_items = {}
        for number in held.n[kept].tolist():
            kept_items[number] = held.items[number]
        held = Rows(at, after, held.n[kept], held.matrix[kept], kept_items)
    n, items = np.concatenate([held.n, missing]), dict(held.items)
    matrix, done = held.matrix, len(held.n)
    # Read in parts and write each into its place, so that memory never holds all rows twice.
    for some in in_parts(missing.tolist()):
        wanted = (
            select(vectors.c.n, vectors.c.data, vectors.c.item)
            .where(vectors.c.n.in_(some))
            .order_by(vectors.c.n)
        )
        rows = connection.execute(wanted).all()
        new = matrix_of([row[1] for row in rows])
        if len(matrix) < len(n):
            matrix = np.empty((len(n), new.shape[1]), np.float32)
            matrix[:done] = held.matrix.reshape(done, new.shape[1])
        matrix[done : done + len(new)] = new
        done += len(new)
        for row in rows:
            items[row[0]] = row[2]
    return Rows(at, after, n, matrix, items)


def matrix_of(blobs: Sequence[bytes]) -> Matrix:
    """Return stored vectors as rows of one matrix."""
    if not blobs:
        return np.zeros((0, 0), dtype=np.float32)
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1).astype(np.float32, copy=False)


def nearest(
    rows: Rows, unit: Matrix, most: int, allowed: NDArray[np.bool_] | None
) -> list[list[tuple[int, float]]]:
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
