"""Catalogs in PostgreSQL: each library has a schema with the tables of the SQLite file.

A transaction sees the tables of one library only, because its search path names that schema alone. The stores
use the same statements as for SQLite. The comment of a schema holds the version of its tables. Locks are
advisory locks of a session, so the server releases them when a process ends.
"""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, delete, event, text
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import ArgumentError, DBAPIError

from ragweave.corpora.store import lexical, table_schema
from ragweave.corpora.store.catalog_steps import HISTORY
from ragweave.corpora.store.folders import of_the_disk
from ragweave.corpora.store.migrations import Fill, nothing
from ragweave.corpora.store.schema import SCHEMA_VERSION, about, metadata, removed
from ragweave.corpora.types import CORPORA
from ragweave.models.errors import LibraryError, LibraryNotFound

logger = logging.getLogger(__name__)

PREFIX = "ragweave_"
"""How the names of the schemas of libraries begin."""
_GONE = f"gone_{PREFIX}"
_ID = re.compile(r"[0-9a-z]{1,40}")
_OPTIONS = {
    # A process that was killed, or its machine, holds its locks for seconds and not for hours.
    "client_connection_check_interval": "1000",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    # Compiling a statement takes longer than any of ours.
    "jit": "off",
}
_SCHEMAS = """SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace
    WHERE starts_with(nspname, :prefix) ORDER BY nspname"""
_HELD = """FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (CAST(classid AS bigint) << 32 | CAST(objid AS bigint)) = :key"""


@lru_cache(maxsize=1)
def server(url: str) -> Server:
    """Return the server at an address; its connections are shared by this process.

    Raises:
        LibraryError: psycopg is not installed.
        LibraryError: the address cannot be read.
    """
    return Server(url)


