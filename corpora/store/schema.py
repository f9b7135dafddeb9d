"""Tables of the catalog of a library, and the engine that opens it."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    create_engine,
    event,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError

from ragweave.corpora.store.folders import REMEDY, unwritable
from ragweave.models.errors import LibraryError, LibraryNotFound

SCHEMA_VERSION = 5
"""Version of the tables below; a catalog of a newer one is refused, never guessed at."""

metadata = MetaData()

libraries = Table(
    "libraries",
    metadata,
    Column("id", String, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    Column("encoder", String, nullable=False),
    Column("dim", Integer, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("created", String, nullable=False),
    Column("recency", String, nullable=False, server_default="auto"),
    Column("half_life", Float),
)
"""One row in each catalog. `generation` grows with every change of what the library holds; readers compare it at each
query. `recency` and `half_life` (days) are how its documents age, where a question does not say otherwise."""

sources = Table(
    "sources",
    metadata,
    Column("library", ForeignKey("libraries.id", ondelete="CASCADE"), primary_key=True),
    Column("id", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("title", String, nullable=False),
    Column("status", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("sha256", String, nullable=False),
    Column("params_hash", String, nullable=False),
    Column("warnings", JSON, nullable=False),
    Column("author", String, nullable=False),
    Column("language", String, nullable=False),
    Column("date", String),
    Column("indexed_at", String, nullable=False),
)
"""A source is its bytes and the parameters it was read with: two equal files are one source with two paths."""

paths = Table(
    "paths",
    metadata,
    Column("library", String, primary_key=True),
    Column("path", String, primary_key=True),
    Column("source", String, nullable=False),
    Column("size", Integer, nullable=False),
    Column("mtime_ns", Integer, nullable=False),
    Column("ctime_ns", Integer, nullable=False),
    Column("inode", Integer, nullable=False),
    Column("checked_at", Float, nullable=False),
    ForeignKeyConstraint(["library", "source"], ["sources.library", "sources.id"], ondelete="CASCADE"),
    Index("paths_by_source", "library", "source"),
)
"""Where a source lies on disk, and what its file looked like when its bytes were last read."""

items = Table(
    "items",
    metadata,
    Column("n", Integer, primary_key=True),
    Column("library", String, nullable=False),
    Column("source", String, nullable=False),
    Column("id", String, nullable=False),
    Column("corpus", String, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("title", String, nullable=False),
    Column("text", String, nullable=False),
    Column("locator", JSON, nullable=False),
    Column("heading", JSON, nullable=False),
    Column("spans", JSON, nullable=False),
    Column("meta", JSON, nullable=False),
    Column("date", String),
    Column("language", String, nullable=False),
    UniqueConstraint("library", "id"),
    ForeignKeyConstraint(["library", "source"], ["sources.library", "sources.id"], ondelete="CASCADE"),
    Index("items_by_source", "library", "source", "corpus"),
    Index("items_by_corpus", "library", "corpus"),
)
"""`n` is the row of the lexical index; everything else speaks of `id`."""

vectors = Table(
    "vectors",
    metadata,
    Column("n", Integer, primary_key=True),
    Column("library", String, nullable=False),
    Column("space", String, nullable=False),
    Column("corpus", String, nullable=False),
    Column("item", String, nullable=False),
    Column("part", String, nullable=False),
    Column("source", String, nullable=False),
    Column("data", LargeBinary, nullable=False),
    UniqueConstraint("library", "space", "corpus", "item", "part"),
    ForeignKeyConstraint(["library", "source"], ["sources.library", "sources.id"], ondelete="CASCADE"),
    Index("vectors_by_source", "library", "source"),
    Index("vectors_by_item", "library", "item"),
    sqlite_autoincrement=True,
)
"""Vectors of length 1 as little-endian 32-bit floats. `n` is never used twice and grows with every write, so that a
larger one is newer than an index, and one that is gone was deleted or replaced."""

indexes = Table(
    "indexes",
    metadata,
    Column("library", ForeignKey("libraries.id", ondelete="CASCADE"), primary_key=True),
    Column("space", String, primary_key=True),
    Column("corpus", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("upto", Integer, nullable=False),
    Column("count", Integer, nullable=False),
    Column("digest", String, nullable=False),
)
"""The index of the vectors of a space and corpus: the collection `name` holds the `count` rows up to `n` = `upto`."""

stages = Table(
    "stages",
    metadata,
    Column("library", ForeignKey("libraries.id", ondelete="CASCADE"), primary_key=True),
    Column("source", String, primary_key=True),
    Column("item", String, primary_key=True),
    Column("stage", String, primary_key=True),
    Column("params_hash", String, nullable=False),
    Column("status", String, nullable=False),
    Column("error", String, nullable=False),
    Column("at", String, nullable=False),
)
"""The ledger. Rows may name sources that are not (or no longer) in the catalog: that is what they are for."""

mentions = Table(
    "mentions",
    metadata,
    Column("n", Integer, primary_key=True),
    Column("library", String, nullable=False),
    Column("source", String, nullable=False),
    Column("chunk", String, nullable=False),
    Column("entity", String, nullable=False),
    Column("name", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("description", String, nullable=False),
    Column("items", JSON, nullable=False),
    ForeignKeyConstraint(["library", "source"], ["sources.library", "sources.id"], ondelete="CASCADE"),
    Index("mentions_by_entity", "library", "entity"),
    Index("mentions_by_chunk", "library", "source", "chunk"),
)
"""What a chunk says about an entity, and in which of its items; `entity` is the digest of the name's normal form."""

