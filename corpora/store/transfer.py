"""Copying a library between the files of a home and a database, with its ids and vectors."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, func, select, text

from ragweave.corpora.settings import DRIVER, corpora_settings, with_driver
from ragweave.corpora.store import lexical, locks, postgres
from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.corpora.store.embedded import Files
from ragweave.corpora.store.folders import catalog_of, folder_of, unwritable
from ragweave.corpora.store.migrations import Fill
from ragweave.corpora.store.schema import about, add, indexes, items, metadata, sources, vectors
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import CORPORA
from ragweave.models.errors import InputError, LibraryError

FILES = "sqlite"
"""Names the files of the home as the place to copy to."""
_PAGE = 1_000
_BUSY = "wait until it has finished, and name another place than the one where the library is"
_PATIENCE = 2.0
"""Seconds to wait for others to close a catalog."""
Taken = tuple[str, int]
"""Name and generation of a library at the place to copy to."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied, and the id that the library has in both places."""

    id: str
    sources: int
    items: int
    vectors: int


async def copy_library(name: str, to: str, replace: bool = False) -> Copied:
    """Copy a library to a database (`postgresql://...`), or from the configured one to the home (`sqlite`).

    Media stay in the home, which both share. The Chroma index is not copied: the next run makes it. `replace`
    puts the library in the place of an earlier copy of it; its generation is then above those of both.

    Raises:
        InputError: the address is of another kind, or leads to where the library is.
        LibraryError: the other place has a library of that name or id, cannot be used, or is a file that
            another process has open.
    """
    return await asyncio.to_thread(_copy, check_name(name), to, replace)


def _copy(name: str, to: str, replace: bool) -> Copied:
    settings = corpora_settings()
    target = _address(to)
    if target == _address(settings.database or FILES):
        raise InputError(f"the library {name!r} is there already", "set --to to another place")
    held = stores()
    row = held.catalog.library(name)
    with locks.writer(row.id, name), held.catalog.reading(row.id) as source:

        def fill(connection: Connection) -> None:
            _fill(source, connection)

        if target == FILES:
            with locks.held(
                settings.home, row.id, 0, f"The library {name!r} is being written there by", _BUSY
            ):
                _into_file(settings.home, row, fill, replace)
        else:
            _into_database(target, settings.home, row, fill, replace)
        counted = [
            source.execute(select(func.count()).select_from(t)).scalar_one()
            for t in (sources, items, vectors)
        ]
    return Copied(row.id, *counted)


def _address(given: str) -> str:
    address = with_driver(given)
    if given == FILES or address.startswith(DRIVER):
        return address
    raise InputError(
        "a library is copied to postgresql://USER@HOST/NAME, or to sqlite", "give one of them as --to"
    )


def _into_database(url: str, home: Path, row: LibraryRow, fill: Fill, replace: bool) -> None:
    # The same database by another address is refused as well: this process holds its lock.
    with closing(postgres.Server(url)) as server, server.lock(row.id, 0, lambda holder: None) as other:
        if other:
            raise LibraryError(f"The library {row.name!r} is being written there by {other}", _BUSY)
        taken: dict[str, Taken] = {}
        for id_ in server.ids():
            with server.reading(id_) as connection:
                taken[id_] = _taken(connection)
        _check_free(row, taken, replace)
        if row.id in taken:
            server.drop(row.id)
        server.make(row.id, folder_of(home, row.id), _named(row, taken), fill)
        server.compact(row.id)


def _into_file(home: Path, row: LibraryRow, fill: Fill, replace: bool) -> None:
    to, part = catalog_of(home, row.id), folder_of(home, f".{row.id}.copy")
    files = Files(home)
    taken: dict[str, Taken] = {}
    for id_ in files.ids():
        if catalog_of(home, id_).exists():
            with files.reading(id_) as connection:
                taken[id_] = _taken(connection)
    files.close()
    _check_free(row, taken, replace)
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        files.make(row.id, part, _named(row, taken), fill)
        to.parent.mkdir(exist_ok=True)
        if row.id in taken:
            _end_log(to, row.name)
        os.replace(part / to.name, to)
    except OSError as error:
        raise unwritable(part, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _taken(connection: Connection) -> Taken:
    name, at = connection.execute(select(about.c.name, about.c.generation)).one()
    return str(name), int(at)


def _end_log(catalog: Path, name: str) -> None:
    """End the write-ahead log of a catalog that is to be replaced.

    A log that is left would be read as that of the new file, and damage it.

    Raises:
        LibraryError: another process has the catalog open.
    """
    try:
        with closing(sqlite3.connect(catalog, timeout=_PATIENCE)) as file:
            how = str(file.execute("PRAGMA journal_mode = DELETE").fetchone()[0])
    except sqlite3.OperationalError as error:
        how = str(error)
    if how != "delete":
        raise LibraryError(
            f"The library {name!r} of this home is open in another process ({how})",
            "stop the server and the runs that use the files of this home, and copy again",
        )


def _check_free(row: LibraryRow, taken: dict[str, Taken], replace: bool) -> None:
    if row.id in taken and not replace:
        what = f"The library {row.name!r} was copied there before, as {taken[row.id][0]!r}"
        raise LibraryError(what, "add --replace to put this one in its place")
    for id_, (name, _) in taken.items():
        if name == row.name and id_ != row.id:
            remedy = "rename one of them: ragweave library rename"
            raise LibraryError(f"Another library named {row.name!r} is there", remedy)


def _named(row: LibraryRow, taken: dict[str, Taken]) -> dict[str, Any]:
    """Return the row of `about` of the copy.

    A process that remembers the replaced library sees by the generation that another one is there.
    """
    values = asdict(row)
    del values["id"]
    if row.id in taken:
        values["generation"] = max(row.generation, taken[row.id][1]) + 1
    return values


def _fill(source: Connection, target: Connection) -> None:
    """Copy every row but those of the index, which is made of the others."""
    for table in metadata.sorted_tables:
        if table not in (about, indexes):
            for page in _pages(source, table):
                add(target, table, page)
    if target.dialect.name == "postgresql":
        # The copied rows keep their numbers, so new rows must be numbered after them.
        for table in metadata.sorted_tables:
            for column in {"n", "key"} & set(table.c.keys()):
                named = f"pg_get_serial_sequence('{table.name}', '{column}')"
                most = f"SELECT setval({named}, max({column})) FROM {table.name} WHERE {named} IS NOT NULL"
                target.execute(text(most))
    for corpus in CORPORA:
        words = text(f"SELECT rowid, title, heading, text FROM {lexical.table(corpus)} ORDER BY rowid")
        for some in source.execute(words).partitions(_PAGE):
            lexical.put(target, corpus, [(row[0], row[1], row[2], row[3]) for row in some])


def _pages(connection: Connection, table: Table) -> Iterator[list[dict[str, Any]]]:
    found = connection.execution_options(yield_per=_PAGE).execute(select(table).order_by(*table.primary_key))
    for page in found.mappings().partitions():
        yield [dict(row) for row in page]
