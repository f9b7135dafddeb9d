"""The libraries of a home: their names and their folders."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import threading
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from sqlalchemy import Connection, select, update

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import locks, postgres
from ragweave.corpora.store.embedded import Files
from ragweave.corpora.store.folders import PUT_BACK, folder_of, unwritable
from ragweave.corpora.store.private import make_home
from ragweave.corpora.store.schema import about
from ragweave.corpora.store.temporary import forsaken, hold
from ragweave.corpora.store.watch import CatalogWatch
from ragweave.corpora.types import MAX_HALF_LIFE, Recency
from ragweave.models.errors import DamagedError, InputError, LibraryError, LibraryNotFound

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
        raise InputError("A library name has 1 to 100 characters", "choose another name").named(
            "library_name_length"
        )
    # ZWNJ and ZWJ are letters' neighbours in Persian and the Indic scripts; every other format character only
    # deceives.
    for c in clean:
        if c not in "\u200c\u200d" and unicodedata.category(c) in _INVISIBLE:
            raise InputError(
                "A library name holds no control or invisible characters", "choose another name"
            ).named("library_name_invisible")
    return clean


_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of control, format and invisible characters."""
_REMEMBERED = 32
"""Libraries that have a cache."""
_FRESH = 0.1
"""Seconds for which a look at a catalog counts for those who have no thread to look again."""


class _Begun(threading.local):
    """The transactions in which a thread is reading, by library, and what was remembered when they began."""

    def __init__(self) -> None:
        self.of: dict[str, tuple[Connection, dict[str, Any] | None]] = {}


