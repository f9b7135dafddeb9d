"""From the blocks of a file to its tables: columns, rows with places, and the passages that show them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragweave.corpora.blocks import Block
from ragweave.corpora.store.tables import KeptTable, Row, RowsShown, TableColumn
from ragweave.corpora.tables.cells import ColumnValues, read_columns
from ragweave.corpora.types import Item
from ragweave.models.tables import cells as cells_of
from ragweave.models.text import clip, storable

MOST_ROWS = 200_000
"""Rows of a table that can be kept."""
MOST_CELLS = 4_000_000
"""Cells of all tables of a file that can be kept."""
_FEWEST = 2
"""Rows, and columns, of the smallest table that is kept."""
_TOLD = 3
"""Odd cells of a column that are named."""
_REPEATED, _CHOICES, _CHOICE = 20, 8, 30
"""Rows from which a column of few texts names them, how many these are, and the characters of one."""
_NAME = 40
"""Characters of a column's name."""
_KEYWORDS = frozenset(
    "add all alter and as asc between by case cast check collate column create cross default delete "
    "desc distinct drop else end escape except exists filter for foreign from full glob group having "
    "if in index inner insert intersect into is isnull join left like limit match natural not "
    "notnull null of offset on or order outer over primary references regexp right row rowid select "
    "set table then to transaction union unique update using values view when where window with".split()
)
_SUMMED, _ROUNDED = 4, 1e-6
"""Numbers of a column whose last may be the sum of the others, and the share by which it may differ."""
_BAR = " | "


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of a table on its way to the passages that show it: its table, its number from 1, and how it reads."""

    table: int
    row: int
    text: str


def tables_of(blocks: Sequence[Block], items: Sequence[Item]) -> list[KeptTable]:
    """Return the tables of a file, each with the parts of items that show its rows.

    A table that is too large is described, and its rows are not kept: a part would be counted as the whole.
    """
    found: list[tuple[KeptTable, list[str]]] = []
    left = MOST_CELLS
    for title, block in _tables(blocks):
        lines = block.text.split("\n")
        wide = max((line.count(_BAR) + 1 for line in lines[:_FEWEST]), default=0)
        refused = _refused(len(lines) - block.level, wide, left)
        table, texts = _described(title, block, lines) if refused else _kept(title, block, lines)
        if len(table.columns) >= _FEWEST and table.count >= _FEWEST:
            found.append((replace(table, refused=refused), texts))
            left -= len(table.rows) * len(table.columns)
    stretches = _stretches(found, items)
    return [replace(table, stretches=tuple(stretches.get(n, ()))) for n, (table, _) in enumerate(found)]


def warnings_of(tables: Sequence[KeptTable]) -> list[str]:
    """Return what is to be said of tables whose rows are not kept."""
    return list(dict.fromkeys(table.refused for table in tables if table.refused))


def _refused(rows: int, wide: int, left: int) -> str:
    """Return why a table of so many rows and columns is not kept, or ""."""
    if rows <= MOST_ROWS and rows * wide <= left:
        return ""
    most = f"{MOST_ROWS:,} rows" if rows > MOST_ROWS else f"{MOST_CELLS:,} cells in one file"
    return (
        f"its table of {rows:,} rows is searched, but nothing is summed or counted over it: the most is"
        f" {most}; split the file to have it counted"
    )


def _tables(blocks: Sequence[Block]) -> Iterator[tuple[str, Block]]:
    """Yield the tables, each with its heading."""
    path: list[Block] = []
    for block in blocks:
        if block.kind == "heading":
            while path and path[-1].level >= block.level:
                path.pop()
            path.append(block)
        elif block.kind == "table" and _BAR in block.text:
            yield (path[-1].text if path else ""), block


def _described(title: str, block: Block, lines: list[str]) -> tuple[KeptTable, list[str]]:
    """Return a table by its heads alone, and the texts of its rows."""
    heads, body = _heads(lines, block.level)
    taken = {"row"}
    columns = tuple(TableColumn(_free(head, taken), head, "text") for head in _named(heads))
    return KeptTable(storable(title), columns, _head_line(lines, block.level), len(body)), body


def _kept(title: str, block: Block, lines: list[str]) -> tuple[KeptTable, list[str]]:
    heads, body = _heads(lines, block.level)
    if not body:
        return _described(title, block, lines)
    rows = [_cells(storable(line)) for line in body]
    wide = max([len(heads), *map(len, rows)])
    heads += [""] * (wide - len(heads))
    rows = [[*row, *[""] * (wide - len(row))] for row in rows]
    read = read_columns([*zip(*rows, strict=True)])
    columns: list[TableColumn] = []
    values: list[Sequence[object]] = []
    taken: set[str] = {"row"}
    for n, (head, column) in enumerate(zip(_named(heads), read, strict=True)):
        for made, held in _columns(head, column, [row[n] for row in rows], taken):
            columns.append(made)
            values.append(held)
    places = _places(block, lines)
    columns = [_totalled(c, held) for c, held in zip(columns, values, strict=True)]
    made_rows: list[Row] = [
        (*place, *row) for place, row in zip(places, zip(*values, strict=True), strict=True)
    ]
    head = _head_line(lines, block.level)
    return KeptTable(storable(title), tuple(columns), head, len(rows), tuple(made_rows)), body


def _cells(line: str) -> list[str]:
    """Return the cells of a row; most rows have nothing about them that takes a pattern to part."""
    if line[:1] == "|" or line[-1:] == "|" or "  " in line:
        return cells_of(line)
    return line.split(_BAR)


def _columns(
    head: str, read: ColumnValues, cells: Sequence[str], taken: set[str]
) -> list[tuple[TableColumn, Sequence[object]]]:
    """Return a column of a file as columns of statements: its values, then what they lack of what is written."""
    notes = [read.note] if read.note else []
    values = {value for value in read.values if value is not None}
    if read.kind == "text" and len(cells) >= _REPEATED and len(values) <= _CHOICES:
        notes.append("one of " + ", ".join(sorted(clip(str(v), _CHOICE) for v in values)))
    if read.unit:
        notes.append(f"in {read.unit}")
    if read.odd:
        named = ", ".join(f"“{clip(cells[n], 30)}”" for n in read.odd[:_TOLD])
        kind = "date" if read.kind == "date" else "number"
        count = f"{len(read.odd):,} of {len(cells):,} cells are no {kind}s"
        notes.append(f"{count}, such as {named}: they are empty here and counted nowhere")
    if read.units:
        notes.append(f"mixes units: {', '.join(sorted(set(read.units) - {''})[:_TOLD])}")
    name = _free(head, taken)
    out: list[tuple[TableColumn, Sequence[object]]] = [
        (TableColumn(name, head, read.kind, "; ".join(notes)), read.values)
    ]
    if read.units:
        unit = TableColumn(_free(f"{name}_unit", taken), head, "text", f"the unit of {name}")
        out.append((unit, [u or None for u in read.units]))
    if read.odd:
        written = TableColumn(_free(f"{name}_text", taken), head, "text", f"{name} as it is written")
        out.append((written, [cell or None for cell in cells]))
    return out


def _totalled(column: TableColumn, held: Sequence[object]) -> TableColumn:
    """Note that the last row of a column is the sum of those above it: who adds up the column adds it up twice."""
    numbers = [value for value in held if isinstance(value, int | float)]
    if (
        column.kind not in ("integer", "real")
        or len(numbers) < _SUMMED
        or numbers[-1] != held[-1]
        or not numbers[-1]
    ):
        return column
    if abs(sum(numbers[:-1]) - numbers[-1]) > _ROUNDED * abs(numbers[-1]):
        return column
    note = f"row {len(held):,} is the sum of the rows above it"
    return replace(column, note="; ".join(filter(None, (column.note, note))))


def _heads(lines: list[str], level: int) -> tuple[list[str], list[str]]:
    """Return the heads of the columns, "" where a column has none, and the lines below them."""
    above = [cells_of(line) for line in lines[:level]]
    wide = max(map(len, above), default=0)
    heads = [" ".join(dict.fromkeys(row[n] for row in above if n < len(row) and row[n])) for n in range(wide)]
    return [*map(storable, heads)], [line for line in lines[level:] if line.strip()]


def _head_line(lines: list[str], level: int) -> str:
    return storable("\n".join(lines[:level]))


def _named(heads: Sequence[str]) -> list[str]:
    return [head or f"column {n}" for n, head in enumerate(heads, 1)]


def _free(head: str, taken: set[str]) -> str:
    """Return a name for a column that no other has, and that a statement need not quote."""
    name = re.sub(r"\W+", "_", head.casefold()).strip("_")[:_NAME] or "column"
    if name[0].isdigit() or name in _KEYWORDS:
        name = f"c_{name}"
    free, n = name, 2
    while free in taken:
        free, n = f"{name}_{n}", n + 1
    taken.add(free)
    return free


def _places(block: Block, lines: list[str]) -> list[tuple[int, int]]:
    """Return line and page of each row below the heads; 0 where the format has none."""
    spans, starts = block.places(), [s.start for s in block.places()]
    out: list[tuple[int, int]] = []
    at = 0
    for n, line in enumerate(lines):
        if n >= block.level and line.strip():
            k = bisect_left(starts, at + 1) - 1
            span = spans[k] if 0 <= k and spans[k].end > at else None
            out.append((span.line, span.page) if span is not None else (0, 0))
        at += len(line) + 1
    return out


def _stretches(
    found: Sequence[tuple[KeptTable, list[str]]], items: Sequence[Item]
) -> dict[int, list[RowsShown]]:
    """Return which rows the items show, by table: rows and items are in the order of the file."""
    lines = [
        _Line(t, n, storable(text)) for t, (_, texts) in enumerate(found) for n, text in enumerate(texts, 1)
    ]
    where: dict[str, list[int]] = {}
    for n, line in enumerate(lines):
        where.setdefault(line.text, []).append(n)
    heads = {line for table, _ in found for line in table.head.split("\n") if line}
    out: dict[int, list[RowsShown]] = {}
    for corpus in ("paragraph", "document"):
        at = 0
        for item in (i for i in items if i.corpus == corpus):
            shown, at = _shown(item.text, lines, where, heads, at)
            for table, (start, end, first, last) in shown.items():
                out.setdefault(table, []).append(RowsShown(item.id, start, end, first, last))
    return out


def _shown(
    text: str, lines: Sequence[_Line], where: dict[str, list[int]], heads: set[str], at: int
) -> tuple[dict[int, tuple[int, int, int, int]], int]:
    """Return the rows that a text shows from line `at` on, by table, and the line that follows them."""
    shown: dict[int, tuple[int, int, int, int]] = {}
    start = 0
    for said in text.split("\n"):
        end = start + len(said)
        if said in where and not (said in heads and (at >= len(lines) or lines[at].text != said)):
            known = where[said]
            k = bisect_left(known, at)
            if k < len(known) and (_BAR in said or known[k] == at):
                line = lines[known[k]]
                old = shown.get(line.table, (start, end, line.row, line.row))
                shown[line.table] = (old[0], end, old[2], line.row)
                at = known[k] + 1
        start = end + 1
    return shown, at
