"""Columns of the tables on pages: where they stand, which cells lie in them, and which of their rows are heads.

A cell that lies over two cells of another row spans their columns. All others that overlap make one column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
"""Rows that tell which cells span columns."""
_ALIGNED = 2.5
"""Points that the sides of texts under each other may differ by."""
_LINED_UP = 0.7
"""Share of the cells of a column that line up."""
_OUT = 0.15
"""Share of its width by which a head reaches out of a column when it stands over the next as well."""
_TOUCH = 0.5
"""Points from which two cells overlap."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: from where to where it reaches on its line, and its text."""

    left: float
    right: float
    text: str

    def over(self, other: Cell) -> bool:
        """Tell whether two cells overlap."""
        return self.left < other.right - _TOUCH and other.left < self.right - _TOUCH


@dataclass(frozen=True, slots=True)
class Rowed:
    """What stands on one line of a page: its cells, and the lines that it was made of, by number."""

    cells: tuple[Cell, ...]
    first: int
    last: int
    page: int
    base: float
    size: float
    bbox: Box

    @property
    def has_amount(self) -> bool:
        """Tell whether a cell behind the first is an amount."""
        return any(is_amount(c.text) for c in self.cells[1:])

    @property
    def names(self) -> bool:
        """Tell whether its cells name columns: none is an amount."""
        return not any(is_amount(c.text) for c in self.cells)


def is_amount(text: str) -> bool:
    """Tell whether a cell is a number, maybe in brackets, with signs and a short unit, or a dash; a year is none."""
    if _DASHES.fullmatch(text):
        return True
    if _NAMED.match(text) or _YEAR.fullmatch(text):
        return False
    letters = sum(map(str.isalpha, text))
    return letters <= 2 and len(text) <= 24 and any(map(str.isdigit, text))


def before_amount(text: str, amount: str) -> bool:
    """Tell whether a cell is the sign of the amount in the next: a currency, a bracket that opens."""
    return bool(_SIGN.fullmatch(text)) and is_amount(amount)


def after_amount(amount: str, text: str) -> bool:
    """Tell whether a cell is the sign of the amount before it: a bracket that closes, a percent sign."""
    return bool(_AFTER.fullmatch(text)) and is_amount(amount)


def signed(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Join signs that stand in columns of their own with their amounts, and take leaders off labels."""
    out: list[Cell] = []
    for cell in cells:
        before = out[-1] if out else None
        if before and before_amount(before.text, cell.text):
            out[-1] = Cell(before.left, cell.right, f"{before.text}{cell.text}")
        elif before and after_amount(before.text, cell.text):
            out[-1] = Cell(before.left, cell.right, f"{before.text}{cell.text}")
        elif text := _LEADER.sub("", cell.text):
            out.append(replace(cell, text=text))
    return tuple(replace(c, text=_INSIDE.sub("", c.text)) if is_amount(c.text) else c for c in out)


def columns_of(rows: Sequence[Rowed]) -> list[Cell]:
    """Return where the columns of rows stand, from left to right.

    The rows with the most cells tell; of the others with amounts, what stands in none of their columns is one
    more.
    """
    most = max(len(r.cells) for r in rows)
    wide = [r for r in rows if len(r.cells) >= max(2, most - 1)]
    columns = _joined([c for r in wide for c in _plain(r, wide[:_MOST_COMPARED])])
    more = [c for r in rows if r.has_amount for c in r.cells if not any(map(c.over, columns))]
    return _joined([*columns, *more])


def _plain(row: Rowed, rows: Sequence[Rowed]) -> list[Cell]:
    """Return the cells of a row that lie over no two cells of another."""
    return [c for c in row.cells if not any(sum(map(c.over, r.cells)) > 1 for r in rows if r is not row)]


def _joined(cells: Iterable[Cell]) -> list[Cell]:
    columns: list[Cell] = []
    for cell in sorted(cells, key=lambda c: c.left):
        if columns and cell.left < columns[-1].right - _TOUCH:
            columns[-1] = replace(columns[-1], right=max(columns[-1].right, cell.right))
        else:
            columns.append(replace(cell, text=""))
    return columns


def place(row: Rowed, columns: Sequence[Cell], *, spans: bool) -> list[str]:
    """Return the text of each column in a row; what spans columns is said in each of them where the row `spans`."""
    texts = [""] * len(columns)
    taken = [_over(c, columns) for c in row.cells]
    for n, cell in enumerate(row.cells):
        own = taken[n]
        if spans and (n or len(row.cells) == 1 or len(own) > 1 or (own and own[0])):
            others = {c for m, over in enumerate(taken) if m != n for c in over}
            own = _spanned(cell, columns, own, others)
        elif len(own) != 1:
            own = [max(own or range(len(columns)), key=lambda c: _shared(cell, columns[c]))]
        for c in own:
            texts[c] = f"{texts[c]} {cell.text}".strip()
    return texts


def _over(cell: Cell, columns: Sequence[Cell]) -> list[int]:
    return [n for n, column in enumerate(columns) if cell.over(column)]


def _shared(cell: Cell, column: Cell) -> float:
    return min(cell.right, column.right) - max(cell.left, column.left)


def _spanned(cell: Cell, columns: Sequence[Cell], own: Sequence[int], others: set[int]) -> list[int]:
    """Return the columns that a head stands over: those it lies over, and one beside that it reaches out to.

    A head over many columns may lie over those in their middle alone: its own middle is theirs.
    """
    if len(own) == 1:
        [at] = own
        out = _OUT * (cell.right - cell.left)
        if cell.right > columns[at].right + out and at + 1 < len(columns) and at + 1 not in others:
            return [at, at + 1]
        return (
            [at - 1, at] if cell.left < columns[at].left - out and at > 1 and at - 1 not in others else [at]
        )
    middle = (cell.left + cell.right) / 2
    ranges = [
        (abs((columns[a].left + columns[b].right) / 2 - middle), a, b)
        for a in range(1, len(columns))
        for b in range(a + 1, len(columns))
        if all(a <= c <= b for c in own) and others.isdisjoint(range(a, b + 1))
    ]
    if not ranges:
        return list(own) or [max(range(len(columns)), key=lambda c: _shared(cell, columns[c]))]
    _, a, b = min(ranges)
    return list(range(a, b + 1))


def head_count(rows: Sequence[Rowed]) -> int:
    """Return how many of the first rows name the columns of a table of amounts."""
    count = 0
    for row in rows[:_MOST_HEADS]:
        if not row.names or (
            len(row.cells) == 1 and count and row.cells[0].left <= rows[-1].cells[0].left + _ALIGNED
        ):
            break
        count += 1
    return count


def joined_heads(rows: Sequence[Sequence[str]]) -> list[str]:
    """Join lines of heads into one; what is repeated from the line above is said once."""
    return [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows, strict=True)]


def lined_up(cells: Sequence[Cell], within: float = _ALIGNED) -> bool:
    """Tell whether cells stand under each other: by their left or right sides, or their middles."""
    for sides in ([c.left for c in cells], [c.right for c in cells], [(c.left + c.right) / 2 for c in cells]):
        middle = median(sides)
        if sum(abs(p - middle) <= within for p in sides) >= _LINED_UP * len(sides):
            return True
    return False


def mean_length(cells: Sequence[Cell]) -> float:
    """Return how many characters cells have by their mean."""
    return mean(len(c.text) for c in cells) if cells else 0.0
