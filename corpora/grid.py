"""Find tables on pages, with or without rules: lines whose cells line up become rows.

A cell ends at a gap that is wider than any space. Consecutive rows are a table if their cells line up and if
most cells after the first are amounts or short. Two columns of prose line up too, but their cells are long.
A table may continue on the next page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from ragweave.corpora.blocks import Block
from ragweave.corpora.columns import Cell, Rowed, is_amount, signed
from ragweave.corpora.grid_table import ROWS, SHORT, Laid, count_over, distance, lay_out
from ragweave.corpora.types import Box, Span, union

GAP = 0.85
"""Smallest distance between two characters of different cells, in font sizes."""
_APART = 3.2
"""Largest distance between the baselines of two rows, in font sizes."""
_BACK = 8
"""How many lines back to look for the row of a cell that was set later than its neighbours."""
_SINGLES = 4
"""Largest number of one-cell rows in a row: names of sections, labels of several lines."""
_LABEL = 160
"""Largest number of characters of such a row."""


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line of a page.

    Attributes:
        text: its text, without a hyphen that the format marks as a line break.
        page: page, 1-based.
        bbox: [left, bottom, right, top] in points.
        base: height of the baseline on the page at its start, in points.
        end: the same at its end.
        size: font size of most of it in points.
        bold: whether most of it is in a bold font.
        hyphen: whether the format marks a broken word at its end.
        cells: its cells, if gaps divide it.
        fixed: whether all of its characters have one width, as in code.
    """

    text: str
    page: int
    bbox: Box
    base: float
    end: float
    size: float
    bold: bool
    hyphen: bool
    cells: tuple[Cell, ...] = ()
    fixed: bool = False


def grids(lines: Sequence[PageLine]) -> Iterator[tuple[int, int, Block]]:
    """Yield each table of a document as (first line, one past the last line, block with one row a line)."""
    rows = _rows(lines)
    at = floor = 0
    while at < len(rows):
        if len(rows[at].cells) < 2:
            at += 1
            continue
        end = _end(rows, at)
        top = at - _count_heads_above(rows[floor:at], rows[at:end])
        laid, level = lay_out(rows[top:end]) if end - top >= ROWS else ([], 0)
        if not laid:
            at += 1
            continue
        first, last = rows[top].first, rows[top].last
        for row in rows[top:end]:
            first, last = min(first, row.first), max(last, row.last)
        yield first, last + 1, _block(laid, level)
        at = floor = end


def _rows(lines: Sequence[PageLine]) -> list[Rowed]:
    """Join lines at one height that do not overlap into rows: some programs set each cell as its own line."""
    rows: list[Rowed] = []
    for n, line in enumerate(lines):
        left, _, right, _ = line.bbox
        cells = line.cells or (Cell(left, right, line.text),)
        near = _last_on_level(rows, line)
        if near is not None and _fills_gaps(rows[near], cells, line.size):
            row = rows[near]
            both = tuple(sorted((*row.cells, *cells), key=lambda c: c.left))
            box = union([row.bbox, line.bbox])
            rows[near] = replace(row, cells=both, last=max(n, row.last), bbox=box)
        else:
            rows.append(Rowed(cells, n, n, line.page, line.base, line.size, line.bbox))
    for n, row in enumerate(rows):
        if len(row.cells) > 1:
            rows[n] = replace(row, cells=signed(row.cells) or row.cells)
    return rows


def _last_on_level(rows: Sequence[Rowed], line: PageLine) -> int | None:
    """Return the index of the last of the newest rows at the height of a line, or None."""
    for n in reversed(range(max(0, len(rows) - _BACK), len(rows))):
        if _level(rows[n], line):
            return n
    return None


def _level(row: Rowed, line: PageLine) -> bool:
    return row.page == line.page and abs(row.base - line.base) < 0.35 * max(line.size, row.size)


def _fills_gaps(row: Rowed, cells: Sequence[Cell], size: float) -> bool:
    """Return whether cells fit into the gaps of a row; signs may be close to their amounts."""
    for cell in cells:
        for other in row.cells:
            if cell.left - other.right <= -1 and other.left - cell.right <= -1:
                return False
    gap = GAP * 0.5 * size
    if cells[0].left - row.cells[-1].right > gap or row.cells[0].left - cells[-1].right > gap:
        return True
    for cell in cells:
        if len(cell.text) > 2 and not is_amount(cell.text):
            return False
    return True


def _follows(before: Rowed, row: Rowed) -> bool:
    near = before.page == row.page or before.page + 1 == row.page
    alike = abs(before.size - row.size) <= 0.3 * max(before.size, 1.0)
    return near and alike and 0.5 < distance(before, row) < _APART


def _count_heads_above(rows: Sequence[Rowed], table: Sequence[Rowed]) -> int:
    """Return how many one-cell rows right above a table are heads of its columns.

    A line in the middle of the whole table, with its labels, is the caption of the table and no head.
    """
    count, row = 0, table[0]
    middles = _middles(table)
    for before in reversed(rows[-2:]):
        if len(before.cells) > 1 or before.page != row.page or not _follows(before, row):
            break
        if not _may_be_head(before, middles):
            break
        count, row = count + 1, before
    return count


