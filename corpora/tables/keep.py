"""Turn the blocks of a file into tables: columns, rows with places, and the passages that show the rows."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

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
_NAMED = 3
"""Odd cells of a column that its note names."""
_REPEATED, _CHOICES, _CHOICE = 20, 8, 30
"""A note lists the texts of a column with at least so many rows and at most so many texts, cut to this."""
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
"""Fewest numbers of a column whose last may be the sum of the others, and by what share it may differ."""
_BAR = " | "


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of a table: the number of its table, its own number from 1, and its text."""

    table: int
    row: int
    text: str


def tables_of(blocks: Sequence[Block], items: Sequence[Item]) -> list[KeptTable]:
    """Return the tables of a file, each with the parts of items that show its rows.

    A table that is too large is described, and its rows are not kept: a part would be counted as the whole.
    """
    tables: list[KeptTable] = []
    texts: list[list[str]] = []
    left = MOST_CELLS
    for title, block in _tables(blocks):
        lines = block.text.split("\n")
        wide = max([line.count(_BAR) for line in lines[:_FEWEST]]) + 1
        refused = _refused(len(lines) - block.level, wide, left)
        table, rows = _described(title, block, lines) if refused else _kept(title, block, lines)
        if len(table.columns) >= _FEWEST and table.count >= _FEWEST:
            tables.append(replace(table, refused=refused))
            texts.append(rows)
            left -= len(table.rows) * len(table.columns)
    stretches = _stretches(tables, texts, items)
    for n, table in enumerate(tables):
        tables[n] = replace(table, stretches=tuple(stretches.get(n, ())))
    return tables


def warnings_of(tables: Sequence[KeptTable]) -> list[str]:
    """Return the warnings for tables whose rows are not kept, each once."""
    warnings: list[str] = []
    for table in tables:
        if table.refused and table.refused not in warnings:
            warnings.append(table.refused)
    return warnings


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
    """Return a table by its headers alone, and the texts of its rows."""
    heads, body = _heads(lines, block.level)
    taken = {"row"}
    columns: list[TableColumn] = []
    for head in _named(heads):
        columns.append(TableColumn(_free(head, taken), head, "text"))
    return KeptTable(storable(title), tuple(columns), _head_line(lines, block.level), len(body)), body


def _kept(title: str, block: Block, lines: list[str]) -> tuple[KeptTable, list[str]]:
    """Return a table with its rows, and the texts of its rows."""
    heads, body = _heads(lines, block.level)
    if not body:
        return _described(title, block, lines)
    rows = [_cells(storable(line)) for line in body]
    wide = max(len(heads), *map(len, rows))
    heads += [""] * (wide - len(heads))
    for row in rows:
        row += [""] * (wide - len(row))
    written = list(zip(*rows, strict=True))
    columns: list[TableColumn] = []
    values: list[Sequence[object]] = []
    taken: set[str] = {"row"}
    for head, read, cells in zip(_named(heads), read_columns(written), written, strict=True):
        for column, held in _columns(head, read, cells, taken):
            columns.append(_totalled(column, held))
            values.append(held)
    made: list[Row] = []
    for place, row_values in zip(_places(block, lines), zip(*values, strict=True), strict=True):
        made.append((*place, *row_values))
    head_line = _head_line(lines, block.level)
    return KeptTable(storable(title), tuple(columns), head_line, len(rows), tuple(made)), body


def _cells(line: str) -> list[str]:
    """Return the cells of a row; most rows can be split without a pattern."""
    if line[:1] == "|" or line[-1:] == "|" or "  " in line:
        return list(cells_of(line))
    return line.split(_BAR)


def _columns(
    head: str, read: ColumnValues, cells: Sequence[str], taken: set[str]
) -> list[tuple[TableColumn, Sequence[object]]]:
    """Return a column as columns for statements: its values, then its units and its text if needed."""
    name = _free(head, taken)
    columns: list[tuple[TableColumn, Sequence[object]]] = [
        (TableColumn(name, head, read.kind, "; ".join(_notes(read, cells))), read.values)
    ]
    if read.units:
        unit = TableColumn(_free(f"{name}_unit", taken), head, "text", f"the unit of {name}")
        columns.append((unit, [u or None for u in read.units]))
    if read.odd:
        written = TableColumn(_free(f"{name}_text", taken), head, "text", f"{name} as it is written")
        columns.append((written, [cell or None for cell in cells]))
    return columns


def _notes(read: ColumnValues, cells: Sequence[str]) -> list[str]:
    """Return what a reader of a column's values must know."""
    notes = [read.note] if read.note else []
    values = set(read.values) - {None}
    if read.kind == "text" and len(cells) >= _REPEATED and len(values) <= _CHOICES:
        choices = [clip(str(value), _CHOICE) for value in values]
        notes.append("one of " + ", ".join(sorted(choices)))
    if read.unit:
        notes.append(f"in {read.unit}")
    if read.odd:
        notes.append(_odd_note(read, cells))
    if read.units:
        units = sorted(set(read.units) - {""})
        notes.append(f"mixes units: {', '.join(units[:_NAMED])}")
    return notes