class Libraries:
    """The libraries of a home; each has a folder, and a catalog in it or in the database of the settings."""

    def __init__(self, home: Path, database: str | None = None) -> None:
        self._home = home
        url = corpora_settings().database if database is None else database
        self.kept = postgres.server(url) if url else Files(home)
        """The storage of the rows: files or a server."""
        self._ids: dict[str, str] = {}
        self._begun = _Begun()
        self._watch = None if url else CatalogWatch(home)
        self._memory: dict[str, tuple[object, dict[str, Any], float]] = {}

    def close(self) -> None:
        """Close every connection."""
        if self._watch is not None:
            self._watch.close()
        self.kept.close()

    @contextmanager
    def reading(self, library: str, fresh: bool = False) -> Iterator[Connection]:
        """Begin a transaction that sees one state of a library, or use the open one of this thread.

        `fresh` begins another in any case.

        Raises:
            LibraryNotFound: it was deleted.
            LibraryError: it was written by another Ragweave, or cannot be opened.
        """
        begun = self._begun.of.get(library)
        if begun is not None and not fresh:
            yield begun[0]
            return
        # Looked up before the transaction begins: what it reads may be newer than the memory, and never
        # older.
        memory = self._looked(library)
        with self.kept.reading(library) as connection:
            self._begun.of[library] = connection, memory
            try:
                yield connection
            finally:
                self._begun.of.pop(library)
                if begun is not None:
                    self._begun.of[library] = begun

    def memory(self, library: str) -> dict[str, Any]:
        """Return the cache of a library as this thread sees it; every commit empties it."""
        begun = self._begun.of.get(library)
        memory = self._looked(library) if begun is None else begun[1]
        if memory is not None:
            return memory
        with self.reading(library) as connection:
            # PostgreSQL gives a row another number with each change of it, and each commit changes this one.
            version = connection.exec_driver_sql("SELECT xmin::text FROM about").scalar()
            memory = self._memory_of(library, version)
            self._begun.of[library] = connection, memory
            return memory

    def remembered(self, library: str) -> dict[str, Any] | None:
        """Return the cache of a library if it was checked just now, else None; never block."""
        held = self._memory.get(library)
        return held[1] if held is not None and time.monotonic() - held[2] < _FRESH else None

    def _looked(self, library: str) -> dict[str, Any] | None:
        """Return the memory of a library as of its last commit; None in a database, which has to be asked.

        Raises:
            LibraryNotFound: it was deleted.
        """
        return None if self._watch is None else self._memory_of(library, self._watch.version(library))

    def _memory_of(self, library: str, version: object) -> dict[str, Any]:
        held = self._memory.get(library)
        memory = held[1] if held is not None and held[0] == version else {}
        if held is None and len(self._memory) >= _REMEMBERED:
            self._memory = {}
        self._memory[library] = version, memory, time.monotonic()
        return memory

    @contextmanager
    def writing(self, library: str) -> Iterator[Connection]:
        """Begin a transaction that changes a library; see `reading`."""
        with self.kept.writing(library) as connection:
            yield connection
        self._memory.pop(library, None)

    def libraries(self) -> list[LibraryRow]:
        """Return every library that can be opened, by name."""
        return self.scan()[0]

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
        rows, failed = self.scan()
        self._ids = {}
        for row in rows:
            self._ids[row.name] = row.id
        for row in rows:
            if row.name == name:
                return row
        if failed:
            raise failed[0]
        raise LibraryNotFound(
            f"There is no library named {name!r}", f"make it with: ragweave index FOLDER --library {name!r}"
        )

    def scan(self) -> tuple[list[LibraryRow], list[LibraryError]]:
        """Return what the home holds, by name, and why others cannot be opened."""
        rows: list[LibraryRow] = []
        failed: list[LibraryError] = []
        for id_ in self._settled():
            try:
                rows.append(self.row(id_))
            except LibraryNotFound:
                continue
            except LibraryError as error:
                if isinstance(error, DamagedError):  # its name is lost with it
                    error = DamagedError(f"{error.what}, that of {folder_of(self._home, id_)}", error.remedy)
                logger.warning("%s", error)
                failed.append(error)
        return sorted(rows, key=lambda row: row.name), failed

    def _settled(self) -> list[str]:
        """Return the ids of the libraries, after finishing the work of killed processes in a database."""
        ids = self.kept.ids()
        for left in (self._home / "libraries").glob(".*.*"):
            id_, end = left.name[1:].rsplit(".", 1)
            if id_ in ids and end == "part" and forsaken(left):
                with suppress(OSError):  # another process was faster
                    os.rename(left, folder_of(self._home, id_))
            elif id_ in ids and end == "gone":
                ids.remove(id_)
                with suppress(LibraryError):
                    self.kept.drop(id_)
        return ids

    def row(self, library: str) -> LibraryRow:
        """Return a library by id."""
        memory = self.memory(library)
        if "row" not in memory:
            with self.reading(library) as connection:
                found = connection.execute(select(about)).mappings().one_or_none()
            if found is None:
                raise DamagedError("The catalog is damaged (it says nothing of its library)", PUT_BACK)
            memory["row"] = LibraryRow(id=library, **found)
        row: LibraryRow = memory["row"]
        return row

    def create(self, name: str, encoder: str, dim: int) -> LibraryRow:
        """Create an empty library; a rename puts its folder in place, so it exists whole or not at all."""
        row = LibraryRow(secrets.token_hex(8), check_name(name), encoder, dim, 0)
        part = folder_of(self._home, f".{row.id}.part")
        held = -1
        try:
            make_home(self._home)
            with locks.names(self._home):
                self._settled()
                for left in part.parent.glob(".*.part"):  # of a process that was killed
                    if forsaken(left):
                        shutil.rmtree(left, ignore_errors=True)
                self.free(row.name)
                part.mkdir(parents=True)
                held = hold(part)
                # Its id is the name of its folder.
                values = asdict(row)
                del values["id"]
                self.kept.make(row.id, part, values)
                try:
                    os.rename(part, folder_of(self._home, row.id))
                except OSError:
                    self.kept.drop(row.id)
                    raise
        except OSError as error:
            raise unwritable(part, error) from error
        finally:
            shutil.rmtree(part, ignore_errors=True)
            if held >= 0:
                os.close(held)
        return row

    def free(self, name: str) -> None:
        """Refuse a name that a library has."""
        for row in self.libraries():
            if row.name == name:
                raise LibraryError(
                    f"A library named {name!r} exists", "choose another name, or index into it"
                ).named("library_exists", name=name)

    def rename(self, name: str, to: str) -> None:
        """Give a library another name."""
        found, to = self.library(name), check_name(to)
        with locks.names(self._home):
            if to != found.name:
                self.free(to)
            with self.writing(found.id) as connection:
                connection.execute(update(about).values(name=to))

    def set_ageing(self, name: str, recency: str | None, half_life: float | None) -> LibraryRow:
        """Set how the documents of a library age; None keeps a value, a half-life of 0 removes it."""
        found = self.library(name)
        values: dict[str, object] = {}
        if recency is not None:
            if recency not in get_args(Recency):
                raise InputError(
                    f"A library cannot prefer newer documents {recency!r}", "give auto, on or off"
                )
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
        """Remove a library and its folder, and the remains of others whose removal was killed."""
        self.kept.close()
        gone = folder_of(self._home, f".{library}.gone")
        try:
            with suppress(FileNotFoundError):
                os.rename(folder_of(self._home, library), gone)
        except OSError as error:
            raise unwritable(gone, error) from error
        self._memory.pop(library, None)  # else its name leads to it for as long as a look counts
        with suppress(LibraryNotFound):  # another process that lists the libraries may have dropped it
            self.kept.drop(library)
        for left in gone.parent.glob(".*.gone"):
            shutil.rmtree(left, ignore_errors=True)
        if gone.exists():
            raise LibraryError(
                f"The library is deleted, but files of it are left in {gone}", "remove that folder"
            )
