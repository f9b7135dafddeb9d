"""The libraries of a home: their names, their folders, and the SQLite file that is the catalog of each."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import sqlite3
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from sqlalchemy import Connection, Engine, select, update

from ragweave.corpora.store import lexical, locks
from ragweave.corpora.store.folders import REMEDY, catalog_of, folder_of, folders, unwritable
from ragweave.corpora.store.schema import EARLIER, about, connect, write
from ragweave.corpora.types import CORPORA, MAX_HALF_LIFE, Recency
from ragweave.models.errors import InputError, LibraryError, LibraryNotFound

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """One library as the catalog knows it.

    `recency` and `half_life` say how its documents age, where a question does not say otherwise.
    """

    id: str
    name: str
    encoder: str
    dim: int
    generation: int
    recency: Recency = "auto"
    half_life: float | None = None


def check_name(name: str) -> str:
    """Return a library name in its one normal form.

    Raises:
        InputError: the name is empty, longer than 100 characters, or holds control or invisible characters.
    """
    clean = unicodedata.normalize("NFC", name).strip()
    if not clean or len(clean) > 100:
        raise InputError("A library name has 1 to 100 characters", "choose another name")
    # ZWNJ and ZWJ are letters' neighbours in Persian and the Indic scripts; every other format character only deceives.
    if any(
        unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") and c not in "\u200c\u200d" for c in clean
    ):
        raise InputError("A library name holds no control or invisible characters", "choose another name")
    return clean


class Libraries:
    """The libraries of a home and their catalogs: `<home>/libraries/<id>/catalog.sqlite`."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._engines: dict[str, Engine] = {}
        self._ids: dict[str, str] = {}
        self._lock = threading.Lock()
        if (home / "catalog.sqlite").exists():
            raise LibraryError(f"The libraries of {home} were written by an earlier Ragweave", EARLIER)

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            for engine in self._engines.values():
                engine.dispose()
            self._engines.clear()

    def reading(self, library: str) -> AbstractContextManager[Connection]:
        """Begin a transaction that sees one state of a library.

        Raises:
            LibraryNotFound: it was deleted.
            LibraryError: it was written by another Ragweave, or cannot be opened.
        """
        return self._engine(library).begin()

    def writing(self, library: str) -> AbstractContextManager[Connection]:
        """Begin a transaction that changes a library; see `reading`."""
        return write(self._engine(library))

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

    def libraries(self) -> list[LibraryRow]:
        """Return every library that can be opened, by name."""
        return self._scan()[0]

    def library(self, name: str) -> LibraryRow:
        """Return the library of that name.

        Raises:
            LibraryNotFound: there is none.
            LibraryError: it, or one whose name cannot be read, was written by a newer Ragweave or is damaged.
        """
        name = check_name(name)
        with suppress(KeyError, LibraryNotFound):
            row = self.row(self._ids[name])
            if row.name == name:
                return row
        rows, failed = self._scan()
        self._ids = {row.name: row.id for row in rows}
        if name in self._ids:
            return next(row for row in rows if row.name == name)
        if failed:
            raise failed[0]
        raise LibraryNotFound(
            f"There is no library named {name!r}", f"make it with: ragweave index FOLDER --library {name!r}"
        )

    def _scan(self) -> tuple[list[LibraryRow], list[LibraryError]]:
        """Return what the folders of the home hold, by name, and why others cannot be opened."""
        rows: list[LibraryRow] = []
        failed: list[LibraryError] = []
        for id_ in folders(self._home):
            try:
                rows.append(self.row(id_))
            except LibraryNotFound:
                continue
            except LibraryError as error:
                logger.warning("%s", error)
                failed.append(error)
        return sorted(rows, key=lambda row: row.name), failed

    def row(self, library: str) -> LibraryRow:
        """Return a library by id."""
        with self.reading(library) as connection:
            return LibraryRow(id=library, **connection.execute(select(about)).mappings().one())

    def create(self, name: str, encoder: str, dim: int) -> LibraryRow:
        """Make an empty library."""
        row = LibraryRow(secrets.token_hex(8), check_name(name), encoder, dim, 0)
        with self.making(row.id, row.name) as folder:
            engine = connect(folder / "catalog.sqlite")
            with write(engine) as connection:
                lexical.create(connection)
                values = asdict(row)
                del values["id"]  # the name of its folder
                connection.execute(about.insert(), values)
            engine.dispose()
        return row

    @contextmanager
    def making(self, library: str, name: str) -> Iterator[Path]:
        """Make a library in a folder of its own, which takes its place at the end: it is there whole or not at all."""
        self._free(name)
        part = folder_of(self._home, f".{library}.part")
        held = -1
        try:
            with locks.names(self._home):
                for left in part.parent.glob(".*.part"):  # of a process that was killed
                    if locks.forsaken(left):
                        shutil.rmtree(left, ignore_errors=True)
                part.mkdir(parents=True)
                held = locks.hold(part)
            yield part
            with locks.names(self._home):
                self._free(name)
                os.rename(part, folder_of(self._home, library))
        except OSError as error:
            raise unwritable(part, error) from error
        finally:
            shutil.rmtree(part, ignore_errors=True)
            if held >= 0:
                os.close(held)

    def _free(self, name: str) -> None:
        if any(row.name == name for row in self.libraries()):
            raise LibraryError(f"A library named {name!r} exists", "choose another name, or index into it")

    def rename(self, name: str, to: str) -> None:
        """Give a library another name."""
        found, to = self.library(name), check_name(to)
        with locks.names(self._home):
            if to != found.name:
                self._free(to)
            with self.writing(found.id) as connection:
                connection.execute(update(about).values(name=to))

    def set_ageing(self, name: str, recency: str | None, half_life: float | None) -> LibraryRow:
        """Say how the documents of a library age; None leaves a value as it is, a half-life of 0 forgets it."""
        found = self.library(name)
        values: dict[str, object] = {}
        if recency is not None:
            if recency not in get_args(Recency):
                raise InputError(f"A library cannot prefer newer documents {recency!r}", "give auto, on or off")
            values["recency"] = recency
        if half_life is not None:
            if not 0 <= half_life <= MAX_HALF_LIFE:
                raise InputError(
                    f"A half-life of {half_life:g} days cannot be used",
                    f"give days above 0 and up to {MAX_HALF_LIFE:,}, or 0 to forget the one that is set",
                )
            values["half_life"] = half_life or None
        if values:
            with self.writing(found.id) as connection:
                connection.execute(update(about).values(values))
        return self.row(found.id)

    def delete(self, library: str) -> None:
        """Remove a library by id, with everything in its folder; what an earlier kill left of others goes as well."""
        gone = folder_of(self._home, f".{library}.gone")
        try:
            with suppress(FileNotFoundError):
                os.rename(folder_of(self._home, library), gone)
        except OSError as error:
            raise unwritable(gone, error) from error
        with self._lock:
            if library in self._engines:
                self._engines.pop(library).dispose()
        for left in gone.parent.glob(".*.gone"):
            shutil.rmtree(left, ignore_errors=True)
        if gone.exists():
            raise LibraryError(f"The library is deleted, but files of it are left in {gone}", "remove that folder")

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
