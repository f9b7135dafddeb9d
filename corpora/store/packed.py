"""Long texts of a SQLite catalog, which lie there compressed.

A text of `LONG` characters or more is kept as its zlib bytes if these are fewer. Any other is kept as it is,
and so is every text in PostgreSQL, which compresses by itself. SQLite keeps both in one column.
"""

from __future__ import annotations

import sqlite3
import zlib
from typing import Any

from sqlalchemy import Dialect, String, TypeDecorator

LONG = 200
"""Characters from which a text is compressed."""


def packed(text: str) -> str | bytes:
    """Return a text in the form that the catalog keeps."""
    if len(text) < LONG:
        return text
    data = text.encode()
    small = zlib.compress(data)
    return small if len(small) < len(data) else text


def unpacked(kept: str | bytes) -> str:
    """Return the text that `packed` made this of."""
    return zlib.decompress(kept).decode() if isinstance(kept, bytes) else kept


def teach(connection: sqlite3.Connection) -> None:
    """Give a connection both as functions of SQL."""
    connection.create_function("ragweave_packed", 1, packed, deterministic=True)
    connection.create_function("ragweave_unpacked", 1, unpacked, deterministic=True)


class PackedText(TypeDecorator[str]):
    """A column of texts that may be long."""

    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        """Compare by bytes in PostgreSQL, as every other text of the catalog."""
        return dialect.type_descriptor(String(collation="C") if dialect.name == "postgresql" else String())

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """Pack what SQLite is given."""
        return value if value is None or dialect.name == "postgresql" else packed(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Unpack what was read."""
        return None if value is None else unpacked(value)