class Server:
    """The catalogs of all libraries of a database, and the locks of this process there."""

    def __init__(self, url: str) -> None:
        try:
            switches = []
            for name, value in _OPTIONS.items():
                switches.append(f"-c {name}={value}")
            options = " ".join(switches)
            given: dict[str, Any] = {"options": options, "application_name": _name(), "connect_timeout": 10}
            self._engine = create_engine(
                url, pool_size=8, max_overflow=8, pool_pre_ping=True, connect_args=given
            )
        except ImportError as error:
            raise LibraryError(
                "PostgreSQL needs the extra `postgres`", "install it with: pip install 'ragweave[postgres]'"
            ) from error
        except (ArgumentError, ValueError) as error:
            raise LibraryError(
                "RAGWEAVE_DATABASE_URL is no address", "postgresql://USER@HOST/NAME"
            ) from error
        event.listen(self._engine, "connect", _configure)
        event.listen(self._engine, "begin", _begin)
        event.listen(self._engine, "handle_error", _explain, retval=True)
        snapshot = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        self._reading = self._engine.execution_options(**snapshot)
        self._known: set[str] = set()
        self._writers: dict[str, int] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close every connection that is not in use."""
        self._engine.dispose()
        self._known.clear()

    def ids(self) -> list[str]:
        """Return the ids of the libraries."""
        return [name.removeprefix(PREFIX) for name in self._schemas(PREFIX)]

    def number(self) -> str:
        """Return the version of PostgreSQL."""
        with self._reading.begin() as connection:
            return str(connection.exec_driver_sql("SHOW server_version").scalar_one())

    def numbers(self) -> dict[str, int]:
        """Return the number of each library's tables, by the name of its schema."""
        found: dict[str, int] = {}
        for name, comment in self._schemas(PREFIX).items():
            found[name] = _number(comment)
        return found

    def reading(self, library: str) -> Any:
        """Begin a transaction that sees one state of a library."""
        return self._of(library, self._reading).begin()

    @contextmanager
    def writing(self, library: str) -> Iterator[Connection]:
        """Begin a transaction that changes a library, one at a time.

        Raises:
            LibraryError: this process had the writer lock, and has lost it with its connection.
        """
        with self._of(library, self._engine).begin() as connection:
            held = f"(SELECT count(*) {_HELD} AND pid = :pid)" if library in self._writers else "1"
            given = {"key": key_of(library), "pid": self._writers.get(library)}
            if not connection.execute(text(f"SELECT {held} FROM about FOR UPDATE"), given).scalar_one():
                raise LibraryError(
                    "The database was restarted while the library was written", "run the command again"
                )
            try:
                yield connection
            except Exception as error:  # rows are copied by psycopg itself
                refused = _refusal(error)
                if refused:
                    raise refused from error
                raise

    def make(self, library: str, folder: Path, named: dict[str, Any], fill: Fill = nothing) -> None:
        """Create the schema of a library, with its row of `about` and the rows that `fill` writes."""
        with self._engine.begin() as connection:
            connection.exec_driver_sql(f'CREATE SCHEMA "{PREFIX}{library}"')
            connection.exec_driver_sql(f"COMMENT ON SCHEMA \"{PREFIX}{library}\" IS '{SCHEMA_VERSION}'")
            connection.exec_driver_sql(f'SET LOCAL search_path = "{PREFIX}{library}"')
            metadata.create_all(connection)
            lexical.create(connection)
            table_schema.create(connection)
            connection.execute(about.insert(), named)
            fill(connection)

    def drop(self, library: str) -> None:
        """Remove a library, and the remains of others whose removal was killed."""
        self._known.discard(library)
        with self._engine.begin() as connection:
            # Rename it first, so that it is gone at once and the removal waits for no reader of it.
            if f"{PREFIX}{library}" in self._schemas(PREFIX):
                connection.exec_driver_sql(f'ALTER SCHEMA "{PREFIX}{library}" RENAME TO "{_GONE}{library}"')
        for name in self._schemas(_GONE):
            with self._engine.begin() as connection:
                connection.exec_driver_sql(f'DROP SCHEMA IF EXISTS "{name}" CASCADE')

    def damage(self, library: str) -> list[str]:
        """Return an empty list: a server checks its own files."""
        return []

    def erase(self, library: str) -> None:
        """Free the pages of removed sources, while others read and write."""
        with self.writing(library) as connection:
            if not connection.execute(delete(removed)).rowcount:
                return
        self._vacuum(library, "VACUUM")

    def compact(self, library: str) -> None:
        """Free the space of deleted rows, and update the statistics of the query planner."""
        with self.writing(library) as connection:
            for name in map(lexical.table, CORPORA):
                connection.exec_driver_sql(f"DELETE FROM {name}_terms WHERE doc = 0")
        self._vacuum(library, "VACUUM (ANALYZE)")

    def _vacuum(self, library: str, how: str) -> None:
        parts = []
        for corpus in CORPORA:
            for part in ("", "_words", "_terms"):
                parts.append(f"{lexical.table(corpus)}{part}")
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            quoted = []
            for table in [*metadata.tables, *parts]:
                quoted.append(f'"{PREFIX}{library}".{table}')
            named = ", ".join(quoted)
            connection.exec_driver_sql(f"{how} {named}")

    def within(self, schema: str) -> tuple[Engine, Engine]:
        """Return the engines that read and write a schema that belongs to no library."""
        named = {"ragweave_schema": schema}
        return self._reading.execution_options(**named), self._engine.execution_options(**named)

    def held(self, name: str) -> bool:
        """Tell whether a process holds a lock."""
        with self._reading.begin() as connection:
            return bool(
                connection.execute(text(f"SELECT count(*) {_HELD}"), {"key": key_of(name)}).scalar_one()
            )

    @contextmanager
    def lock(self, name: str, wait: float, on_wait: Callable[[str], None]) -> Iterator[str]:
        """Hold a lock of the database, waiting up to `wait` seconds; yield "", or the holder of the lock."""
        ends = time.monotonic() + wait
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            key = {"key": key_of(name)}
            grace = time.monotonic() + _GRACE
            reported = False
            while not connection.execute(text("SELECT pg_try_advisory_lock(:key)"), key).scalar_one():
                late = time.monotonic()
                if late > grace:
                    query = text(
                        f"SELECT application_name FROM pg_stat_activity WHERE pid IN (SELECT pid {_HELD})"
                    )
                    holder = str(connection.execute(query, key).scalar() or "another process")
                    if not reported:
                        on_wait(holder)
                        reported = True
                    if late > ends:
                        yield holder
                        return
                time.sleep(0.05)
            pid = int(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())
            connection.execute(text("SELECT set_config('application_name', :name, false)"), {"name": _name()})
            with self._lock:
                self._writers[name] = pid
            try:
                yield ""
            finally:
                with self._lock:
                    self._writers.pop(name, None)
                with suppress(LibraryError, DBAPIError):  # with its connection the lock has gone as well
                    connection.execute(text("SELECT pg_advisory_unlock(:key)"), key)

    def _of(self, library: str, engine: Engine) -> Engine:
        if library not in self._known:
            if not _ID.fullmatch(library):
                raise LibraryNotFound("There is no such library", "list them with: ragweave library list")
            found = self._schemas(PREFIX)
            if f"{PREFIX}{library}" not in found:
                raise LibraryNotFound("The library was deleted", "open another, or index it again")
            if found[f"{PREFIX}{library}"] != str(SCHEMA_VERSION):
                self._bring_up(library)
            self._known.add(library)
        return engine.execution_options(ragweave_schema=f"{PREFIX}{library}")

    def _bring_up(self, library: str) -> None:
        """Migrate the tables of a library to the present version, one process at a time."""
        name, what = f"{PREFIX}{library}", f"The library {library}"
        HISTORY.check(_number(self._schemas(PREFIX).get(name)), what)
        with self._engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key_of(f"{name} tables")})
            found = _number(connection.execute(text(_SCHEMAS), {"prefix": name}).all()[0][1])
            connection.exec_driver_sql(f'SET LOCAL search_path = "{name}"')
            HISTORY.bring_up(connection, found, what)
            connection.exec_driver_sql(f"COMMENT ON SCHEMA \"{name}\" IS '{SCHEMA_VERSION}'")
        logger.warning("%s: the tables were brought from number %d to %d", what, found, SCHEMA_VERSION)

    def _schemas(self, prefix: str) -> dict[str, str]:
        with self._reading.begin() as connection:
            return dict(connection.execute(text(_SCHEMAS), {"prefix": prefix}).all())


