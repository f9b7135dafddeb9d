"""Describe the tables of which a prompt shows rows: which rows it shows, and how a model queries all."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

from sqlalchemy import Connection

from ragweave.corpora.store import tables as store
from ragweave.corpora.store.library import Library
from ragweave.corpora.store.tables import KeptTable, RowsShown
from ragweave.corpora.types import Item
from ragweave.models.text import clip
from ragweave.prompts import quote

MANY = 40
"""Rows from which a table can be queried although all are shown: a reader cannot add up so many."""
_EXAMPLES = 3
_CELL = 60
"""Characters of a cell of an example."""
_TABLES = 4
"""Tables of one document that are described."""
_COLUMNS = 40
"""Columns of a table that are described."""
_BELOW = 4
"""Lines at the end of a text that may hold its last row."""
_BAR = " | "
HOW = (
    "To add up, count, compare or list rows of it, reply with one line “Table {n}: SELECT ... FROM t ...”"
    " (SQLite) in place of “Query:”. Never add up or count what is shown in part."
)
_TYPES = {"integer": "INTEGER", "real": "REAL", "date": "TEXT as YYYY-MM-DD", "text": "TEXT"}


@dataclass(frozen=True)
class TablePart:
    """A table with the rows that an item shows.

    Attributes:
        table: the table as the catalog describes it.
        lines: (number, text) of the rows in the text of the item, in order; the number is 0 if it is
            uncertain.
        examples: its first rows, values alone.
    """

    table: KeptTable
    lines: tuple[tuple[int, str], ...]
    examples: tuple[tuple[Any, ...], ...] = ()

    def shown(self, text: str) -> list[int]:
        """Return the numbers of the rows that a text cut from the item holds whole."""
        places: dict[str, list[int]] = {}
        for at, (_, line) in enumerate(self.lines):
            places.setdefault(line, []).append(at)
        found: list[int] = []
        floor = 0
        for line in text.split("\n"):
            near = _first_from(places.get(line, ()), floor)
            if near is not None and self.lines[near][0]:
                found.append(self.lines[near][0])
                floor = near + 1
        return found


def _first_from(places: Sequence[int], floor: int) -> int | None:
    for place in places:
        if place >= floor:
            return place
    return None


async def parts_of(library: Library, ids: Sequence[str]) -> dict[str, list[TablePart]]:
    """Return the tables of which items show rows, by item id."""
    items = await library.items(ids)
    for item in items.values():
        if _BAR in item.text:  # a row of a table, maybe
            return await asyncio.to_thread(_read, library, items)
    return {}


def _read(library: Library, items: dict[str, Item]) -> dict[str, list[TablePart]]:
    out: dict[str, list[TablePart]] = {}
    with library.held.catalog.reading(library.id) as connection:
        for table in store.of_items(connection, list(items)):
            examples = _examples(connection, table.key)
            for stretch in table.stretches:
                if stretch.item not in items:
                    continue
                text = items[stretch.item].text[stretch.start : stretch.end]
                lines = _lines(table, text, stretch.first, stretch.last)
                part = TablePart(replace(table, stretches=(stretch,)), lines, examples)
                out.setdefault(stretch.item, []).append(part)
    return out


def _examples(connection: Connection, key: int) -> tuple[tuple[Any, ...], ...]:
    """Return the values of the first rows of a table."""
    examples: list[tuple[Any, ...]] = []
    for packed in store.parts_of(connection, key, 1):
        for row in store.unpacked(packed)[:_EXAMPLES]:
            examples.append(tuple(row[2:]))
    return tuple(examples)


def _lines(table: KeptTable, text: str, first: int, last: int) -> tuple[tuple[int, str], ...]:
    """Return the numbered rows of a stretch; all numbers are 0 if a row was cut."""
    heads = set(table.head.split("\n"))
    rows = [line for line in text.split("\n") if _is_row(line, heads)]
    is_certain = len(rows) == last - first + 1
    numbers = range(first, last + 1) if is_certain else repeat(0)
    return tuple(zip(numbers, rows, strict=False))


def _is_row(line: str, heads: Set[str]) -> bool:
    return bool(line.strip()) and line not in heads


async def where(library: Library, table: KeptTable, rows: Sequence[int]) -> dict[int, tuple[str, list[int]]]:
    """Return the smallest item that shows each row of a table, and [start, end) of the row in its text."""
    smallest = sorted(table.stretches, key=lambda s: s.last - s.first)
    found: dict[int, RowsShown] = {}
    for row in rows:
        for stretch in smallest:
            if stretch.first <= row <= stretch.last:
                found[row] = stretch
                break
    ids = {stretch.item for stretch in found.values()}
    items = await library.items(list(ids))
    out: dict[int, tuple[str, list[int]]] = {}
    for row, stretch in found.items():
        if stretch.item in items:
            out[row] = (stretch.item, _chars(table, items[stretch.item].text, stretch, row))
    return out


def _chars(table: KeptTable, text: str, stretch: RowsShown, row: int) -> list[int]:
    """Return [start, end) of a row in the text of an item; empty if the number of a row is uncertain."""
    shown = text[stretch.start : stretch.end]
    for number, _ in _lines(table, shown, stretch.first, stretch.last):
        if not number:
            return []
    heads = set(table.head.split("\n"))
    at = stretch.start
    number = stretch.first
    for line in shown.split("\n"):
        if _is_row(line, heads):
            if number == row:
                return [at, at + len(line)]
            number += 1
        at += len(line) + 1
    return []


def rows_shown(parts: Sequence[TablePart], text: str, before: Mapping[int, int] | None = None) -> str:
    """Return which rows of its tables a text shows, if not all: “rows 1-459 of 3,000”.

    `before` has the number of the document under which a table was described, by its key.
    """
    described_at = before or {}
    notes: list[str] = []
    for part in parts:
        rows = part.shown(text)
        if len(rows) >= part.table.count:
            continue
        note = f"{_ranges(rows) or 'a part'} of {part.table.count:,}"
        number = described_at.get(part.table.key)
        notes.append(f"{note}, table {number}" if number else note)
    return "; ".join(notes)


def _ranges(rows: Sequence[int]) -> str:
    """Return row numbers as ranges: “rows 1-3, 7”; "" for none."""
    ranges: list[list[int]] = []
    for row in rows:
        if ranges and row == ranges[-1][1] + 1:
            ranges[-1][1] = row
        else:
            ranges.append([row, row])
    named: list[str] = []
    for first, last in ranges:
        named.append(f"{first:,}-{last:,}" if last > first else f"{first:,}")
    return f"rows {', '.join(named)}" if named else ""


def whole_rows(parts: Sequence[TablePart], text: str) -> str:
    """Return a text without a row that was cut at its beginning or end."""
    known: set[str] = set()
    for part in parts:
        known.update(part.table.head.split("\n"))
        for _, line in part.lines:
            known.add(line)
    lines = text.split("\n")
    # A note below the last row may name what a document leaves out.
    for n in range(len(lines) - 1, max(0, len(lines) - _BELOW), -1):
        if _BAR in lines[n]:
            if lines[n] not in known:
                del lines[n]
            break
    if len(lines) > 1 and _BAR in lines[0] and lines[0] not in known:
        lines.pop(0)
    return "\n".join(lines)


def open_to(parts: Sequence[TablePart], text: str) -> list[TablePart]:
    """Return the tables worth a statement: those that a text shows in part, and long ones."""
    wanted: list[TablePart] = []
    for part in parts:
        partial = len(part.shown(text)) < part.table.count
        if (partial or part.table.count > MANY) and not part.table.refused:
            wanted.append(part)
    return wanted[:_TABLES]


def named(parts: Sequence[TablePart]) -> dict[str, KeptTable]:
    """Return the tables of a document by their names in statements: t, t2, t3."""
    tables: dict[str, KeptTable] = {}
    for n, part in enumerate(parts, 1):
        tables[f"t{n}" if n > 1 else "t"] = part.table
    return tables


def described(number: int, parts: Sequence[TablePart], text: str, before: dict[int, int]) -> list[str]:
    """Return what a model reads of the tables of a document: columns and examples, each table once.

    Args:
        number: of the document.
        parts: its tables.
        text: the shown part of it.
        before: number of the document under which a table was described, by its key; completed here.
    """
    out: list[str] = []
    names: dict[int, str] = {}
    for name, table in named(parts).items():
        names[table.key] = name
    for part in open_to(parts, text):
        key = part.table.key
        if key in before:
            continue
        before[key] = number
        lines = [f"{names[key]}({_columns(part)})"]
        for n, row in enumerate(part.examples, 1):
            lines.append(_BAR.join(map(_value, (n, *row))))
        out.append(f"Table {number} has {part.table.count:,} rows; its columns, and the first rows:")
        out.append(quote("\n".join(lines)))
    if number in before.values():
        out.append(HOW.format(n=number))
    refused: set[str] = set()
    for part in parts:
        if part.table.refused and part.table.key not in before:
            refused.add(part.table.refused)
    for reason in sorted(refused):
        out.append(f"Of [{number}]: {reason}.")
    return out


def _columns(part: TablePart) -> str:
    columns = ["row INTEGER"]
    for c in part.table.columns[:_COLUMNS]:
        note = f" ({c.note})" if c.note else ""
        columns.append(f"{c.name} {_TYPES[c.kind]}{note}")
    left = len(part.table.columns) - _COLUMNS
    more = f" and {left} more columns" if left > 0 else ""
    return ", ".join(columns) + more


def _value(value: Any) -> str:
    return clip(plain(value), _CELL)


def plain(value: Any) -> str:
    """Return a value as a result states it, without the digits that binary fractions add."""
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return "" if value is None else str(value)