def _odd_note(read: ColumnValues, cells: Sequence[str]) -> str:
    """Return the note on the cells that are of another kind than their column."""
    quoted = [f"“{clip(cells[n], 30)}”" for n in read.odd[:_NAMED]]
    kind = "date" if read.kind == "date" else "number"
    count = f"{len(read.odd):,} of {len(cells):,} cells are no {kind}s"
    return f"{count}, such as {', '.join(quoted)}: they are empty here and counted nowhere"


def _totalled(column: TableColumn, held: Sequence[object]) -> TableColumn:
    """Note that the last row of a column is the sum of the rows above, so that a sum counts it twice."""
    if column.kind not in ("integer", "real"):
        return column
    numbers: list[int | float] = []
    for value in held:
        if isinstance(value, int | float):
            numbers.append(value)
    if len(numbers) < _SUMMED or numbers[-1] != held[-1] or not numbers[-1]:
        return column
    if abs(sum(numbers[:-1]) - numbers[-1]) > _ROUNDED * abs(numbers[-1]):
        return column
    note = f"row {len(held):,} is the sum of the rows above it"
    if column.note:
        note = f"{column.note}; {note}"
    return replace(column, note=note)


def _heads(lines: list[str], level: int) -> tuple[list[str], list[str]]:
    """Return the headers of the columns, "" for a column without one, and the lines below them."""
    above = list(map(cells_of, lines[:level]))
    heads: list[str] = []
    for column in zip_longest(*above, fillvalue=""):
        texts = dict.fromkeys(filter(None, column))  # each once
        heads.append(storable(" ".join(texts)))
    return heads, list(filter(str.strip, lines[level:]))


def _head_line(lines: list[str], level: int) -> str:
    return storable("\n".join(lines[:level]))


def _named(heads: Sequence[str]) -> list[str]:
    return [head or f"column {n}" for n, head in enumerate(heads, 1)]


def _free(head: str, taken: set[str]) -> str:
    """Return a name for a column that no other column has and that a statement need not quote."""
    name = re.sub(r"\W+", "_", head.casefold()).strip("_")[:_NAME] or "column"
    if name[0].isdigit() or name in _KEYWORDS:
        name = f"c_{name}"
    free, n = name, 2
    while free in taken:
        free = f"{name}_{n}"
        n += 1
    taken.add(free)
    return free


def _places(block: Block, lines: list[str]) -> list[tuple[int, int]]:
    """Return line and page of each row below the headers; 0 if the format has none."""
    spans = block.places()
    starts = [span.start for span in spans]
    places: list[tuple[int, int]] = []
    at = 0
    for n, line in enumerate(lines):
        if n >= block.level and line.strip():
            k = bisect_left(starts, at + 1) - 1
            if k >= 0 and spans[k].end > at:
                places.append((spans[k].line, spans[k].page))
            else:
                places.append((0, 0))
        at += len(line) + 1
    return places


def _stretches(
    tables: Sequence[KeptTable], texts: Sequence[Sequence[str]], items: Sequence[Item]
) -> dict[int, list[RowsShown]]:
    """Return which rows the items show, by table; `texts` has the texts of each table's rows.

    Rows and items are in the order of the file.
    """
    lines: list[_Line] = []
    where: dict[str, list[int]] = {}
    for number, rows in enumerate(texts):
        for row, written in enumerate(rows, 1):
            text = storable(written)
            where.setdefault(text, []).append(len(lines))
            lines.append(_Line(number, row, text))
    heads: set[str] = set()
    for table in tables:
        heads.update(table.head.split("\n"))
    heads.discard("")
    stretches: dict[int, list[RowsShown]] = {}
    for corpus in ("paragraph", "document"):
        at = 0
        for item in items:
            if item.corpus != corpus:
                continue
            shown, at = _shown(item.text, lines, where, heads, at)
            for number, (start, end, first, last) in shown.items():
                stretches.setdefault(number, []).append(RowsShown(item.id, start, end, first, last))
    return stretches


def _shown(
    text: str, lines: Sequence[_Line], where: dict[str, list[int]], heads: set[str], at: int
) -> tuple[dict[int, tuple[int, int, int, int]], int]:
    """Return the rows that a text shows from line `at` on, by table, and the line that follows them.

    A table's entry is (start, end, first row, last row), start and end in characters of the text.
    """
    shown: dict[int, tuple[int, int, int, int]] = {}
    start = 0
    for written in text.split("\n"):
        end = start + len(written)
        is_next = at < len(lines) and lines[at].text == written
        if written in where and (is_next or written not in heads):
            known = where[written]
            k = bisect_left(known, at)
            if k < len(known) and (_BAR in written or known[k] == at):
                line = lines[known[k]]
                old = shown.get(line.table, (start, end, line.row, line.row))
                shown[line.table] = (old[0], end, old[2], line.row)
                at = known[k] + 1
        start = end + 1
    return shown, at
