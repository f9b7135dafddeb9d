"""Tables of the catalog of a library, and the engine that opens it."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from ragweave.corpora.store.catalog_steps import HISTORY
from ragweave.corpora.store.folders import PUT_BACK, REMEDY, unwritable
from ragweave.corpora.store.packed import PackedText, packed
from ragweave.corpora.store.sqlite_file import engine_of, write
from ragweave.models.errors import DamagedError, LibraryError, LibraryNotFound

logger = logging.getLogger(__name__)
V = TypeVar("V")
_AT = "ragweave_generation"

SCHEMA_VERSION = HISTORY.newest
"""Version of the tables below; older catalogs are migrated, newer ones are refused."""

metadata = MetaData()

_TEXT = String().with_variant(String(collation="C"), "postgresql")
"""Texts are compared and sorted by their bytes, whatever the language of a server."""
_WHOLE = Integer().with_variant(BigInteger(), "postgresql")
"""As large as SQLite's integers are."""
CHARACTERS, BIG = _TEXT, _WHOLE


def _columns(kind: Any, names: str) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False) for name in names.split()]


def _source() -> Column[str]:
    return Column("source", _TEXT, ForeignKey("sources.id", ondelete="CASCADE"), nullable=False)


about = Table(
    "about",
    metadata,
    Column("name", _TEXT, primary_key=True),
    *_columns(_TEXT, "encoder"),
    *_columns(_WHOLE, "dim generation"),
    *_columns(_TEXT, "recency"),
    Column("half_life", Float),
)
"""One row: the library. `generation` grows with every change, and readers compare it at each query. `recency`
and `half_life` (days) say how its documents age, unless a question says otherwise."""

sources = Table(
    "sources",
    metadata,
    Column("id", _TEXT, primary_key=True),
    *_columns(_TEXT, "kind title named status reason sha256 params_hash author language indexed_at"),
    *_columns(_WHOLE, "bytes"),
    *_columns(JSON, "warnings"),
    Column("date", _TEXT),
)
"""A source is identified by its bytes and the parameters of reading: two equal files are one source with two
paths. `named` is the file name if items have it as their title, or ""."""

paths = Table(
    "paths",
    metadata,
    Column("path", _TEXT, primary_key=True),
    _source(),
    *_columns(_WHOLE, "size mtime_ns ctime_ns inode"),
    Column("checked_at", Float, nullable=False),
    Index("paths_by_source", "source"),
)
"""The path of a source, and the size and times of its file when it was last read."""

items = Table(
    "items",
    metadata,
    Column("n", _WHOLE, primary_key=True),
    Column("id", _TEXT, nullable=False, unique=True),
    _source(),
    *_columns(_TEXT, "corpus title"),
    *_columns(PackedText, "text"),
    *_columns(_TEXT, "language"),
    *_columns(_WHOLE, "ordinal"),
    *_columns(JSON, "locator heading spans meta"),
    Column("date", _TEXT),
    Index("items_by_source", "source", "corpus"),
    Index("items_by_corpus", "corpus"),
)
"""`n` is the row of the lexical index; everything else refers to `id`."""

removed = Table("removed", metadata, Column("source", _TEXT, primary_key=True))
"""Removed sources whose terms may still lie in the index and in free pages of the file."""

vectors = Table(
    "vectors",
    metadata,
    Column("n", _WHOLE, primary_key=True),
    *_columns(_TEXT, "space corpus item part"),
    _source(),
    *_columns(LargeBinary, "data"),
    UniqueConstraint("space", "corpus", "item", "part"),
    Index("vectors_by_source", "source"),
    Index("vectors_by_item", "item"),
    sqlite_autoincrement=True,
)
"""Vectors of length 1 as little-endian 32-bit floats. `n` grows with every write and is never reused: a row
with a larger number is newer than the index, and a missing number was deleted or replaced."""

indexes = Table(
    "indexes",
    metadata,
    Column("space", _TEXT, primary_key=True),
    Column("corpus", _TEXT, primary_key=True),
    *_columns(_TEXT, "name digest"),
    *_columns(_WHOLE, "upto count"),
)
"""The index of a space and corpus: the collection `name` holds the `count` rows up to `n` = `upto`."""

