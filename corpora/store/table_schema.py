"""The tables of a catalog that hold the tables of files."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Connection, ForeignKey, Index, LargeBinary, Table

from ragweave.corpora.store.schema import BIG, CHARACTERS, metadata

tables = Table(
    "tables",
    metadata,
    Column("key", BIG, primary_key=True),
    Column("source", CHARACTERS, ForeignKey("sources.id", ondelete="CASCADE"), nullable=False),
    Column("place", BIG, nullable=False),
    Column("total", BIG, nullable=False),
    Column("title", CHARACTERS, nullable=False),
    Column("head", CHARACTERS, nullable=False),
    Column("refused", CHARACTERS, nullable=False),
    Column("described", JSON, nullable=False),
    Index("tables_by_source", "source"),
)
"""A table of a file: `place` is its number in the file, `total` counts its rows, `described` are its columns,
`refused` says why its rows are not kept, or is ""."""


def _owner() -> Column[int]:
    return Column("owner", BIG, ForeignKey("tables.key", ondelete="CASCADE"), primary_key=True)


table_rows = Table(
    "table_rows",
    metadata,
    _owner(),
    Column("part", BIG, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
"""The rows of a table, some together, as compressed JSON."""

table_items = Table(
    "table_items",
    metadata,
    _owner(),
    Column("item", CHARACTERS, primary_key=True),
    Column("low", BIG, primary_key=True),
    Column("high", BIG, nullable=False),
    Column("begins", BIG, nullable=False),
    Column("ends", BIG, nullable=False),
    Index("table_items_by_item", "item"),
)
"""Which rows of a table an item shows, `low` to `high`, and where in its text."""


def create(connection: Connection) -> None:
    """Make the tables where they are missing."""
    metadata.create_all(connection, tables=[tables, table_rows, table_items])
