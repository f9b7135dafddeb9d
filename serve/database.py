"""Where the server's own tables lie: in a small SQLite file of the home, or in the database that the settings name.

Both get the same statements. A transaction that reads sees one state; one that writes has the file to itself,
or locks the rows that it changes first.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from contextlib import AbstractContextManager, closing
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, CursorResult, text
from sqlalchemy.exc import DBAPIError

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import postgres
from ragweave.corpora.store.migrations import run_script
from ragweave.corpora.store.private import make_home
from ragweave.corpora.store.schema import engine_of, write
from ragweave.models.errors import LibraryError
from ragweave.serve.tables import HISTORY, TABLES

logger = logging.getLogger(__name__)

SCHEMA = "server_of_ragweave"
"""Schema of a database that holds the tables of its servers, and the steps of their conversations."""


class Database:
    """The tables: those of a file, where the settings name no database.

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
                # What a power cut may take is the last turn. The file grows with each turn, and what is read
                # of it is small: a large cache for each connection would grow with it, unread.
                self._reading = self._writing = engine_of(path, "NORMAL", cache=1_000)
            with self.writing() as db:
                _make_tables(db, str(path) if not url else "The server of RAGWEAVE_DATABASE_URL")
        except (OSError, sqlite3.Error, DBAPIError) as error:
            why = getattr(error, "orig", error)
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
        """Return the ids of the conversations with a library: each has steps."""
        with self.reading() as db:
            return _asked_of(db, library)

    def forget_library(self, library: str) -> list[str]:
        """Delete what anybody asked of a library; return the ids of the conversations."""
        with self.writing() as db:
            threads = _asked_of(db, library)
            sent(
                db, "DELETE FROM runs WHERE library = :library AND thread <> ''", library=library
            )  # a job ends itself
            for table in ("threads", "overviews", "added"):
                sent(db, f"DELETE FROM {table} WHERE library = :library", library=library)
        return threads

    def overview(self, library: str, generation: int) -> dict[str, Any] | None:
        """Return what a chat model wrote of a library; None where nothing is, or the library has changed since."""
        query = "SELECT written FROM overviews WHERE library = :library AND generation = :generation"
        with self.reading() as db:
            written = sent(db, query, library=library, generation=generation).scalar_one_or_none()
        return json.loads(written) if written else None

    def keep_overview(self, library: str, generation: int, written: dict[str, Any]) -> None:
        """Keep what a chat model wrote of a library, in place of what it wrote before."""
        with self.writing() as db:
            sent(db, "DELETE FROM overviews WHERE library = :library", library=library)
            row = {"library": library, "generation": generation, "written": json.dumps(written)}
            sent(db, "INSERT INTO overviews VALUES (:library, :generation, :written)", **row)


def _asked_of(db: Connection, library: str) -> list[str]:
    asked = "SELECT thread FROM runs WHERE library = :library AND thread <> ''"
    query = f"SELECT id FROM threads WHERE library = :library UNION {asked}"
    return list(sent(db, query, library=library).scalars())


def sent(db: Connection, statement: str, **given: Any) -> CursorResult[Any]:
    """Send a statement whose parameters are named, as in `:id`."""
    return db.execute(_parsed(statement), given)


_parsed = lru_cache(maxsize=200)(text)


def _make_tables(db: Connection, what: str) -> None:
    """Give a new file or schema its tables, or bring older ones up; two processes may begin at once."""
    if db.dialect.name == "postgresql":
        # A lock of its own: whoever holds that of the conversations makes an index, which waits for every
        # transaction.
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
    shared = db.dialect.name == "postgresql"
    kept = (
        f"COMMENT ON SCHEMA {SCHEMA} IS '{HISTORY.newest}'"
        if shared
        else f"PRAGMA user_version = {HISTORY.newest}"
    )
    db.exec_driver_sql(kept)


def _number(db: Connection) -> int:
    """Return the number of the tables: the comment of the schema, or `PRAGMA user_version`."""
    if db.dialect.name == "postgresql":
        found = sent(db, f"SELECT obj_description(to_regnamespace('{SCHEMA}'), 'pg_namespace')").scalar_one()
    else:
        found = db.exec_driver_sql("PRAGMA user_version").scalar_one()
    return int(found or 0)


def number_of_tables(path: Path) -> int | None:
    """Return the number of the server's tables without touching them; None if there are none yet."""
    if url := corpora_settings().database:
        with postgres.server(url).within(SCHEMA)[0].begin() as db:
            return _number(db) or None
    if not path.exists():
        return None
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
        return int(file.execute("PRAGMA user_version").fetchone()[0])