stages = Table(
    "stages",
    metadata,
    Column("source", _TEXT, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
    Column("item", _TEXT, primary_key=True),
    Column("stage", _TEXT, primary_key=True),
    *_columns(_TEXT, "params_hash"),
)
"""The ledger: work done for a source or an item after reading it, and its parameters."""

mentions = Table(
    "mentions",
    metadata,
    Column("n", _WHOLE, primary_key=True),
    _source(),
    *_columns(_TEXT, "chunk entity name kind description"),
    *_columns(JSON, "items"),
    Index("mentions_by_entity", "entity"),
    Index("mentions_by_chunk", "source", "chunk"),
)
"""What a chunk says about an entity, and in which items; `entity` is the digest of its normalized name."""

relations = Table(
    "relations",
    metadata,
    Column("n", _WHOLE, primary_key=True),
    _source(),
    *_columns(_TEXT, "chunk head tail description"),
    *_columns(Float, "weight"),
    Index("relations_by_head", "head"),
    Index("relations_by_tail", "tail"),
    Index("relations_by_chunk", "source", "chunk"),
)
"""What a chunk says about two entities together; the digest `head` sorts before `tail`."""


def connect(path: Path) -> Engine:
    """Open the catalog at `path`; create it if there is none.

    Raises:
        DamagedError: there is a file without a catalog in it.
        LibraryError: the file was written by another Ragweave, is no catalog, or cannot be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path.parent, error) from error
    engine, there = engine_of(path), os.path.exists(path)
    try:
        with engine.connect() as connection:
            found = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        if found == 0 and there:
            raise DamagedError("The catalog is damaged (it is empty)", PUT_BACK)
        if found == 0:
            with write(engine) as connection:
                metadata.create_all(connection)
                connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA_VERSION}")
        elif found != SCHEMA_VERSION:
            _bring_up(engine, path)
    except (sqlite3.Error, DBAPIError) as error:
        engine.dispose()
        raise LibraryError(
            f"The catalog {path} cannot be opened ({getattr(error, 'orig', error)})", REMEDY
        ) from error
    except LibraryError:
        engine.dispose()
        raise
    return engine


def _bring_up(engine: Engine, path: Path) -> None:
    with engine.connect() as connection:
        # First without the write lock, so that a refused catalog is not changed.
        HISTORY.check(connection.exec_driver_sql("PRAGMA user_version").scalar_one(), f"The catalog {path}")
    with write(engine) as connection:
        # Read it again: another process may have migrated the catalog.
        found = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        HISTORY.bring_up(connection, found, f"The catalog {path}")
        connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA_VERSION}")
    logger.warning("%s: the tables were brought from number %d to %d", path, found, SCHEMA_VERSION)


def add(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows of the same columns; PostgreSQL uses COPY, which takes a tenth of the time of INSERT."""
    if not rows:
        return
    names = ", ".join(rows[0])
    postgres = connection.dialect.name == "postgresql"
    written: dict[str, Callable[[Any], Any]] = {}
    for name in rows[0]:
        if isinstance(table.c[name].type, JSON):
            written[name] = json.dumps
        elif isinstance(table.c[name].type, PackedText) and not postgres:
            written[name] = packed
    values = _values(rows, written)
    if not postgres:  # SQLAlchemy would look at each value
        marks = ", ".join("?" * len(rows[0]))
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", list(values))
        return
    raw: Any = connection.connection.driver_connection
    with raw.cursor() as cursor, cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
        for row in values:
            copy.write_row(row)


def _values(
    rows: Sequence[dict[str, Any]], written: Mapping[str, Callable[[Any], Any]]
) -> Iterator[tuple[Any, ...]]:
    """Yield the values of each row; the columns of `written` are converted."""
    for row in rows:
        stored = dict(row)
        for name, how in written.items():
            stored[name] = how(row[name])
        yield tuple(stored.values())


def upsert(connection: Connection, table: Table, *rows: dict[str, Any]) -> None:
    """Insert rows of the same columns, or replace those with the same primary key."""
    keys = [c.name for c in table.primary_key]
    postgres = connection.dialect.name == "postgresql"
    statement = postgresql.insert(table) if postgres else sqlite.insert(table)
    new = {}
    for name in rows[0]:
        if name not in keys:
            new[name] = statement.excluded[name]
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=new), list(rows))


def in_parts(values: Sequence[V], most: int = 5_000) -> list[Sequence[V]]:
    """Split values into parts that one statement can bind."""
    return [values[i : i + most] for i in range(0, len(values), most)]


def now() -> str:
    """Return the present as an ISO time in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def generation(connection: Connection) -> int:
    """Return the generation of the library; a transaction reads it once."""
    found = connection.get_execution_options().get(_AT)
    if found is None:
        # Every transaction runs this query, and as plain SQL it takes a third of the time.
        found = connection.exec_driver_sql("SELECT generation FROM about").scalar()
        if found is None:
            raise LibraryNotFound("The library was deleted", "open another, or index it again")
        connection.execution_options(**{_AT: int(found)})
    return int(found)


def bump(connection: Connection) -> None:
    """Begin the next generation of the library, within a write transaction."""
    following = generation(connection) + 1
    connection.execute(update(about).values(generation=following))
    connection.execution_options(**{_AT: following})
