"""Find the columns of tables on pages: their sides, their cells, and the rows that are heads.

A cell that overlaps two cells of another row spans their columns. All other overlapping cells are one column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import mean, median

from ragweave.corpora.types import Box

_NAMED = re.compile(r"[^\W\d_]+\d")
"""A letter and a number name a column: Q1, H2, FY23."""
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d[*†]?")
_DASHES = re.compile(r"[-–—−]+")
_SIGN = re.compile(r"(?:[A-Z]{1,3})?[$€£¥]\s?\(?|\(")
_AFTER = re.compile(r"\)?\s?%?\)?|\)")
_INSIDE = re.compile(r"(?<=[($€£¥])\s+|\s+(?=\))")
_LEADER = re.compile(r"(?:\s?[.…_]){3,}\s*\Z")
_MOST_HEADS = 5
_MOST_COMPARED = 12
"""Number of rows that decide which cells span columns."""
_ALIGNED = 2.5
"""Largest distance of the sides of cells that line up, in points."""
_LINED_UP = 0.7
"""Smallest share of the cells of a column that must line up."""
_OUT = 0.15
"""Share of its width by which a head must reach out of a column to span the next one."""
_TOUCH = 0.5
"""Smallest overlap of two cells, in points."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its left and right sides in points, and its text."""

    left: float
    right: float
    text: str

    def over(self, other: Cell) -> bool:
        """Return whether two cells overlap."""
        return self.left < other.right - _TOUCH and other.left < self.right - _TOUCH


@dataclass(frozen=True, slots=True)
class Rowed:
    """A row of a page: its cells, and the first and last of its lines, by number."""

    cells: tuple[Cell, ...]
    first: int
    last: int
    page: int
    base: float
    size: float
    bbox: Box

    @property
    def has_amount(self) -> bool:
        """Whether a cell after the first is an amount."""
        return _any_amount(self.cells[1:])

    @property
    def names(self) -> bool:
        """Whether its cells can name columns: none is an amount."""
        return not _any_amount(self.cells)


def _any_amount(cells: Iterable[Cell]) -> bool:
    for cell in cells:
        if is_amount(cell.text):
            return True
    return False


def is_amount(text: str) -> bool:
    """Return whether a cell is an amount: a number with signs and a short unit, or a dash, but no year."""
    if _DASHES.fullmatch(text):
        return True
    if _NAMED.match(text) or _YEAR.fullmatch(text):
        return False
    letters = sum(map(str.isalpha, text))
    return letters <= 2 and len(text) <= 24 and any(map(str.isdigit, text))


def before_amount(text: str, amount: str) -> bool:
    """Return whether a cell is the sign of the next cell's amount: a currency, an opening bracket."""
    return bool(_SIGN.fullmatch(text)) and is_amount(amount)


def after_amount(amount: str, text: str) -> bool:
    """Return whether a cell is the sign of the amount before it: a closing bracket, a percent sign."""
    return bool(_AFTER.fullmatch(text)) and is_amount(amount)