relations = Table(
    "relations",
    metadata,
    Column("n", Integer, primary_key=True),
    Column("library", String, nullable=False),
    Column("source", String, nullable=False),
    Column("chunk", String, nullable=False),
    Column("head", String, nullable=False),
    Column("tail", String, nullable=False),
    Column("description", String, nullable=False),
    Column("weight", Float, nullable=False),
    ForeignKeyConstraint(["library", "source"], ["sources.library", "sources.id"], ondelete="CASCADE"),
    Index("relations_by_head", "library", "head"),
    Index("relations_by_tail", "library", "tail"),
    Index("relations_by_chunk", "library", "source", "chunk"),
)
"""What a chunk says about two entities together; `head` stands before `tail` in the order of the digests."""

aliases = Table(
    "aliases",
    metadata,
    Column("library", ForeignKey("libraries.id", ondelete="CASCADE"), primary_key=True),
    Column("one", String, primary_key=True),
    Column("other", String, primary_key=True),
    Column("reason", String, nullable=False),
)
"""Pairs of names of one entity, `one` before `other`. No mention is changed by them."""


def connect(path: Path) -> Engine:
    """Open or create the catalog at `path`.

    Raises:
        LibraryError: the file was written by a newer Ragweave, is no catalog, or cannot be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path.parent, error) from error
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": 60, "check_same_thread": False})
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    event.listen(engine, "handle_error", _explain, retval=True)
    try:
        with engine.connect() as connection:
            found = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        if found > SCHEMA_VERSION:
            raise LibraryError(
                f"The catalog {path} was written by a newer Ragweave (schema {found}, this one reads {SCHEMA_VERSION})",
                "upgrade Ragweave, or choose another RAGWEAVE_HOME",
            )
        if found < SCHEMA_VERSION:
            with write(engine) as connection:
                metadata.create_all(connection)
                connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA_VERSION}")
    except (sqlite3.Error, DBAPIError) as error:
        engine.dispose()
        raise LibraryError(f"The catalog {path} cannot be opened ({getattr(error, 'orig', error)})", REMEDY) from error
    except LibraryError:
        engine.dispose()
        raise
    return engine


def write(engine: Engine) -> Any:
    """Begin a transaction that takes the write lock at once, so that it never fails half-way for want of it."""
    return engine.execution_options(ragweave_begin="BEGIN IMMEDIATE").begin()


def _configure(connection: Any, _record: Any) -> None:
    # The driver must not open transactions by itself: `_begin` says when, and of which kind.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout = 60000")
    cursor.execute("PRAGMA journal_mode = WAL")
    # FULL, not NORMAL: a transaction lost to a power cut would leave items without their vectors.
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA cache_size = -32000")
    cursor.close()


def _explain(context: ExceptionContext) -> LibraryError | None:
    # A full disk, a read-only or damaged file: the database says so by these two, and a reader needs a sentence.
    if type(context.original_exception) in (sqlite3.OperationalError, sqlite3.DatabaseError):
        return LibraryError(f"The catalog cannot be used ({context.original_exception})", REMEDY)
    return None


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("ragweave_begin", "BEGIN"))


def upsert(connection: Connection, table: Table, *rows: dict[str, Any]) -> None:
    """Write rows of the same columns, each in place of the one of its primary key."""
    keys = [c.name for c in table.primary_key]
    statement = insert(table)
    new = {name: statement.excluded[name] for name in rows[0] if name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=new), list(rows))


def now() -> str:
    """Return the present as an ISO time in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def generation(connection: Connection, library: str) -> int:
    """Return the generation of a library by id, within a transaction."""
    found = connection.execute(select(libraries.c.generation).where(libraries.c.id == library)).scalar()
    if found is None:
        raise LibraryNotFound("The library was deleted", "open another, or index it again")
    return int(found)


def bump(connection: Connection, library: str) -> int:
    """Begin the next generation of a library, within a write transaction, and return it."""
    following = generation(connection, library) + 1
    connection.execute(update(libraries).where(libraries.c.id == library).values(generation=following))
    return following
