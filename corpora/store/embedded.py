"""Catalogs on this machine: one SQLite file for each library, in its folder."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, delete, select

from ragweave.corpora.store import fts5, lexical, table_schema
from ragweave.corpora.store.folders import REMEDY, catalog_of, folders
from ragweave.corpora.store.migrations import Fill, nothing
from ragweave.corpora.store.schema import about, connect, in_parts, removed
from ragweave.corpora.store.sqlite_file import INCREMENTAL, write
from ragweave.corpora.types import CORPORA
from ragweave.models.errors import LibraryError, LibraryNotFound

_STEP = 2_000
"""Pages that are merged, or given back to the disk, in one transaction."""
_WAIT = 2_000
"""Milliseconds for which readers may hold up the emptying of the log; the next run empties it then."""
_PATIENT = "PRAGMA busy_timeout = 60000"


class Files:
    """The catalogs of a home: `<home>/libraries/<id>/catalog.sqlite`."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._engines: dict[str, Engine] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            for engine in self._engines.values():
                engine.dispose()
            self._engines.clear()

    def ids(self) -> list[str]:
        """Return the ids of the libraries."""
        return folders(self._home)

    def reading(self, library: str) -> AbstractContextManager[Connection]:
        """Begin a transaction that sees one state of a library."""
        return self._engine(library).begin()

    def writing(self, library: str) -> AbstractContextManager[Connection]:
        """Begin a transaction that changes a library."""
        return write(self._engine(library))

    def make(self, library: str, folder: Path, named: dict[str, Any], fill: Fill = nothing) -> None:
        """Make the catalog of a library in a folder: its row of `about`, and what `fill` writes."""
        engine = connect(folder / "catalog.sqlite")
        with write(engine) as connection:
            lexical.create(connection)
            table_schema.create(connection)
            connection.execute(about.insert(), named)
            fill(connection)
        engine.dispose()

    def drop(self, library: str) -> None:
        """Let go of a library, whose file goes with its folder."""
        with self._lock:
            if library in self._engines:
                self._engines.pop(library).dispose()

    def damage(self, library: str) -> list[str]:
        """Return what is wrong with the rows of a library, in words."""
        with self.reading(library) as connection:
            found = []
            for r in connection.exec_driver_sql("PRAGMA quick_check(5)"):
                if r[0] != "ok":
                    found.append(str(r[0]))
            lost = connection.exec_driver_sql("PRAGMA foreign_key_check")
            return found + [f"a row of {r[0]} has lost its {r[2]}" for r in lost]

    def erase(self, library: str) -> None:
        """Erase what was deleted from the disk: its words from the index, its pages from the file.

        Each step is a transaction of its own, so that others write between two of them. Only if sources were
        removed is there anything to do, but for the write-ahead log, which is emptied in any case.
        """
        with self.reading(library) as connection:
            gone = list(connection.execute(select(removed.c.source)).scalars())
        if gone:
            self._erase(library)
            with self.writing(library) as connection:
                for some in in_parts(gone):
                    connection.execute(delete(removed).where(removed.c.source.in_(some)))
        self._run(library, f"PRAGMA busy_timeout = {_WAIT}", "PRAGMA wal_checkpoint(TRUNCATE)", _PATIENT)

    def _erase(self, library: str) -> None:
        for name in map(lexical.table, CORPORA):
            pages = -_STEP
            while self._merge(library, name, pages):
                pages = _STEP
        # A file of an earlier version keeps its pages, emptied, for what comes.
        while self._give_back(library):
            pass

    def compact(self, library: str) -> None:
        """Rewrite the catalog without deleted rows."""
        with self.writing(library) as connection:
            _merge_words(connection)
            connection.execute(delete(removed))
        self._run(library, f"PRAGMA auto_vacuum = {INCREMENTAL}", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")

    def _merge(self, library: str, name: str, pages: int) -> bool:
        with self.writing(library) as connection:
            return fts5.merge(connection, name, pages)

    def _give_back(self, library: str) -> bool:
        """Give some free rooms back to the disk; tell whether others are left."""
        with self.writing(library) as connection:
            raw: Any = connection.connection.driver_connection
            free = raw.execute("PRAGMA freelist_count").fetchone()[0]
            how = raw.execute("PRAGMA auto_vacuum").fetchone()[0]
            if not free or how != INCREMENTAL:
                return False
            raw.execute(f"PRAGMA incremental_vacuum({_STEP})").fetchall()
            return bool(raw.execute("PRAGMA freelist_count").fetchone()[0] not in (0, free))

    def _run(self, library: str, *statements: str) -> None:
        raw = self._engine(library).raw_connection()
        try:
            cursor = raw.cursor()
            for statement in statements:
                cursor.execute(statement)
            cursor.close()
        except sqlite3.Error as error:
            raise LibraryError(f"The catalog cannot be compacted ({error})", REMEDY) from error
        finally:
            raw.close()

    def _engine(self, library: str) -> Engine:
        path = catalog_of(self._home, library)
        with self._lock:
            if not path.exists():
                if library in self._engines:
                    self._engines.pop(library).dispose()
                raise LibraryNotFound("The library was deleted", "open another, or index it again")
            if library not in self._engines:
                self._engines[library] = connect(path)
            return self._engines[library]


def _merge_words(connection: Connection) -> None:
    """Have the words of deleted rows leave the index, which is when its parts are merged into one."""
    for name in map(lexical.table, CORPORA):
        connection.exec_driver_sql(f"INSERT INTO {name}({name}) VALUES ('optimize')")
