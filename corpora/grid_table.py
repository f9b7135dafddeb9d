"""Lay out the rows of a table: which cells are in which column, which rows are heads, which rows continue.

A table of amounts needs columns that line up and short cells. A table of words needs the same number of
cells in most of its rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, pairwise
from statistics import median

from ragweave.corpora.columns import (
    Cell,
    Rowed,
    columns_of,
    head_count,
    is_amount,
    joined_heads,
    lined_up,
    mean_length,
    place,
)

ROWS = 3
"""Smallest number of rows of a table, with its heads."""
WRAPPED = 1.45
"""Largest distance between the baselines of two lines of one cell, in font sizes."""
SHORT = 28
"""Largest mean number of characters in the cells of a table, without its first column."""
_AMOUNTS = 0.5
"""Smallest share of amounts in a table of amounts, without its first column."""
_MARKER = re.compile(r"[•▪◦‣●○■–—*·-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]", re.I)
Laid = tuple[list[Rowed], list[str]]
"""A row of a table: its rows on the page, and the text of each column."""


def lay_out(rows: Sequence[Rowed]) -> tuple[list[Laid], int]:
    """Return rows with a text for each column and the number of heads, or no rows if they are no table."""
    columns = columns_of(rows)
    wide = wide_rows(rows)
    if len(columns) < 2 or len(wide) < ROWS:
        return [], 0
    count = head_count(rows) if any(row.has_amount for row in rows) else 0
    columns = _with_heads(columns, rows, count)
    under = [_cells_under(column, rows[count:]) for column in columns]
    values = list(chain.from_iterable(under[1:]))
    if not values or _is_contents(values, under):
        return [], 0
    amounts = 0
    for cell in values:
        amounts += is_amount(cell.text)
    if amounts < _AMOUNTS * len(values) or amounts < 2:
        return _of_words(rows, wide)
    if mean_length(values) > SHORT:
        return [], 0
    size = median(row.size for row in rows)
    for column in under[1:]:
        if column and not lined_up(column, 0.8 * size):
            return [], 0
    return _of_amounts(rows, columns, count)


def wide_rows(rows: Sequence[Rowed]) -> list[Rowed]:
    """Return the rows with several cells."""
    return [row for row in rows if len(row.cells) > 1]


def _cells_under(column: Cell, rows: Sequence[Rowed]) -> list[Cell]:
    """Return the cells of rows that overlap a column."""
    found: list[Cell] = []
    for row in rows:
        found += filter(column.over, row.cells)
    return found


def _with_heads(columns: list[Cell], rows: Sequence[Rowed], count: int) -> list[Cell]:
    """Join a column of heads with its neighbour without heads: they may not line up with their figures."""
    wide = wide_rows(rows)
    out: list[Cell] = []
    filled: list[list[bool]] = []
    for column in columns:
        held = [bool(count_over(column, row)) for row in wide]
        if len(out) > 1 or (out and not any(filled[-1][count:])):
            both = list(zip(filled[-1], held, strict=True))
            only_heads = not (any(filled[-1][count:]) and any(held[count:]))
            if only_heads and (True, True) not in both:
                out[-1] = Cell(out[-1].left, column.right, "")
                filled[-1] = list(map(any, both))
                continue
        out.append(column)
        filled.append(held)
    return out


def _is_contents(values: Sequence[Cell], under: Sequence[Sequence[Cell]]) -> bool:
    """Return whether two columns are contents, whose page numbers never fall, or a list with its marks."""
    if len(under) != 2:
        return False
    if all(_MARKER.fullmatch(cell.text) for cell in under[0]):
        return True
    numbers: list[int] = []
    for cell in values:
        if not cell.text.isdecimal() or len(cell.text) > 3:
            return False
        numbers.append(int(cell.text))
    return len(numbers) > ROWS and numbers == sorted(numbers) and numbers[0] < 20


def _of_amounts(rows: Sequence[Rowed], columns: Sequence[Cell], count: int) -> tuple[list[Laid], int]:
    """Lay out a table of amounts: join lines of heads and labels, and leave out repeated heads."""
    heads = [place(row, columns, spans=True) for row in rows[:count]]
    pitch, reach = _pitch(rows[count:]), max((row.cells[0].right for row in rows[count:]), default=0.0)
    out: list[Laid] = []
    if count:
        out.append((list(rows[:count]), joined_heads(heads)))
    last: Rowed | None = None
    for row in rows[count:]:
        texts = place(row, columns, spans=not row.has_amount and len(row.cells) > 1)
        if texts in heads:  # repeated on another page
            continue
        if last is not None and _continues_label(last, row, pitch, reach):
            out[-1] = _merged(out[-1], row, texts)
        else:
            out.append(([row], texts))
        last = row
    return out, int(bool(count))


def _pitch(rows: Sequence[Rowed]) -> float:
    """Return the usual distance of two rows of a page, in font sizes."""
    found: list[float] = []
    for before, row in pairwise(rows):
        if before.page == row.page:
            found.append(distance(before, row))
    return median(found or [WRAPPED])


def _merged(laid: Laid, row: Rowed, texts: Sequence[str]) -> Laid:
    """Append a row to a row that is laid out, column by column."""
    used, before = laid
    joined = [f"{above} {below}".strip() for above, below in zip(before, texts, strict=True)]
    return [*used, row], joined


def _continues_label(before: Rowed, row: Rowed, pitch: float, reach: float) -> bool:
    """Return whether a row continues the label of the row before it.

    It does if it starts with a small letter, or if the line before it has no space for its first word.
    """
    down, label = distance(before, row), before.cells[0]
    if before.page != row.page or down > max(WRAPPED, 0.9 * pitch):
        return False
    if label.text.endswith(":") or (len(before.cells) > 1 and len(row.cells) > 1):
        return False
    cell = row.cells[0]
    if cell.text[:1].islower():
        return len(before.cells) == 1 or cell.left >= label.left
    word = cell.text.split()[0]
    full = label.right + 0.6 * row.size * (len(word) + 1) > reach
    return len(before.cells) == 1 and full and down < 0.9 * pitch


def _of_words(rows: Sequence[Rowed], wide: Sequence[Rowed]) -> tuple[list[Laid], int]:
    """Lay out a table of words: all of its columns line up, and most of their cells are short."""
    width = max(len(row.cells) for row in wide)
    full = [row for row in wide if len(row.cells) == width]
    if len(full) < max(ROWS - 1, 0.4 * len(wide)):
        return [], 0
    cells = [row.cells for row in full]
    columns = list(zip(*cells, strict=True))
    if not all(map(lined_up, columns)) or not _are_short(columns[1:]):
        return [], 0
    sides = list(map(_sides, columns))
    out: list[Laid] = []
    for row in rows:
        texts = place(row, sides, spans=False)
        close = bool(out) and distance(out[-1][0][-1], row) <= WRAPPED
        partial = len(row.cells) == 1 or (len(row.cells) < width and not texts[0])
        if close and partial:
            out[-1] = _merged(out[-1], row, texts)
        else:
            out.append(([row], texts))
    if len(out) < ROWS:
        return [], 0
    heads = list(filter(None, out[0][1]))
    return out, int(len(set(heads)) == len(heads))


def _are_short(columns: Sequence[Sequence[Cell]]) -> bool:
    """Return whether one of some columns has short cells and all of them together are not long."""
    means = list(map(mean_length, columns))
    return min(means) <= SHORT and sum(means) / len(means) <= 2 * SHORT


def _sides(column: Sequence[Cell]) -> Cell:
    """Return an empty cell as wide as a column."""
    left, right = column[0].left, column[0].right
    for cell in column:
        left, right = min(left, cell.left), max(right, cell.right)
    return Cell(left, right, "")


def count_over(cell: Cell, row: Rowed) -> int:
    """Return how many cells of a row a cell overlaps."""
    return sum(map(cell.over, row.cells))


def distance(before: Rowed, row: Rowed) -> float:
    """Return the distance of two rows in font sizes; 1 across a page break."""
    if before.page + 1 == row.page:
        return 1.0
    return (before.base - row.base) / max(1.0, row.size)
