"""The catalog: what a library holds, in one SQLite file of its own.

All methods are synchronous and short; async callers go through `asyncio.to_thread`. Reads that must agree with each
other share one transaction, which in WAL mode is one snapshot.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import sqlite3
import threading
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from sqlalchemy import Connection, Engine, func, select, update

from ragweave.corpora.store import lexical, locks
from ragweave.corpora.store.folders import catalog_of, folder_of, folders, unwritable
from ragweave.corpora.store.rows import Source, unpack
from ragweave.corpora.store.schema import REMEDY, connect, items, libraries, paths, sources, write
from ragweave.corpora.types import CORPORA, MAX_HALF_LIFE, Corpus, Item, Recency
from ragweave.models.errors import InputError, LibraryError, LibraryNotFound

logger = logging.getLogger(__name__)

_MANY = 5_000
"""Values bound in one statement."""


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


_FIELDS = tuple(f.name for f in fields(LibraryRow))


def now() -> str:
    """Return the present as an ISO time in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


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


class Catalog:
    """The catalogs of a home, one SQLite file in the folder of each library: `<home>/libraries/<id>/catalog.sqlite`.

    Args:
        home: folder of the libraries; a home of an earlier Ragweave is brought up to date here.
        url: address of a Chroma server that may hold vectors of an earlier home, or empty.
    """

    def __init__(self, home: Path, url: str = "") -> None:
        self._home = home
        self._engines: dict[str, Engine] = {}
        self._ids: dict[str, str] = {}
        self._lock = threading.Lock()
        if (home / "catalog.sqlite").exists():
            from ragweave.corpora.store.migrate import migrate

            migrate(home, url)

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            for engine in self._engines.values():
                engine.dispose()
            self._engines.clear()

    def engine(self, library: str) -> Engine:
        """Return the engine of the catalog of a library, opened once.

        Raises:
            LibraryNotFound: it was deleted.
            LibraryError: it was written by a newer Ragweave, or cannot be opened.
        """
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
        """Return a library by id.

        Raises:
            LibraryNotFound: it was deleted.
        """
        with self.engine(library).begin() as connection:
            generation(connection, library)
            query = select(libraries).where(libraries.c.id == library)
            return _library(connection.execute(query).mappings().one())

    def create(self, name: str, encoder: str, dim: int) -> LibraryRow:
        """Make an empty library.

        Raises:
            LibraryError: one of that name exists.
        """
        row = LibraryRow(secrets.token_hex(8), check_name(name), encoder, dim, 0)
        with self.making(row):
            pass
        return self.row(row.id)

    @contextmanager
    def making(self, row: LibraryRow) -> Iterator[tuple[Engine, Path]]:
        """Make a library in a folder of its own, which takes its place at the end: it is there whole or not at all.

        Yields its engine, and the folder. `row.generation` is 0 or the first that readers see.

        Raises:
            LibraryError: one of that name exists, or the disk cannot take it.
        """
        self._free(row.name)
        part = folder_of(self._home, f".{row.id}.part")
        engine = connect(part / "catalog.sqlite")
        try:
            with write(engine) as connection:
                values = {field: getattr(row, field) for field in _FIELDS}
                connection.execute(libraries.insert(), {**values, "created": now()})
            yield engine, part
            engine.dispose()
            with locks.names(self._home):
                self._free(row.name)
                os.rename(part, folder_of(self._home, row.id))
        except OSError as error:
            raise unwritable(part, error) from error
        finally:
            engine.dispose()
            shutil.rmtree(part, ignore_errors=True)

    def _free(self, name: str) -> None:
        if any(row.name == name for row in self.libraries()):
            raise LibraryError(f"A library named {name!r} exists", "choose another name, or index into it")

    def rename(self, name: str, to: str) -> None:
        """Give a library another name.

        Raises:
            LibraryNotFound: there is none of that name.
            LibraryError: the new name is taken.
        """
        found, to = self.library(name), check_name(to)
        with locks.names(self._home):
            if to != found.name:
                self._free(to)
            with write(self.engine(found.id)) as connection:
                connection.execute(update(libraries).values(name=to))

    def set_ageing(self, name: str, recency: str | None, half_life: float | None) -> LibraryRow:
        """Say how the documents of a library age; None leaves a value as it is, a half-life of 0 forgets it.

        Raises:
            InputError: no such way, or a half-life that is negative, above MAX_HALF_LIFE, or no number.
            LibraryNotFound: there is none of that name.
        """
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
            with write(self.engine(found.id)) as connection:
                connection.execute(update(libraries).values(values))
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

    def compact(self, library: str) -> None:
        """Write the catalog anew without what was deleted.

        Raises:
            LibraryError: the disk has no room, or the catalog is in use for too long.
        """
        with write(self.engine(library)) as connection:
            for corpus in CORPORA:
                if lexical.exists(connection, library, corpus):
                    # Tombstoned words leave the index when its parts are merged into one.
                    name = lexical.table(library, corpus)
                    connection.exec_driver_sql(f"INSERT INTO {name}({name}) VALUES ('optimize')")
        raw = self.engine(library).raw_connection()
        try:
            cursor = raw.cursor()
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            cursor.close()
        except sqlite3.Error as error:
            raise LibraryError(f"The catalog cannot be compacted ({error})", REMEDY) from error
        finally:
            raw.close()

    def generation(self, library: str) -> int:
        """Return the generation of a library by id.

        Raises:
            LibraryNotFound: it was deleted.
        """
        with self.engine(library).begin() as connection:
            return generation(connection, library)

    def counts(self, library: str) -> dict[Corpus, int]:
        """Return the number of items in each corpus that holds any."""
        query = select(items.c.corpus, func.count()).where(items.c.library == library).group_by(items.c.corpus)
        with self.engine(library).begin() as connection:
            found = {row[0]: int(row[1]) for row in connection.execute(query)}
        return {corpus: found[corpus] for corpus in CORPORA if corpus in found}

    def items(self, library: str, ids: Iterable[str]) -> dict[str, Item]:
        """Return the items of these ids, in the order asked; unknown ids are left out."""
        wanted = list(dict.fromkeys(ids))
        found: dict[str, Item] = {}
        with self.engine(library).begin() as connection:
            rows: list[Any] = []
            for part in _parts(wanted):
                query = select(items).where(items.c.library == library, items.c.id.in_(part))
                rows += connection.execute(query).mappings().all()
            where = paths_of(connection, library, {row["source"] for row in rows})
        for row in rows:
            lies = where.get(row["source"])
            found[row["id"]] = unpack(row, lies[0] if lies else None)
        return {id_: found[id_] for id_ in wanted if id_ in found}

    def beside(self, library: str, id: str, most: int) -> list[Item]:
        """Return an item among its neighbours, at most `most` before and after it, in the order of the source."""
        here = self.items(library, [id]).get(id)
        if here is None:
            return []
        same = (items.c.library == library, items.c.source == here.source, items.c.corpus == here.corpus)
        near = items.c.ordinal.between(here.ordinal - most, here.ordinal + most)
        query = select(items).where(*same, near).order_by(items.c.ordinal)
        with self.engine(library).begin() as connection:
            return [unpack(row) for row in connection.execute(query).mappings()]

    def pages(self, library: str, corpus: Corpus, size: int = 500) -> Iterator[list[Item]]:
        """Go through the items of a corpus, some at a time; each page is read in a transaction of its own."""
        last = -1
        while True:
            query = select(items).where(items.c.library == library, items.c.corpus == corpus, items.c.n > last)
            with self.engine(library).begin() as connection:
                rows = connection.execute(query.order_by(items.c.n).limit(size)).mappings().all()
            if not rows:
                return
            last = rows[-1]["n"]
            yield [unpack(row) for row in rows]

    def known(self, library: str, ids: Sequence[str]) -> tuple[int, set[str]]:
        """Return the generation, and which of these item ids the catalog holds in it."""
        with self.engine(library).begin() as connection:
            at = generation(connection, library)
            held: set[str] = set()
            for part in _parts(list(ids)):
                query = select(items.c.id).where(items.c.library == library, items.c.id.in_(part))
                held.update(connection.execute(query).scalars())
        return at, held

    def sources(self, library: str, ids: Sequence[str] | None = None) -> list[Source]:
        """Return sources in the order of their paths: all, or those of the given ids."""
        found: list[Source] = []
        with self.engine(library).begin() as connection:
            for part in [None] if ids is None else _parts(list(ids)):
                query = select(sources).where(sources.c.library == library)
                count = select(items.c.source, func.count()).where(items.c.library == library)
                if part is not None:
                    query, count = query.where(sources.c.id.in_(part)), count.where(items.c.source.in_(part))
                counts = {row[0]: int(row[1]) for row in connection.execute(count.group_by(items.c.source))}
                rows = connection.execute(query).mappings().all()
                where = paths_of(connection, library, {row["id"] for row in rows})
                found += [_source(row, where.get(row["id"], ()), counts.get(row["id"], 0)) for row in rows]
        return sorted(found, key=lambda s: (s.path, s.id))

    def sources_of(self, library: str, ids: Sequence[str]) -> dict[str, Source]:
        """Return the source of each item id; unknown ids are left out."""
        belongs: dict[str, str] = {}
        with self.engine(library).begin() as connection:
            for part in _parts(list(dict.fromkeys(ids))):
                query = select(items.c.id, items.c.source).where(items.c.library == library, items.c.id.in_(part))
                belongs.update({row[0]: row[1] for row in connection.execute(query)})
        by_id = {s.id: s for s in self.sources(library, sorted(set(belongs.values())))}
        return {item: by_id[source] for item, source in belongs.items() if source in by_id}


