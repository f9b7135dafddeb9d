"""Keep the indexes of vectors up to date with the catalog."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import Connection, delete, select

from ragweave.corpora.store.chroma import Broken, FolderIndexes, Index
from ragweave.corpora.store.chroma_rows import CollectionChange, collection_of
from ragweave.corpora.store.chroma_server import ServerIndexes
from ragweave.corpora.store.index_state import changes_of
from ragweave.corpora.store.libraries import Libraries
from ragweave.corpora.store.schema import indexes, upsert
from ragweave.models.errors import LibraryError

INDEX_FROM = 1
"""Fewest vectors of a library for which an index is made."""
FEW = 20_000
"""Most vectors of a corpus that a process for one question compares one by one; importing chromadb takes
longer. Every run updates an index up to this size, and a larger one when a hundredth of the rows changed."""


class Upkeep:
    """Writes and removes the indexes of the libraries of a home."""

    def __init__(self, catalog: Libraries, store: FolderIndexes | ServerIndexes) -> None:
        self._catalog = catalog
        self._indexes = store

    def tidy(self, library: str, *, rebuild: bool = False) -> str:
        """Update the index if it is missing or too old; the caller holds the writer lock.

        `rebuild` builds it from scratch in any case.

        Returns:
            The reason why it could not be made, or "".
        """
        why = ""
        try:
            with self._catalog.reading(library) as connection:
                rows = [] if rebuild else connection.execute(select(indexes)).mappings().all()
                stale = self._stale(library, connection, rows)
                usable = self._indexes.usable(library, rows) if stale and rows else []
            if stale:
                self._update(library, usable)
        except Broken as error:
            return f"{error}; check RAGWEAVE_CHROMA_URL"
        except LibraryError as error:
            why = str(error)
        self._sweep(library)
        return why

    def forget_removed(self, library: str) -> None:
        """Remove deleted rows from an index that holds texts or lies in a server.

        An index in the home folder holds vectors and ids alone, so the next run updates it. No search returns
        rows that the catalog does not hold.
        """
        with self._catalog.reading(library) as connection:
            rows = connection.execute(select(indexes)).mappings().all()
            deleted = [change.gone for change in changes_of(connection, rows)]
        if not any(deleted):
            return
        if isinstance(self._indexes, ServerIndexes):
            # If the server cannot be reached, the next run updates it.
            with suppress(LibraryError, Broken):
                self._update(library, self._indexes.usable(library, rows))
        elif isinstance(self._indexes, FolderIndexes) and self._indexes.holds_texts(rows):
            self.forget_rows(library)
            self._sweep(library)
            self.tidy(library)

    def _stale(self, library: str, connection: Connection, rows: Sequence[Index]) -> bool:
        """Tell whether the indexes differ enough from the catalog to be written."""
        there = self._indexes.there(library)
        usable = []
        for row in rows:
            if row["name"] in there:
                usable.append(row)
        changes = changes_of(connection, usable)
        if _count(changes) < INDEX_FROM:
            return bool(rows)
        needed = set()
        for change in changes:
            needed.add((change.space, change.corpus))
        for row in rows:
            if (row["space"], row["corpus"]) not in needed:
                return True
        return any(map(_is_stale, changes))

    def _update(self, library: str, usable: Sequence[Index]) -> None:
        try:
            self._write(library, usable)
        except LibraryError:
            if not usable:
                raise
            self._write(library, [])

    def _write(self, library: str, usable: Sequence[Index]) -> None:
        """Write what the indexes lack; those that are not `usable` are written from scratch."""
        if self._indexes.in_place:
            # No search may use a collection that is only partly rewritten.
            kept = [row["name"] for row in usable]
            with self._catalog.writing(library) as connection:
                connection.execute(delete(indexes).where(indexes.c.name.not_in(kept)))
        with self._catalog.reading(library) as connection:
            changes = changes_of(connection, usable)
            if not self._indexes.in_place and _holds_other_spaces(usable, changes):
                usable, changes = [], changes_of(connection, [])
            if _count(changes) < INDEX_FROM:
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

    def forget_rows(self, library: str) -> None:
        """Forget which indexes the library has; the next update writes them from scratch."""
        with self._catalog.writing(library) as connection:
            connection.execute(delete(indexes))

    def _sweep(self, library: str) -> None:
        with self._catalog.reading(library) as connection:
            kept = set(connection.execute(select(indexes.c.name)).scalars())
        self._indexes.keep(library, kept)


def _count(changes: Sequence[CollectionChange]) -> int:
    """Return how many rows the collections have together."""
    total = 0
    for change in changes:
        total += change.count
    return total


def _is_stale(change: CollectionChange) -> bool:
    """Tell whether so much of a collection has changed that it is worth writing."""
    tolerated = 0 if change.count <= FEW else change.count // 100
    return change.new + change.gone > tolerated or not change.after


def _holds_other_spaces(rows: Sequence[Index], changes: Sequence[CollectionChange]) -> bool:
    """Tell whether a collection holds vectors of another space than the one that is wanted."""
    wanted = {}
    for change in changes:
        wanted[change.collection] = change.space
    for row in rows:
        if wanted.get(collection_of(row["space"], row["corpus"])) != row["space"]:
            return True
    return False
