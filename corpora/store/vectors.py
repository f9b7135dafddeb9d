"""The vectors: rows of the catalog, found through their Chroma index, or compared one by one.

What counts are the rows. Rows that are newer than the index are compared one by one, those that have gone
since are left out because the catalog does not hold them, and where there is no index, or it is broken, all
are compared: an answer is right with any index, and with none. Only where a Chroma server is away and its
index is large, what lies in it is not found; then `note` says so.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from sqlalchemy import Connection, delete, select

from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store import blobs, locks
from ragweave.corpora.store.blobs import SEEN, Matrix, item_of
from ragweave.corpora.store.chroma import Broken, FolderIndexes, Index, IndexLost, Near
from ragweave.corpora.store.chroma_rows import collection_of
from ragweave.corpora.store.chroma_server import ServerIndexes
from ragweave.corpora.store.exact import Held, matrix_of, nearest
from ragweave.corpora.store.index_state import alive_of, changes_of, living_of, rows_of
from ragweave.corpora.store.libraries import Libraries
from ragweave.corpora.store.schema import bump, in_parts, indexes, upsert, vectors
from ragweave.corpora.types import Corpus
from ragweave.models.errors import LibraryError

logger = logging.getLogger(__name__)

INDEX_FROM = 1
"""Vectors of a library from which it has an index."""
FEW = 20_000
"""Vectors of a corpus that a process which answers one question compares one by one: importing chromadb takes longer.
An index of so few is brought up to date by every run, a larger one when a hundredth of it has changed."""
MANY = 100_000
"""Vectors of a corpus up to which all are compared while a Chroma server is away."""
PER_ITEM = 32
"""Chunks, or frames, of an item that are compared where it was found by another list."""


class Vectors:
    """The vectors of the libraries of a home."""

    stays = False
    """Whether this process answers questions for long, and asks the index however few vectors there are."""

    def __init__(self, catalog: Libraries, home: Path, server: CorporaSettings | None = None) -> None:
        """Keep the indexes under the home, or in the Chroma server that the settings name."""
        self._catalog = catalog
        self._indexes = ServerIndexes(server) if server else FolderIndexes(home)
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
            near = self._near(*asked_for)
        except IndexLost:  # another process may have put a new index in its place since its name was read
            near = self._near(*asked_for, again=True)
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
        query = select(vectors.c.item, vectors.c.part).where(*rows_of(vectors, corpus, space))
        with self._catalog.reading(library) as connection:
            return sorted(f"{item}~{part}" for item, part in connection.execute(query))

    def has(self, library: str, corpus: Corpus, space: str) -> bool:
        """Say whether there are vectors of a corpus in a space."""
        query = select(vectors.c.n).where(*rows_of(vectors, corpus, space)).limit(1)
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
                query = select(vectors.c.item, vectors.c.data).where(*rows_of(vectors, corpus, space))
                for item, data in connection.execute(
                    query.where(vectors.c.item.in_(some)).order_by(vectors.c.n)
                ):
                    found.setdefault(item, []).append(data)
        return {item: matrix_of(rows[:PER_ITEM]) for item, rows in found.items()}

    def note(self) -> str:
        """Return what the last question had to do without, in words, or ""."""
        return self._note

    def tidy(self, library: str, *, anew: bool = False) -> str:
        """Bring the index to what the catalog holds, where it is missing or too old; the caller holds the writer lock.

        `anew` makes it anew, whatever state it is in.

        Returns:
            Why it could not be made, in words, or "".
        """
        why = ""
        try:
            with self._catalog.reading(library) as connection:
                rows = [] if anew else connection.execute(select(indexes)).mappings().all()
                stale = self._stale(library, connection, rows)
                usable = self._indexes.usable(library, rows) if stale and rows else []
            if stale:
                self._bring(library, usable)
        except Broken as error:
            return f"{error}; check RAGWEAVE_CHROMA_URL"
        except LibraryError as error:
            why = str(error)
        self._sweep(library)
        return why

    def forget_removed(self, library: str) -> None:
        """Have what was removed leave the index, where that holds texts or is a server's; else the next run sees to it.

        An index in the home holds vectors and ids alone. What is gone from the catalog is left out of
        answers.
        """
        with self._catalog.reading(library) as connection:
            rows = connection.execute(select(indexes)).mappings().all()
            gone = any(change.gone for change in changes_of(connection, rows))
        if gone and isinstance(self._indexes, ServerIndexes):
            with suppress(
                LibraryError, Broken
            ):  # a server that is away is brought up to date by the next run
                self._bring(library, self._indexes.usable(library, rows))
        elif gone and isinstance(self._indexes, FolderIndexes) and self._indexes.holds_texts(rows):
            self._forget(library)
            self._sweep(library)
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
    ) -> list[Near]:
        """Return up to `most` (item, cosine) or more of each query, in no order.

        Raises:
            IndexLost: the index is not there; not when asked `again`.
        """
        near: list[Near] = [[] for _ in unit]
        with self._catalog.reading(library, anew=again) as connection:
            after = 0
            memory, key = self._catalog.memory(library), f"index {corpus} {space}"
            if key not in memory:
                wanted = select(indexes).where(*rows_of(indexes, corpus, space))
                memory[key] = connection.execute(wanted).mappings().first()
            index: Index | None = memory[key]
            if index is not None and (self.stays or index["count"] > FEW):
                try:
                    near, after = (
                        self._indexed(connection, library, index, unit, most, sources),
                        index["upto"],
                    )
                    self._note = ""
                except Broken as error:
                    if isinstance(error, IndexLost) and not again:
                        raise
                    after = self._without(library, index, error)
            rows = self._held.rows(connection, (library, corpus, space), after)
            allowed = None
            if sources:
                query = select(vectors.c.n).where(
                    *rows_of(vectors, corpus, space), vectors.c.source.in_(sources)
                )
                allowed = np.isin(rows.n, np.fromiter(connection.execute(query).scalars(), np.int64))
            for own, exact in zip(near, nearest(rows, unit, most, allowed), strict=True):
                own += [(rows.items[n], cosine) for n, cosine in exact]
            return near

    def _indexed(
        self,
        connection: Connection,
        library: str,
        index: Index,
        unit: Matrix,
        most: int,
        sources: Sequence[str],
    ) -> list[Near]:
        """Return what an index finds, without what has gone since; more is asked for until enough of it lives."""
        memory, key = self._catalog.memory(library), f"whole {index['corpus']} {index['space']}"
        if key not in memory:  # of most generations the index holds nothing that has gone
            memory[key] = living_of(connection, index) == index["count"]
        asked = most
        while True:
            near = self._indexes.query(library, index, unit, asked, sources)
            if memory[key]:
                return [[(item_of(id_), cosine) for id_, cosine in hits] for hits in near]
            alive = alive_of(connection, index, {item_of(id_) for hits in near for id_, _ in hits})
            kept = [[(item_of(id_), cosine) for id_, cosine in hits if id_ in alive] for hits in near]
            short = any(len(k) < most and len(h) == asked for k, h in zip(kept, near, strict=True))
            if not short or asked >= index["count"]:
                return kept
            asked = min(2 * asked, index["count"])

    def _without(self, library: str, index: Index, error: Broken) -> int:
        """Return the row after which vectors are compared one by one, where an index cannot be asked.

        A damaged one on the disk is not asked again, and the next run of index makes another. What a server
        has lost is made anew at once, beside the questions.
        """
        self._indexes.let_go(library, str(index["name"]))
        if not self._indexes.in_place:
            if not isinstance(
                error, IndexLost
            ):  # what is only not here may lie in another home of the same database
                logger.warning("%s; all vectors are compared instead", error)
                with suppress(LibraryError):  # another process may hold the disk, or it may not be written
                    self._forget(library)
            return 0
        if isinstance(error, IndexLost) and not self._mending.locked():
            threading.Thread(target=self._mend, args=(library,), name="ragweave-mend", daemon=True).start()
        few = index["count"] <= MANY
        how = "all vectors were compared one by one" if few else "it was searched by its words alone"
        self._note = f"{error}, so {how}"
        return 0 if few else int(index["upto"])

    def _mend(self, library: str) -> None:
        with (
            suppress(LibraryError),
            self._mending,
            locks.writer(library, library, 0),
        ):  # else another process does it
            self.tidy(library)

    def _stale(self, library: str, connection: Connection, rows: Sequence[Index]) -> bool:
        """Return whether an index differs so much from the catalog that it is worth writing."""
        there = self._indexes.there(library)
        changes = changes_of(connection, [row for row in rows if row["name"] in there])
        if sum(change.count for change in changes) < INDEX_FROM:
            return bool(rows)
        named = {(change.space, change.corpus) for change in changes}
        return not named >= {(row["space"], row["corpus"]) for row in rows} or any(
            change.new + change.gone > (0 if change.count <= FEW else change.count // 100) or not change.after
            for change in changes
        )

    def _bring(self, library: str, usable: Sequence[Index]) -> None:
        try:
            self._write(library, usable)
        except LibraryError:
            if not usable:
                raise
            self._write(library, [])

    def _write(self, library: str, usable: Sequence[Index]) -> None:
        """Write what an index lacks; of the rows that are not `usable` all is written."""
        if self._indexes.in_place:  # of a collection that is made anew nobody takes a part for the whole
            with self._catalog.writing(library) as connection:
                connection.execute(
                    delete(indexes).where(indexes.c.name.not_in([row["name"] for row in usable]))
                )
        with self._catalog.reading(library) as connection:
            changes = changes_of(connection, usable)
            wanted = {change.collection: change.space for change in changes}
            if not self._indexes.in_place and any(
                wanted.get(collection_of(row["space"], row["corpus"])) != row["space"] for row in usable
            ):
                usable, changes = [], changes_of(connection, [])
            if sum(change.count for change in changes) < INDEX_FROM:
                changes = []
            name, digest = self._indexes.write(library, connection, changes, usable) if changes else ("", "")
        with self._catalog.writing(library) as connection:
            connection.execute(delete(indexes))
            for change in changes:
                row = {
                    "space": change.space,
                    "corpus": change.corpus,
                    "upto": change.upto,
                    "count": change.count,
                }
                named = name + change.collection if self._indexes.in_place else name
                upsert(connection, indexes, {**row, "name": named, "digest": digest})

    def _forget(self, library: str) -> None:
        with self._catalog.writing(library) as connection:
            connection.execute(delete(indexes))

    def _sweep(self, library: str) -> None:
        with self._catalog.reading(library) as connection:
            kept = set(connection.execute(select(indexes.c.name)).scalars())
        self._indexes.keep(library, kept)
