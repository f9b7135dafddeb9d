"""Catalogs on this machine: one SQLite file for each library, in its folder."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine

from ragweave.corpora.store import lexical, table_schema
from ragweave.corpora.store.folders import REMEDY, catalog_of, folders
from ragweave.corpora.store.schema import Fill, about, connect, nothing, write
from ragweave.corpora.types import CORPORA
from ragweave.models.errors import LibraryError, LibraryNotFound


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
            found = [str(r[0]) for r in connection.exec_driver_sql("PRAGMA quick_check(5)") if r[0] != "ok"]
            lost = connection.exec_driver_sql("PRAGMA foreign_key_check")
            return found + [f"a row of {r[0]} has lost its {r[2]}" for r in lost]

    def compact(self, library: str) -> None:
        """Write the catalog anew without what was deleted."""
        with self.writing(library) as connection:
            for name in map(lexical.table, CORPORA):
                # Tombstoned words leave the index when its parts are merged into one.
                connection.exec_driver_sql(f"INSERT INTO {name}({name}) VALUES ('optimize')")
        raw = self._engine(library).raw_connection()
        try:
            cursor = raw.cursor()
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
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
