"""Lay out tables whose cells span rows and columns, so that each row can be read by itself.

The text of a cell is repeated in every row that the cell covers. A number is repeated only in the first
column, where it names the rows: anywhere else a sum over the column would count it several times. Headers and
texts are repeated over the columns that they span, except a text that begins a row and names it (`Total`).
Two header lines are joined into one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple

from ragweave.corpora.blocks import Block, Lines
from ragweave.corpora.formats.cell_numbers import is_name, is_number

Cell = tuple[str, int, int]
"""A text, and how many rows and columns it spans."""

MAX_COLUMNS = 500
MAX_REPEATED = 2_000_000
"""Characters that the repeated cells of a file may take together; after that, nothing is repeated."""
_MOST_HEADS = 3
"""Most header lines that are joined; a table with more of them keeps its lines."""
TOP = 20
"""Rows at the top of a table that are searched for titles and headers."""
_BAR = re.compile(r"(?:^|(?<=\s))\|(?=\s|$)")


class TableRow(NamedTuple):
    """A row with one text per column.

    Attributes:
        cells: the texts of the columns.
        line: the line of the file, 1-based, or 0 if the format has no lines.
        heads: whether the file marks all cells as headers.
        apart: whether an empty row precedes this one.
    """

    cells: list[str]
    line: int = 0
    heads: bool = False
    apart: bool = False


@dataclass(slots=True)
class _RowLayout:
    """The layout of one row while its cells are placed.

    Attributes:
        marked: whether the file marks the row as headers.
        heads: whether the row names columns, marked or not.
        alone: whether one wide cell is all that the row says.
        above: by column, the text of a cell above that covers this row, and for how many rows.
        placed: the text of each column so far.
        over: columns under a cell that spans several.
    """

    marked: bool
    heads: bool
    alone: bool
    above: dict[int, tuple[str, int]]
    placed: dict[int, str] = field(default_factory=dict)
    over: set[int] = field(default_factory=set)

    def is_taken(self, column: int) -> bool:
        """Return whether a column already has a cell of this row or of a row above."""
        return column in self.placed or column in self.above

    def is_figure(self, text: str) -> bool:
        """Return whether a text is a number that a sum would count, not the name of a column."""
        if self.marked:
            return False
        return not is_name(text) if self.heads else is_number(text)


class MergedTable:
    """Lays out the rows of one table after another."""

    def __init__(self) -> None:
        self._left = MAX_REPEATED
        self.begin()

    def begin(self) -> None:
        """Begin a table."""
        self._open: dict[int, tuple[str, int]] = {}
        """By column: the text of a cell that covers the next rows, and how many of them."""
        self._wide = 1
        """Columns that the widest row so far fills."""
        self._over: set[int] = set()
        """Columns under a header that spans several."""

    def close(self) -> None:
        """End all cells that span rows, as at the end of a group of rows."""
        self._open = {}

    def row(self, cells: Sequence[Cell], *, heads: bool = False, every: bool = False) -> list[str]:
        """Return the texts of a row, one per column.

        `heads` says that the row names columns. A row that is wider than those above is taken for headers in
        any case. `every` says that the row has a cell for each column, and that covered cells are empty.
        """
        if self._left < 0:
            self.close()
        if self._left < 0 or self._is_plain(cells):
            return [text for text, _, _ in cells]
        columns = self._filled_columns(cells)
        layout = _RowLayout(
            marked=heads,
            heads=heads or (columns > self._wide and not self._over),
            alone=self._is_alone(cells, every),
            above=self._open,
        )
        self._open = _next_row(self._open)
        self._place_cells(layout, cells, every)
        for column, (text, _) in layout.above.items():
            if column not in layout.placed and self._pays(text):
                layout.placed[column] = text
        filled = sum(map(bool, layout.placed.values()))
        if filled > 1:
            self._wide = max(self._wide, columns)
            if layout.heads and not self._over:
                self._over = layout.over
        return _texts(layout)

    def _is_plain(self, cells: Sequence[Cell]) -> bool:
        """Return whether neither a cell of this row nor one above spans anything."""
        if self._open or len(cells) > self._wide:
            return False
        for _, down, across in cells:
            if down != 1 or across != 1:
                return False
        return True

    def _filled_columns(self, cells: Sequence[Cell]) -> int:
        """Return how many columns have text in a row, its own or that of a cell above."""
        count = 0
        for text, _, across in cells:
            if text:
                count += across
        for text, _ in self._open.values():
            if text:
                count += 1
        return count

    def _is_alone(self, cells: Sequence[Cell], every: bool) -> bool:
        """Return whether one cell over several columns is all that a row says."""
        for text, _ in self._open.values():
            if text:
                return False
        widths = []
        for text, _, across in cells:
            if text or not every:
                widths.append(across)
        return len(widths) == 1 and widths[0] > 1

    def _place_cells(self, layout: _RowLayout, cells: Sequence[Cell], every: bool) -> None:
        column = 0
        for n, cell in enumerate(cells):
            text, down, across = cell
            if every:
                column = n
                if not text and layout.is_taken(column):
                    continue
                if not text:
                    down = across = 1
            else:
                while layout.is_taken(column):
                    column += 1
            self._place(layout, column, (text, down, across))

    def _place(self, layout: _RowLayout, at: int, cell: Cell) -> None:
        """Place a cell in column `at`, repeat it to the right, and remember it for the rows below."""
        text, down, across = cell
        # A cell alone in its row is a title or names the rows below. It does not belong to these columns.
        is_title = layout.alone and (at == 0 or not layout.heads)
        wide = 1 if is_title else min(across, MAX_COLUMNS - at)
        is_figure = layout.is_figure(text)
        right = text if (layout.heads or at) and not is_figure else ""
        layout.placed[at] = text
        for column in range(at + 1, at + wide):
            if self._pays(right):
                layout.placed.setdefault(column, right)
                layout.over.add(column)
        if wide > 1:
            layout.over.add(at)
        if down > 1:
            below = "" if is_figure and at else text
            self._open[at] = (below, down - 1)
            for column in range(at + 1, at + wide):
                self._open[column] = (below if right else "", down - 1)

    def blocks(self, rows: Iterable[TableRow], heads: Callable[[Sequence[TableRow]], int]) -> list[Block]:
        """Return the table of the laid out rows, after the titles above its headers as text.

        `heads` returns how many of the first rows that it gets are headers.
        """
        after = iter(rows)
        first = list(islice(after, TOP))
        titles, table = Lines(), Lines()
        while first and _is_title(first):
            title = next(filter(None, first[0].cells))
            titles.add(title, first[0].line)
            del first[0]
        count = heads(first)
        if count < 2 and self._has_two(first):
            count = 2
        if 2 <= count <= min(_MOST_HEADS, len(first) - 1):
            header = _joined([row.cells for row in first[:count]])
            first[:count] = [TableRow(header, first[0].line)]
            count = 1
        blocks = [titles.block("text")] if titles.text else []
        for row, starts_table in parted(chain(first, after)):
            if starts_table:
                blocks.append(table.block("table", count))
                table, count = Lines(), 1
            table.add(joined(row.cells), row.line)
        if table.text:
            blocks.append(table.block("table", count))
        return blocks

    def _has_two(self, rows: Sequence[TableRow]) -> bool:
        """Return whether the second row only names the columns under the wide headers of the first."""
        if len(rows) < 3 or not self._over:
            return False
        first, second = rows[0].cells, rows[1].cells
        for column in self._over:
            if not _cell_at(second, column):
                return False
        for column, text in enumerate(second):
            if column in self._over or not _cell_at(first, column):
                if not is_name(text):
                    return False
            elif text not in ("", first[column]):
                return False
        return True

    def _pays(self, text: str) -> bool:
        """Return whether one more repeated cell fits in the limit, and count it."""
        self._left -= len(text) + 3
        return self._left >= 0


def _next_row(covered: dict[int, tuple[str, int]]) -> dict[int, tuple[str, int]]:
    """Return the columns that cells from above still cover in the row after this one."""
    still: dict[int, tuple[str, int]] = {}
    for column, (text, rows) in covered.items():
        if rows > 1:
            still[column] = (text, rows - 1)
    return still


def _texts(layout: _RowLayout) -> list[str]:
    """Return the texts of a row up to its last column; a lone title has no empty columns behind it."""
    end = 0
    for column, text in layout.placed.items():
        if text or not layout.alone:
            end = max(end, column + 1)
    return [layout.placed.get(column, "") for column in range(end)]


def _cell_at(cells: Sequence[str], column: int) -> str:
    return cells[column] if column < len(cells) else ""


def joined(cells: Iterable[str]) -> str:
    """Join the cells of a row with ` | `; a bar inside a cell becomes a slash."""
    return " | ".join(_BAR.sub("/", cell) for cell in cells)


def parted(rows: Iterable[TableRow]) -> Iterator[tuple[TableRow, bool]]:
    """Yield each row with whether it is the header of another table.

    Such a row has only words, follows an empty line, and has figures above and below it.
    """
    after = iter(rows)
    before, row = None, next(after, None)
    while row is not None:
        under = next(after, None)
        starts_table = False
        if before and under and row.apart and not under.apart:
            starts_table = _is_new_header(before, row, under)
        yield row, starts_table
        before, row = row, under


def _is_new_header(before: TableRow, row: TableRow, under: TableRow) -> bool:
    cells = row.cells
    if len(cells) < 2 or not all(cells) or len(set(cells)) < len(cells) or len(under.cells) > len(cells):
        return False
    if any(map(str.isdigit, "".join(cells))):
        return False
    return any(map(is_number, before.cells[1:])) and any(map(is_number, under.cells[1:]))


def spanned(value: str, least: int = 1) -> int:
    """Return how many rows or columns an attribute says that a cell spans; `least` if it holds no number."""
    if not value.isdecimal() or len(value) > 8:
        return least
    return min(max(least, int(value)), MAX_COLUMNS)


def first_row(rows: Sequence[TableRow]) -> int:
    """Return 1: the first row is the header, unless it is the only row."""
    return int(len(rows) > 1)


def _is_title(rows: Sequence[TableRow]) -> bool:
    """Return whether the first row is a single text over all columns of the next row."""
    if len(rows) < 2:
        return False
    cells, under = rows[0].cells, rows[1].cells
    if len(cells) == 1:
        return max([len(row.cells) for row in rows[1:4]]) > 1
    if not cells[0] and not under[0]:
        return False  # an empty corner in both: these are headers in two lines
    if len(set(filter(None, cells))) != 1:
        return False
    filled = 0
    for column, text in enumerate(under):
        if text:
            filled += 1
            if not _cell_at(cells, column):
                return False
    return filled > 1


def _joined(rows: Sequence[Sequence[str]]) -> list[str]:
    """Join header rows into one, without the texts that a row repeats from the row above.

    A year above seasons moves behind them: `2023 Spring` would read as a number of springs.
    """
    heads = []
    for column in range(max(map(len, rows))):
        texts: list[str] = []
        for row in rows:
            text = _cell_at(row, column)
            if text and text not in texts:
                texts.append(text)
        if is_number(" ".join(texts)):
            texts.reverse()
        heads.append(" ".join(texts))
    return heads
