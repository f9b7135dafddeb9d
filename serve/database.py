"""Open the server's own tables, in a small SQLite file of the home or in the database of the settings.

Both receive the same statements. A reading transaction sees one state. A writing transaction locks the file,
or the rows that it changes first.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, CursorResult, text
from sqlalchemy.exc import DBAPIError

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import postgres
from ragweave.corpora.store.migrations import run_script
from ragweave.corpora.store.private import make_home
from ragweave.corpora.store.sqlite_file import engine_of, number_of, write
from ragweave.models.errors import LibraryError
from ragweave.serve.tables import HISTORY, TABLES

logger = logging.getLogger(__name__)

SCHEMA = "server_of_ragweave"
"""Database schema with the tables of the servers and the checkpoints of their conversations."""


class Database:
    """The server's tables: in the database of the settings, or in a file if they name none.

    All methods are short and synchronous; async callers go through `asyncio.to_thread`.
    """

    def __init__(self, path: Path) -> None:
        url = corpora_settings().database
        self.shared = bool(url)
        try:
            if url:
                self._reading, self._writing = postgres.server(url).within(SCHEMA)
            else:
                make_home(path.parent)
                path.touch(mode=0o600)
                # A power cut may lose the last turn. The cache of a connection stays small: the file grows
                # with each turn, but only little of it is read.
                self._reading = self._writing = engine_of(path, "NORMAL", cache=1_000)
            with self.writing() as db:
                _make_tables(db, str(path) if not url else "The server of RAGWEAVE_DATABASE_URL")
        except (OSError, sqlite3.Error, DBAPIError) as error:
            why = getattr(error, "strerror", None) or getattr(error, "orig", error)
            raise LibraryError(
                f"{path} cannot be used ({why})", "check RAGWEAVE_HOME and its permissions"
            ) from error

    def close(self) -> None:
        """Close the connections to a file; those to a database are shared."""
        if not self.shared:
            self._writing.dispose()

    def reading(self) -> AbstractContextManager[Connection]:
        """Begin a transaction that reads."""
        return self._reading.begin()

    def writing(self) -> AbstractContextManager[Connection]:
        """Begin a transaction that writes."""
        return self._writing.begin() if self.shared else write(self._writing)

    def asked_of(self, library: str) -> list[str]:
        """Return the ids of the conversations with a library, each of which has checkpoints."""
        with self.reading() as db:
            return _asked_of(db, library)

    def forget_library(self, library: str) -> list[str]:
        """Delete the conversations of all owners with a library; return their ids."""
        # Jobs, which have no thread, end by themselves.
        delete_runs = "DELETE FROM runs WHERE library = :library AND thread <> ''"
        with self.writing() as db:
            threads = _asked_of(db, library)
            sent(db, delete_runs, library=library)
            for table in ("threads", "overviews", "added"):
                sent(db, f"DELETE FROM {table} WHERE library = :library", library=library)
        return threads

    def overview(self, library: str, generation: int) -> dict[str, Any] | None:
        """Return what a chat model wrote about a library; None if nothing, or if it changed since."""
        query = "SELECT written FROM overviews WHERE library = :library AND generation = :generation"
        with self.reading() as db:
            written = sent(db, query, library=library, generation=generation).scalar_one_or_none()
        return json.loads(written) if written else None

    def keep_overview(self, library: str, generation: int, written: dict[str, Any]) -> None:
        """Store what a chat model wrote about a library, and delete what it wrote before."""
        with self.writing() as db:
            sent(db, "DELETE FROM overviews WHERE library = :library", library=library)
            row = {"library": library, "generation": generation, "written": json.dumps(written)}
            sent(db, "INSERT INTO overviews VALUES (:library, :generation, :written)", **row)


def _asked_of(db: Connection, library: str) -> list[str]:
    of_runs = "SELECT thread FROM runs WHERE library = :library AND thread <> ''"
    query = f"SELECT id FROM threads WHERE library = :library UNION {of_runs}"
    return list(sent(db, query, library=library).scalars())


def sent(db: Connection, statement: str, **given: Any) -> CursorResult[Any]:
    """Execute a statement with named parameters, as in `:id`."""
    return db.execute(_parsed(statement), given)


_parsed = lru_cache(maxsize=200)(text)


def _make_tables(db: Connection, what: str) -> None:
    """Create the tables of a new file or schema, or migrate older ones; two processes may do so at once."""
    if db.dialect.name == "postgresql":
        # The lock of the conversations cannot be used here: its holder creates an index, which waits for
        # every transaction.
        sent(db, "SELECT pg_advisory_xact_lock(:key)", key=postgres.key_of(f"{SCHEMA} tables"))
        sent(db, f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    found = _number(db)
    HISTORY.check(found, what)
    if found == HISTORY.newest:
        return
    if found == 0:
        run_script(db, TABLES)
    else:
        HISTORY.bring_up(db, found, what)
        logger.warning("%s: the tables were brought from number %d to %d", what, found, HISTORY.newest)
    if db.dialect.name == "postgresql":
        db.exec_driver_sql(f"COMMENT ON SCHEMA {SCHEMA} IS '{HISTORY.newest}'")
    else:
        db.exec_driver_sql(f"PRAGMA user_version = {HISTORY.newest}")


def _number(db: Connection) -> int:
    """Return the version of the tables: the comment of the schema, or `PRAGMA user_version`."""
    if db.dialect.name == "postgresql":
        found = sent(db, f"SELECT obj_description(to_regnamespace('{SCHEMA}'), 'pg_namespace')").scalar_one()
    else:
        found = db.exec_driver_sql("PRAGMA user_version").scalar_one()
    return int(found or 0)


def number_of_tables(path: Path) -> int | None:
    """Return the version of the server's tables without changing them; None if there are none yet.

    Raises:
        LibraryError: they cannot be read.
    """
    url = corpora_settings().database
    if url:
        with postgres.server(url).within(SCHEMA)[0].begin() as db:
            return _number(db) or None
    if not path.exists():
        return None
    try:
        return number_of(path)
    except sqlite3.Error as error:
        raise LibraryError(
            f"{path} cannot be read ({error})", "check RAGWEAVE_HOME and its permissions"
        ) from error