def generation(connection: Connection, library: str) -> int:
    """Return the generation of a library by id, within a transaction.

    Raises:
        LibraryNotFound: it was deleted.
    """
    found = connection.execute(select(libraries.c.generation).where(libraries.c.id == library)).scalar()
    if found is None:
        raise LibraryNotFound("The library was deleted", "open another, or index it again")
    return int(found)


def bump(connection: Connection, library: str) -> int:
    """Begin the next generation of a library, within a write transaction, and return it."""
    following = generation(connection, library) + 1
    connection.execute(update(libraries).where(libraries.c.id == library).values(generation=following))
    return following


def paths_of(connection: Connection, library: str, wanted: set[str]) -> dict[str, tuple[str, ...]]:
    """Return where sources lie, in the order of the paths, within a transaction."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for part in _parts(sorted(wanted)):
        query = select(paths.c.source, paths.c.path).where(paths.c.library == library, paths.c.source.in_(part))
        for source, path in connection.execute(query.order_by(paths.c.path)):
            found[source].append(path)
    return {source: tuple(where) for source, where in found.items()}


def _parts(values: Sequence[str]) -> list[Sequence[str]]:
    return [values[i : i + _MANY] for i in range(0, len(values), _MANY)]


def _library(row: Any) -> LibraryRow:
    return LibraryRow(**{field: row[field] for field in _FIELDS})


def _source(row: Any, where: tuple[str, ...], count: int) -> Source:
    return Source(
        id=row["id"],
        path=where[0] if where else "",
        kind=row["kind"],
        title=row["title"],
        status=row["status"],
        reason=row["reason"],
        bytes=row["bytes"],
        sha256=row["sha256"],
        items=count,
        warnings=tuple(row["warnings"]),
        indexed_at=row["indexed_at"],
        date=datetime.fromisoformat(row["date"]) if row["date"] else None,
        paths=where,
        author=row["author"],
        language=row["language"],
    )
