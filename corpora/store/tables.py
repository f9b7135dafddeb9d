"""Tables of a source in the catalog, written and deleted in one transaction with its items."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, delete, select

from ragweave.corpora.store.schema import add, in_parts
from ragweave.corpora.store.table_schema import table_items, table_rows, tables

_CHUNK = 1_000
"""Rows that are stored together."""

Row = tuple[Any, ...]
"""Line and page of a row in its file, 0 if the format has none, then its values."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: its name in SQL, its head as written, the kind of its values, and a note about odd values."""

    name: str
    head: str
    kind: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class RowsShown:
    """Which rows of a table an item shows: `first` to `last`, from 1, in [start, end) of its text."""

    item: str
    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class KeptTable:
    """A table of a file.

    `title` is its sheet or heading. `head` is the line of its column heads, which its passages repeat, or "".
    `rows` is empty if `refused` says why they are not kept, or if only the description was read from the
    catalog.
    """

    title: str
    columns: tuple[TableColumn, ...]
    head: str
    count: int
    rows: tuple[Row, ...] = ()
    stretches: tuple[RowsShown, ...] = ()
    refused: str = ""
    key: int = 0
    source: str = ""

    def to_json(self) -> list[Any]:
        """Return the form that crosses from the reading process."""
        columns = [[c.name, c.head, c.kind, c.note] for c in self.columns]
        shown = [[s.item, s.start, s.end, s.first, s.last] for s in self.stretches]
        return [self.title, columns, self.head, self.count, self.rows, shown, self.refused]

    @classmethod
    def from_json(cls, row: Sequence[Any]) -> KeptTable:
        """Read the form that `to_json` writes."""
        title, columns, head, count, rows, shown, refused = row
        table_columns = [TableColumn(*column) for column in columns]
        stretches = [RowsShown(*stretch) for stretch in shown]
        return cls(
            title, tuple(table_columns), head, count, tuple(map(tuple, rows)), tuple(stretches), refused
        )


def put(connection: Connection, found: Iterable[tuple[str, Sequence[KeptTable]]]) -> None:
    """Write the tables of sources that have none."""
    for source, some in found:
        for place, table in enumerate(some):
            _put(connection, source, place, table)


def _put(connection: Connection, source: str, place: int, table: KeptTable) -> None:
    row = {"source": source, "place": place, "title": table.title, "head": table.head, "total": table.count}
    columns = [[c.name, c.head, c.kind, c.note] for c in table.columns]
    made = connection.execute(tables.insert().values(**row, described=columns, refused=table.refused))
    assert made.inserted_primary_key is not None
    key = made.inserted_primary_key[0]
    parts = in_parts(table.rows, _CHUNK)
    add(connection, table_rows, [{"owner": key, "part": n, "data": packed(p)} for n, p in enumerate(parts)])
    shown = []
    for each in table.stretches:
        row = {"owner": key, "item": each.item, "low": each.first, "high": each.last}
        shown.append({**row, "begins": each.start, "ends": each.end})
    add(connection, table_items, shown)


def forget(connection: Connection, source: str) -> None:
    """Delete the tables of a source."""
    connection.execute(delete(tables).where(tables.c.source == source))


def packed(rows: Sequence[Row]) -> bytes:
    """Return rows in the compressed form that the catalog stores and child processes receive."""
    return zlib.compress(
        json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"), 3
    )


def unpacked(data: bytes) -> list[list[Any]]:
    """Return the rows of a packed part."""
    found: list[list[Any]] = json.loads(zlib.decompress(data))
    return found


def of_items(connection: Connection, ids: Sequence[str]) -> list[KeptTable]:
    """Return the tables whose rows these items show, without rows, with the stretches of these items."""
    shown: dict[int, list[RowsShown]] = {}
    for part in in_parts(ids):
        query = select(table_items).where(table_items.c.item.in_(part))
        for row in connection.execute(query.order_by(table_items.c.owner, table_items.c.low)):
            shown.setdefault(row.owner, []).append(_stretch(row))
    if not shown:
        return []
    found = connection.execute(select(tables).where(tables.c.key.in_(list(shown))).order_by(tables.c.key))
    return [replace(_described(row), stretches=tuple(shown[row.key])) for row in found]


def described(connection: Connection, key: int) -> KeptTable | None:
    """Return a table without its rows, with all of its stretches; None if it does not exist."""
    row = connection.execute(select(tables).where(tables.c.key == key)).one_or_none()
    if row is None:
        return None
    query = select(table_items).where(table_items.c.owner == key).order_by(table_items.c.low)
    return replace(_described(row), stretches=tuple(map(_stretch, connection.execute(query))))


def parts_of(connection: Connection, key: int, most: int = 0) -> list[bytes]:
    """Return the packed rows of a table, in order; `most` parts, 0: all."""
    query = select(table_rows.c.data).where(table_rows.c.owner == key).order_by(table_rows.c.part)
    return [bytes(data) for data in connection.execute(query.limit(most) if most else query).scalars()]


def _stretch(row: Any) -> RowsShown:
    return RowsShown(row.item, row.begins, row.ends, row.low, row.high)


def _described(row: Any) -> KeptTable:
    columns = [TableColumn(*column) for column in row.described]
    return KeptTable(
        row.title, tuple(columns), row.head, row.total, refused=row.refused, key=row.key, source=row.source
    )
