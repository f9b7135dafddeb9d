"""Open a SQLite file so that readers go on while one process writes, and errors of the disk are sentences."""

from __future__ import annotations

import sqlite3
import time
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import ExceptionContext

from ragweave.corpora.store.folders import CATALOG, is_held, of_the_disk
from ragweave.corpora.store.packed import teach
from ragweave.models.errors import LibraryError

OPENING = 20
"""Seconds to wait for a process that locks the file, and seconds until the next try after that."""
_PAGE = 8_192
"""Page size of a new file in bytes; with SQLite's default of 4,096 a tenth of the file stays empty."""
INCREMENTAL = 2
"""The `auto_vacuum` of a new file: free pages are released in steps, without rewriting the file."""


def engine_of(path: Path, synchronous: str = "FULL", cache: int = 32_000) -> Engine:
    """Return the engine of a SQLite file; each connection caches up to `cache` KiB."""
    refused: tuple[float, sqlite3.OperationalError] | None = None

    def open_file() -> sqlite3.Connection:
        nonlocal refused
        if refused is None or time.monotonic() > refused[0]:
            try:
                connection = sqlite3.connect(path, timeout=OPENING, check_same_thread=False)
                _configure(connection, synchronous, cache)
            except sqlite3.OperationalError as error:
                # A process that locks a file for so long most likely hangs.
                refused = time.monotonic() + OPENING * is_held(error), error
            else:
                return connection
        # A full or read-only disk refuses the -wal and -shm files, and so does a process that is closing the
        # catalog. The catalog can be read without them, if its log is empty.
        log = Path(f"{path}-wal")
        if not path.exists() or (log.exists() and log.stat().st_size):
            raise refused[1]
        address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(address, uri=True, check_same_thread=False, factory=_Unchanging)
        connection.isolation_level = None
        teach(connection)
        return connection

    engine = create_engine(f"sqlite:///{path}", creator=open_file)
    event.listen(engine, "checkin", _let_go)
    event.listen(engine, "begin", _begin)
    event.listen(engine, "handle_error", _explain, retval=True)
    return engine


class _Unchanging(sqlite3.Connection):
    """A connection that assumes an unchanging file, and so is used for one transaction only."""


def _let_go(connection: Any, record: Any) -> None:
    if isinstance(connection, _Unchanging):
        record.invalidate()


def write(engine: Engine) -> AbstractContextManager[Connection]:
    """Begin a transaction that takes the write lock at once, so that it cannot fail half-way."""
    return engine.execution_options(ragweave_begin="BEGIN IMMEDIATE").begin()


def _configure(connection: Any, synchronous: str, cache: int) -> None:
    # The driver must not open transactions by itself, because `_begin` does so.
    connection.isolation_level = None
    # FULL, not NORMAL: a transaction lost to a power cut would leave items without their vectors.
    teach(connection)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    if not pages:  # only a new file can take these settings
        connection.execute(f"PRAGMA page_size = {_PAGE}").close()
        connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}").close()
    first = ("journal_mode = WAL", f"synchronous = {synchronous}", "foreign_keys = ON")
    for pragma in (*first, f"cache_size = -{cache}", "secure_delete = ON", "busy_timeout = 60000"):
        connection.execute(f"PRAGMA {pragma}").close()


def _explain(context: ExceptionContext) -> LibraryError | None:
    name = Path(context.engine.url.database or "").name if context.engine else ""
    what = "The catalog" if name == CATALOG else f"The file {name}"
    return of_the_disk(context.original_exception, what)


def number_of(path: Path) -> int:
    """Return the number of the tables of a file, without changing the file or its folder.

    Raises:
        sqlite3.Error: it is no such file, or cannot be read.
    """
    address, log = f"{path.absolute().as_uri()}?mode=ro", Path(f"{path}-wal")
    if not log.exists() or not log.stat().st_size:
        address += "&immutable=1"  # on a read-only disk SQLite cannot make the files that it reads the log by
    with closing(sqlite3.connect(address, uri=True)) as file:
        return int(file.execute("PRAGMA user_version").fetchone()[0])


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("ragweave_begin", "BEGIN"))