def signed(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Join amounts with signs in columns of their own, and remove the leaders of labels."""
    out: list[Cell] = []
    for cell in cells:
        before = out[-1] if out else None
        if before and (before_amount(before.text, cell.text) or after_amount(before.text, cell.text)):
            out[-1] = Cell(before.left, cell.right, f"{before.text}{cell.text}")
            continue
        text = _LEADER.sub("", cell.text)
        if text:
            out.append(replace(cell, text=text))
    for n, cell in enumerate(out):
        if is_amount(cell.text):
            out[n] = replace(cell, text=_INSIDE.sub("", cell.text))
    return tuple(out)


def columns_of(rows: Sequence[Rowed]) -> list[Cell]:
    """Return the columns of rows, from left to right.

    The rows with the most cells define the columns. In other rows with amounts, a cell outside all of these
    columns is one more column.
    """
    most = max(len(row.cells) for row in rows)
    wide = [row for row in rows if len(row.cells) >= max(2, most - 1)]
    cells: list[Cell] = []
    for row in wide:
        cells += _plain(row, wide[:_MOST_COMPARED])
    columns = _joined(cells)
    more: list[Cell] = []
    for row in rows:
        for cell in row.cells:
            if row.has_amount and not _over(cell, columns):
                more.append(cell)
    return _joined([*columns, *more])


def _plain(row: Rowed, rows: Sequence[Rowed]) -> list[Cell]:
    """Return the cells of a row that overlap at most one cell of every other row."""
    spanning: set[Cell] = set()
    for other in rows:
        if other is row:
            continue
        for cell in row.cells:
            if len(_over(cell, other.cells)) > 1:
                spanning.add(cell)
    return [cell for cell in row.cells if cell not in spanning]


def _joined(cells: Iterable[Cell]) -> list[Cell]:
    columns: list[Cell] = []
    for cell in sorted(cells, key=lambda c: c.left):
        if columns and cell.left < columns[-1].right - _TOUCH:
            columns[-1] = replace(columns[-1], right=max(columns[-1].right, cell.right))
        else:
            columns.append(replace(cell, text=""))
    return columns


def place(row: Rowed, columns: Sequence[Cell], *, spans: bool) -> list[str]:
    """Return the text of each column in a row; if `spans`, a cell over several columns is in each of them."""
    texts = [""] * len(columns)
    taken = [_over(cell, columns) for cell in row.cells]
    for n, cell in enumerate(row.cells):
        own = taken[n]
        if spans and (n or len(row.cells) == 1 or len(own) > 1 or (own and own[0])):
            others = set(chain(*taken[:n], *taken[n + 1 :]))
            own = _spanned(cell, columns, own, others)
        elif len(own) != 1:
            own = [_best(cell, columns, own or range(len(columns)))]
        for column in own:
            texts[column] = f"{texts[column]} {cell.text}".strip()
    return texts


def _best(cell: Cell, columns: Sequence[Cell], among: Iterable[int]) -> int:
    """Return the column that shares the most width with a cell."""
    return max(among, key=lambda n: _shared(cell, columns[n]))


def _over(cell: Cell, columns: Sequence[Cell]) -> list[int]:
    """Return the indexes of the columns that a cell overlaps."""
    return [n for n, column in enumerate(columns) if cell.over(column)]


def _shared(cell: Cell, column: Cell) -> float:
    return min(cell.right, column.right) - max(cell.left, column.left)


def _spanned(cell: Cell, columns: Sequence[Cell], own: Sequence[int], others: set[int]) -> list[int]:
    """Return the columns of a head: those it overlaps, and a neighbour that it reaches out to.

    A head over many columns may overlap only those in their middle: its own middle is then theirs.
    """
    if len(own) == 1:
        return _reached(cell, columns, own[0], others)
    middle = (cell.left + cell.right) / 2
    ranges: list[tuple[float, int, int]] = []
    for first in range(1, len(columns)):
        for last in range(first + 1, len(columns)):
            inside = not own or first <= min(own) <= max(own) <= last
            if inside and others.isdisjoint(range(first, last + 1)):
                distance = abs((columns[first].left + columns[last].right) / 2 - middle)
                ranges.append((distance, first, last))
    if not ranges:
        return list(own) or [_best(cell, columns, range(len(columns)))]
    _, first, last = min(ranges)
    return list(range(first, last + 1))


def _reached(cell: Cell, columns: Sequence[Cell], at: int, others: set[int]) -> list[int]:
    """Return the column of a head, and the free neighbour that the head reaches out to."""
    out = _OUT * (cell.right - cell.left)
    if cell.right > columns[at].right + out and at + 1 < len(columns) and at + 1 not in others:
        return [at, at + 1]
    if cell.left < columns[at].left - out and at > 1 and at - 1 not in others:
        return [at - 1, at]
    return [at]


def head_count(rows: Sequence[Rowed]) -> int:
    """Return how many of the first rows name the columns of a table of amounts."""
    count = 0
    for row in rows[:_MOST_HEADS]:
        label = len(row.cells) == 1 and row.cells[0].left <= rows[-1].cells[0].left + _ALIGNED
        if not row.names or (count and label):
            break
        count += 1
    return count


def joined_heads(rows: Sequence[Sequence[str]]) -> list[str]:
    """Join lines of heads into one; a text repeated from the line above occurs once."""
    return [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows, strict=True)]


def lined_up(cells: Sequence[Cell], within: float = _ALIGNED) -> bool:
    """Return whether cells line up: by their left sides, their right sides or their middles."""
    lefts: list[float] = []
    rights: list[float] = []
    middles: list[float] = []
    for cell in cells:
        lefts.append(cell.left)
        rights.append(cell.right)
        middles.append((cell.left + cell.right) / 2)
    return _agree(lefts, within) or _agree(rights, within) or _agree(middles, within)


def _agree(sides: Sequence[float], within: float) -> bool:
    """Return whether most sides are near their median."""
    middle = median(sides)
    near = 0
    for side in sides:
        near += abs(side - middle) <= within
    return near >= _LINED_UP * len(sides)


def mean_length(cells: Sequence[Cell]) -> float:
    """Return the mean number of characters of cells."""
    return mean(len(c.text) for c in cells) if cells else 0.0
