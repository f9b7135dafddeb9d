"""Tables of which a prompt shows rows: which rows these are, and how a model queries all."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragweave.corpora.store import tables as store
from ragweave.corpora.store.library import Library
from ragweave.corpora.store.tables import KeptTable, RowsShown
from ragweave.corpora.types import Item
from ragweave.models.text import clip
from ragweave.prompts import quote

MANY = 40
"""Rows from which a table can be queried although all are shown: nobody adds up so many in the head."""
_EXAMPLES = 3
_CELL = 60
"""Characters of a cell of an example."""
_TABLES = 4
"""Tables of one document that are described."""
_COLUMNS = 40
"""Columns of a table that are described."""
_BELOW = 4
"""Lines at the end of a text among which its last row is looked for."""
_BAR = " | "
HOW = (
    "To add up, count, compare or list rows of it, reply with one line “Table {n}: SELECT ... FROM t ...”"
    " (SQLite) in place of “Query:”. Never add up or count what is shown in part."
)
_TYPES = {"integer": "INTEGER", "real": "REAL", "date": "TEXT as YYYY-MM-DD", "text": "TEXT"}


@dataclass(frozen=True)
class TablePart:
    """A table of which an item shows rows.

    Attributes:
        table: what is known of it.
        lines: (number, text) of the rows in the text of the item, in order; the number is 0 where it is not
            certain.
        examples: its first rows, values alone.
    """

    table: KeptTable
    lines: tuple[tuple[int, str], ...]
    examples: tuple[tuple[Any, ...], ...] = ()

    def shown(self, text: str) -> list[int]:
        """Return the numbers of the rows that are whole in a text that was cut from the item."""
        where: dict[str, list[int]] = {}
        for at, (_, line) in enumerate(self.lines):
            where.setdefault(line, []).append(at)
        found, floor = list[int](), 0
        for line in text.split("\n"):
            near = next((k for k in where.get(line, ()) if k >= floor), None)
            if near is not None and self.lines[near][0]:
                found.append(self.lines[near][0])
                floor = near + 1
        return found


async def parts_of(library: Library, ids: Sequence[str]) -> dict[str, list[TablePart]]:
    """Return the tables that items show rows of, by item id."""
    items = await library.items(ids)
    if not any(_BAR in item.text for item in items.values()):
        return {}
    return await asyncio.to_thread(_read, library, items)


def _read(library: Library, items: dict[str, Item]) -> dict[str, list[TablePart]]:
    out: dict[str, list[TablePart]] = {}
    with library.held.catalog.reading(library.id) as connection:
        for table in store.of_items(connection, list(items)):
            first = store.parts_of(connection, table.key, 1)
            examples = tuple(tuple(row[2:]) for part in first for row in store.unpacked(part)[:_EXAMPLES])
            for s in table.stretches:
                if s.item in items:
                    lines = _lines(table, items[s.item].text[s.start : s.end], s.first, s.last)
                    out.setdefault(s.item, []).append(
                        TablePart(replace(table, stretches=(s,)), lines, examples)
                    )
    return out


def _lines(table: KeptTable, text: str, first: int, last: int) -> tuple[tuple[int, str], ...]:
    """Return the rows of a stretch with their numbers; 0 where a row was cut and they cannot be counted."""
    heads = set(table.head.split("\n"))
    lines = [line for line in text.split("\n") if line.strip() and line not in heads]
    sure = len(lines) == last - first + 1
    return tuple((first + n if sure else 0, line) for n, line in enumerate(lines))


async def where(library: Library, table: KeptTable, rows: Sequence[int]) -> dict[int, tuple[str, list[int]]]:
    """Return the smallest item that shows each row of a table, and [start, end) of the row in its text."""
    smallest = sorted(table.stretches, key=lambda s: s.last - s.first)
    found = {row: next((s for s in smallest if s.first <= row <= s.last), None) for row in rows}
    items = await library.items([*{s.item for s in found.values() if s is not None}])
    out: dict[int, tuple[str, list[int]]] = {}
    for row, s in found.items():
        if s is not None and s.item in items:
            out[row] = (s.item, _chars(table, items[s.item].text, s, row))
    return out


def _chars(table: KeptTable, text: str, stretch: RowsShown, row: int) -> list[int]:
    heads, at, number = set(table.head.split("\n")), stretch.start, stretch.first
    if not all(n for n, _ in _lines(table, text[stretch.start : stretch.end], stretch.first, stretch.last)):
        return []
    for line in text[stretch.start : stretch.end].split("\n"):
        if line.strip() and line not in heads:
            if number == row:
                return [at, at + len(line)]
            number += 1
        at += len(line) + 1
    return []


def told(parts: Sequence[TablePart], text: str, before: Mapping[int, int] | None = None) -> str:
    """Return which rows of its tables a text shows, where it does not show all: “rows 1-459 of 3,000”.

    `before` has the number of the document under which a table was described, by its key.
    """
    said = []
    for part in parts:
        rows, at = part.shown(text), (before or {}).get(part.table.key)
        if len(rows) < part.table.count:
            of = f", table {at}" if at else ""
            said.append(f"{_ranges(rows) or 'a part'} of {part.table.count:,}{of}")
    return "; ".join(said)


def _ranges(rows: Sequence[int]) -> str:
    ends: list[list[int]] = []
    for row in rows:
        if ends and row == ends[-1][1] + 1:
            ends[-1][1] = row
        else:
            ends.append([row, row])
    named = ", ".join(f"{a:,}-{b:,}" if b > a else f"{a:,}" for a, b in ends)
    return f"rows {named}" if named else ""


def whole_rows(parts: Sequence[TablePart], text: str) -> str:
    """Return a text without a row that was cut at its begin or end."""
    known = {line for part in parts for _, line in part.lines} | {
        head for part in parts for head in part.table.head.split("\n")
    }
    lines = text.split("\n")
    # What is left out of a document is named below its last row.
    cut = next((n for n in range(len(lines) - 1, max(0, len(lines) - _BELOW), -1) if _BAR in lines[n]), None)
    if cut is not None and lines[cut] not in known:
        del lines[cut]
    if len(lines) > 1 and _BAR in lines[0] and lines[0] not in known and "\n" in text:
        lines.pop(0)
    return "\n".join(lines)


def open_to(parts: Sequence[TablePart], text: str) -> list[TablePart]:
    """Return the tables that a statement helps with: those that a text shows in part, and long ones."""
    wanted = [p for p in parts if p.table.count > MANY or len(p.shown(text)) < p.table.count]
    return [p for p in wanted if not p.table.refused][:_TABLES]


def named(parts: Sequence[TablePart]) -> dict[str, KeptTable]:
    """Return the tables of a document by the names that statements call them: t, t2, t3."""
    return {f"t{n if n > 1 else ''}": part.table for n, part in enumerate(parts, 1)}


def described(number: int, parts: Sequence[TablePart], text: str, before: dict[int, int]) -> list[str]:
    """Return what a model reads of the tables of a document: columns and examples, each table once.

    Args:
        number: of the document.
        parts: its tables.
        text: what is shown of it.
        before: number of the document under which a table was described, by its key; completed here.
    """
    out = []
    names = {table.key: name for name, table in named(parts).items()}
    for part in open_to(parts, text):
        key, name = part.table.key, names[part.table.key]
        if key in before:
            continue
        before[key] = number
        rows = [_BAR.join(map(_value, (n, *row))) for n, row in enumerate(part.examples, 1)]
        out.append(f"Table {number} has {part.table.count:,} rows; its columns, and the first rows:")
        out.append(quote("\n".join([f"{name}({_columns(part)})", *rows])))
    if number in before.values():
        out.append(HOW.format(n=number))
    refused = {p.table.refused for p in parts if p.table.refused and p.table.key not in before}
    return [*out, *(f"Of [{number}]: {why}." for why in sorted(refused))]


def _columns(part: TablePart) -> str:
    columns = ["row INTEGER"]
    for c in part.table.columns[:_COLUMNS]:
        note = f" ({c.note})" if c.note else ""
        columns.append(f"{c.name} {_TYPES[c.kind]}{note}")
    left = len(part.table.columns) - _COLUMNS
    return ", ".join(columns) + (f" and {left} more columns" if left > 0 else "")


def _value(value: Any) -> str:
    return "" if value is None else clip(plain(value), _CELL)


def plain(value: Any) -> str:
    """Return a value as a result says it: without what binary fractions add."""
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return "" if value is None else str(value)