_GRACE = 0.3
"""Seconds that a server needs to notice that the holder of a lock was killed."""


def _name() -> str:
    """Return the name of this process for processes that wait for it; PostgreSQL keeps 63 bytes."""
    return f"process {os.getpid()} on {platform.node()[:24]}, since {time.strftime('%H:%M:%S')}"


def _number(comment: str | None) -> int:
    return int(comment) if comment and comment.isdecimal() else 0


def key_of(name: str) -> int:
    """Return the number of a lock."""
    return int.from_bytes(hashlib.sha256(f"ragweave {name}".encode()).digest()[:7], "big")


def _configure(connection: Any, _record: Any) -> None:
    from psycopg.types.string import StrDumper

    class Storable(StrDumper):
        """Texts without null characters, which PostgreSQL cannot hold; every offset stays."""

        def dump(self, obj: str) -> Any:
            return super().dump(obj.replace("\0", "\ufffd"))

    connection.adapters.register_dumper(str, Storable)


def _begin(connection: Connection) -> None:
    schema = connection.get_execution_options().get("ragweave_schema")
    if schema:
        connection.exec_driver_sql(f'SET LOCAL search_path = "{schema}"')


def _explain(context: ExceptionContext) -> LibraryError | None:
    # If a connection of the pool has ended, the pool opens another one.
    return None if context.is_pre_ping else _refusal(context.original_exception)


def _refusal(error: BaseException) -> LibraryError | None:
    from psycopg import errors

    if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName):
        return LibraryNotFound("The library was deleted", "open another, or index it again")
    return of_the_disk(error)
