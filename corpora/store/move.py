"""Moving a library between the files of a home and a database: its rows go, and whatever lies in its folder stays.

The id stays as well, so that pictures, uploads, the indexes in the folder, and keys and conversations that are kept
elsewhere go on naming it. The old place counts until both hold the same rows.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from contextlib import suppress

from sqlalchemy import select

from ragweave.corpora.settings import CorporaSettings, corpora_settings
from ragweave.corpora.store import locks
from ragweave.corpora.store.lexical import Lexical
from ragweave.corpora.store.libraries import Libraries
from ragweave.corpora.store.schema import metadata, sources
from ragweave.corpora.types import CORPORA
from ragweave.models.errors import InputError, LibraryError, LibraryNotFound

_AT_ONCE = 2_000
_ASKED = 50
"""Titles that are searched for in both places."""


async def move_library(name: str, database: str) -> dict[str, int]:
    """Move a library to a database, or to files of this home where that is "", and return how many rows of each table.

    Raises:
        InputError: it lies there already, or the address cannot be read.
        LibraryError: another library there has its name, it is being written, or the copy is not the same.
    """
    return await asyncio.to_thread(_move, name, database)


def _move(name: str, database: str) -> dict[str, int]:
    settings = corpora_settings()
    try:
        database = CorporaSettings(database_url=database).database
    except ValueError:
        raise InputError("this is no address of a database", "postgresql+psycopg://USER@HOST/NAME, or home") from None
    if database == settings.database:
        raise InputError(f"the library {name!r} lies there already", "name another place with --to")
    here, there = Libraries(settings.home), Libraries(settings.home, database)
    try:
        row = here.library(name)
        with locks.writer(row.id, row.name):
            wanted = _digests(here, row.id)
            with suppress(LibraryNotFound):
                if _digests(there, row.id) != wanted:  # of a run that was stopped, and what was written since
                    there.kept.release(row.id)
            try:
                there.row(row.id)
            except LibraryNotFound:
                there.free(row.name)
                with here.kept.file(row.id) as file:
                    there.kept.take(row.id, file)
            if _digests(there, row.id) != wanted or not _answer_alike(here, there, row.id):
                there.kept.release(row.id)
                raise LibraryError("The copy of the library is not the same", "it is where it was; move it once more")
            here.kept.release(row.id)
    finally:
        there.close()
    return {table: rows for table, (rows, _) in wanted.items()}


def _answer_alike(here: Libraries, there: Libraries, library: str) -> bool:
    """Return whether searches for titles find as much in both places: each has an index of words of its own making."""
    with here.reading(library) as connection:
        some = select(sources.c.title).order_by(sources.c.id).limit(_ASKED)
        titles = list(connection.execute(some).scalars())
    asked = [(place, corpus) for place in (here, there) for corpus in CORPORA]
    lists = [found for place, corpus in asked for found in Lexical(place).search(library, corpus, titles, 1)]
    best = [found[0][1] if found else 0.0 for found in lists]
    pairs = zip(best[: len(best) // 2], best[len(best) // 2 :], strict=True)
    return all(math.isclose(a, b, rel_tol=0.01) for a, b in pairs)


def _digests(place: Libraries, library: str) -> dict[str, tuple[int, int]]:
    """Return for each table how many rows it has, and a digest of them in any order."""
    found: dict[str, tuple[int, int]] = {}
    with place.reading(library) as connection:
        for table in metadata.sorted_tables:
            count = total = 0
            for row in connection.execution_options(yield_per=_AT_ONCE).execute(select(table)):
                # A database cannot hold null characters in texts.
                values = [v.replace("\0", "\ufffd") if isinstance(v, str) else v for v in row]
                plain = json.dumps(values, sort_keys=True, default=lambda v: bytes(v).hex())
                total ^= int.from_bytes(hashlib.sha256(plain.encode()).digest(), "big")
                count += 1
            found[table.name] = count, total
    return found