@dataclass(frozen=True, slots=True)
class _Middles:
    """Where a table lies on its page: the side of its labels, its right side, two middles, in points."""

    left: float
    right: float
    whole: float
    values: float


def _middles(table: Sequence[Rowed]) -> _Middles:
    """Return the sides of a table, and the middles of the whole table and of its columns of amounts."""
    labels: list[float] = []
    first = first_value = math.inf
    right = -math.inf
    for row in table:
        first = min(first, row.cells[0].left)
        right = max(right, row.cells[-1].right)
        if row.has_amount:
            labels.append(row.cells[0].right)
            first_value = min(first_value, row.cells[1].left)
    left = median(labels or [table[0].cells[0].right])
    first_value = first_value if labels else left
    return _Middles(left, right, (first + right) / 2, (first_value + right) / 2)


def _may_be_head(row: Rowed, table: _Middles) -> bool:
    """Return whether a one-cell row lies over the columns of a table; a caption lies in its middle."""
    cell = row.cells[0]
    if is_amount(cell.text) or len(cell.text) > 60:
        return False
    if not table.left < cell.left < cell.right <= table.right + row.size:
        return False
    middle = (cell.left + cell.right) / 2
    return abs(middle - table.whole) >= abs(middle - table.values)


def _end(rows: Sequence[Rowed], at: int) -> int:
    """Return one past the last row of what may be a table that starts at a row."""
    end, begun, above = at + 1, rows[at].has_amount, [rows[at]]
    heads = {_texts(rows[at])}
    while end < len(rows) and _follows(rows[end - 1], rows[end]):
        row = rows[end]
        if len(row.cells) < 2:
            if not _fits(rows, at, end):
                break
            end += 1
            continue
        if rows[end - 1].page != row.page and not _aligned(row, above):
            break
        repeated = _texts(row) in heads
        if begun and not repeated and (_starts_table(row, above) or _is_prose(row)):
            break
        if not begun:
            heads.add(_texts(row))
        begun = begun or row.has_amount
        above.append(row)
        end += 1
    while end > at and len(rows[end - 1].cells) < 2:
        end -= 1
    return end


def _texts(row: Rowed) -> tuple[str, ...]:
    return tuple(cell.text for cell in row.cells)


def _aligned(row: Rowed, above: Sequence[Rowed]) -> bool:
    """Return whether most cells of a row line up with those of a table on the page before."""
    sides: list[float] = []
    for other in above:
        for cell in other.cells[1:]:
            sides.append(cell.right)
    near = 0
    for cell in row.cells[1:]:
        distances = [abs(cell.right - side) for side in sides]
        near += min(distances, default=math.inf) < 0.8 * row.size
    return near > 0.6 * len(row.cells[1:])


def _starts_table(row: Rowed, above: Sequence[Rowed]) -> bool:
    """Return whether a row names the columns of another table: it has no label, and amounts are above it."""
    if not row.names:
        return False
    labels = [other.cells[0].right for other in above if other.has_amount]
    return row.cells[0].left > median(labels)


def _is_prose(row: Rowed) -> bool:
    """Return whether a row has no amounts and a long cell after its first."""
    for cell in row.cells[1:]:
        if len(cell.text) > SHORT:
            return not row.has_amount
    return False


def _fits(rows: Sequence[Rowed], at: int, n: int) -> bool:
    """Return whether a one-cell row can be part of a table: as a label, or as a head over its columns."""
    cell = rows[n].cells[0]
    before = _first_wide(rows[at:n][::-1])
    after = _first_wide(rows[n + 1 : n + 1 + _SINGLES])
    if before is None or after is None or len(cell.text) > _LABEL:
        return False
    if count_over(cell, before) < 2 and count_over(cell, after) < 2:
        return cell.left < before.cells[-1].right
    for row in (before, after):
        if row.has_amount and cell.over(row.cells[0]):
            return False
    return len(cell.text) <= 60


def _first_wide(rows: Sequence[Rowed]) -> Rowed | None:
    """Return the first row with several cells, or None."""
    for row in rows:
        if len(row.cells) > 1:
            return row
    return None


def _block(rows: Sequence[Laid], level: int) -> Block:
    """Return the block of a table, with a span for each row."""
    text = ""
    spans: list[Span] = []
    page = rows[0][0][0].page
    boxes: list[Box] = []
    for used, texts in rows:
        text += "\n" if text else ""
        start = len(text)
        text += " | ".join(t.replace(" | ", " / ") for t in texts)
        around: list[Box] = []
        for row in used:
            around.append(row.bbox)
            if row.page == page:
                boxes.append(row.bbox)
        spans.append(Span(start, len(text), 0, used[0].page, union(around)))
    return Block(text, "table", level, page=page, bbox=union(boxes), spans=tuple(spans))
