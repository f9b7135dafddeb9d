"""Tables with cells that span rows and columns: each cell laid out under its head, each row readable for itself.

What a cell says is repeated in the rows that it covers; a number only in the first column, where it names the
rows: anywhere else it would be added up once for each of them. Heads are repeated over the columns that they
span, and so are texts, but for one that begins a row and names it (`Total`). Heads of two lines become one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from ragweave.corpora.blocks import Block, Lines

Cell = tuple[str, int, int]
"""A text, and how many rows and columns it spans."""

MAX_COLUMNS = 500
MAX_REPEATED = 2_000_000
"""Characters that all repeated cells of a file may take; beyond, cells stay where they are written."""
_MOST_HEADS = 3
"""Lines of heads that are joined; of more, they are the table."""
TOP = 20
"""Rows that are looked at for what stands above the heads, and for these."""
_BAR = re.compile(r"(?:^|(?<=\s))\|(?=\s|$)")
YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_SPACES = re.compile("[\u00a0\u2007\u2009\u202f]")
_AMOUNT = (
    r"(?:\d{1,3}(?:[ '’.,]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?|[.,]\d+)(?:(?<=\d)[.,][-–—−]{1,2}(?![\w-]))?"
)
_CURRENCY = (
    r"[€$£¥]|(?:eur|euros?|usd|dollars?|gbp|pounds?|jpy|yen|cny|yuan|rmb|chf|fr|sfr|kr|sek|nok|dkk"
    r"|cents?|ct)\b\.?"
)
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*[-−–]?\s*(?P<before>{_CURRENCY})?\s*[-−]?\s*{_AMOUNT}\s*"
    r"(?P<after>%|‰|°\s?[CF]?|[€$£¥]|[^\W\d_][\w²³/.]*(?:\s[^\W\d_][\w²³/.]*)?)?\s*(?P<close>\))?",
    re.I,
)


class TableRow(NamedTuple):
    """A row that is laid out: its cells, the line of the file they stand on, or 0, and whether all are marked heads.

    `apart` says that an empty row stands above it.
    """

    cells: list[str]
    line: int = 0
    heads: bool = False
    apart: bool = False


class MergedTable:
    """Lays out the rows of one table after another."""

    def __init__(self) -> None:
        self._left = MAX_REPEATED
        self.begin()

    def begin(self) -> None:
        """Begin a table."""
        self._open: dict[int, tuple[str, int]] = {}
        """By column: what a cell above says here, and in how many rows still."""
        self._wide = 1
        """Columns that the widest row so far fills."""
        self._over: set[int] = set()
        """Columns under a head that spans several."""

    def close(self) -> None:
        """End what spans rows, as at the end of a group of rows."""
        self._open = {}

    def row(self, cells: Sequence[Cell], *, heads: bool = False, every: bool = False) -> list[str]:
        """Return the texts of a row, one for each column.

        `heads` says that the row names columns, as one that is wider than those above it does in any case;
        `every` that there is a cell for every column: one that another covers is empty.
        """
        if (
            not self._open
            and len(cells) <= self._wide
            and all(down == across == 1 for _, down, across in cells)
        ):
            return [text for text, _, _ in cells]
        if self._left < 0:
            self.close()
            return [text for text, _, _ in cells]
        columns = sum(across for text, _, across in cells if text) + sum(
            1 for said, _ in self._open.values() if said
        )
        stated, heads = heads, heads or (columns > self._wide and not self._over)
        placed: dict[int, str] = {}
        over: set[int] = set()
        above, self._open = (
            self._open,
            {c: (said, more - 1) for c, (said, more) in self._open.items() if more > 1},
        )
        told = [across for text, _, across in cells if text or not every]
        alone = len(told) == 1 and told[0] > 1 and not any(said for said, _ in above.values())
        at = 0
        for n, (text, down, across) in enumerate(cells):
            if every:
                at = n
                if not text and (n in placed or n in above):
                    continue
                down, across = (down, across) if text else (1, 1)
            while not every and (at in placed or at in above):
                at += 1
            # What stands alone in its row is a title, or names the rows below it, and no cell of these
            # columns.
            wide = 1 if alone and (not at or not heads) else min(across, MAX_COLUMNS - at)
            counts = not stated and not (is_name(text) if heads else not _is_number(text))
            beside = "" if counts or not (heads or at) else text
            below = "" if counts and at else text
            placed[at] = text
            for column in range(at + 1, at + wide):
                if self._pays(beside):
                    placed.setdefault(column, beside)
                    over.add(column)
            for column in range(at, at + wide if down > 1 else at):
                self._open[column] = (below if column == at else beside and below, down - 1)
            over |= {at} if wide > 1 else set()
        for column, (said, _) in above.items():
            if column not in placed and self._pays(said):
                placed[column] = said
        if sum(map(bool, placed.values())) > 1:
            self._wide = max(self._wide, columns)
            self._over = over if heads and not self._over else self._over
        end = max((c for c in placed if placed[c] or not alone), default=-1) + 1
        return [placed.get(column, "") for column in range(end)]

    def blocks(self, rows: Iterable[TableRow], heads: Callable[[Sequence[TableRow]], int]) -> list[Block]:
        """Return a table of laid out rows, what stands above its heads as text.

        `heads` tells of the first rows below that how many are heads.
        """
        after = iter(rows)
        first = list(islice(after, TOP))
        above, table = Lines(), Lines()
        while first and _is_title(first):
            above.add(next(filter(None, first[0].cells)), first[0].line)
            del first[0]
        count = heads(first)
        if count < 2 and self._has_two(first):
            count = 2
        if 2 <= count <= min(_MOST_HEADS, len(first) - 1):
            first[:count] = [TableRow(_joined([row.cells for row in first[:count]]), first[0].line)]
            count = 1
        told = [above.block("text")]
        for row, anew in parted(chain(first, after)):
            if anew:
                told.append(table.block("table", count))
                table, count = Lines(), 1
            table.add(joined(row.cells), row.line)
        return [b for b in (*told, table.block("table", count)) if b.text]

    def _has_two(self, rows: Sequence[TableRow]) -> bool:
        """Tell whether the second row only names the columns under those heads of the first that span several."""
        if len(rows) < 3 or not self._over:
            return False
        first, second = rows[0].cells, rows[1].cells
        if not all(any(second[c : c + 1]) for c in self._over):
            return False
        apart = [c in self._over or not any(first[c : c + 1]) for c in range(len(second))]
        return all(
            is_name(s) if new else s in ("", first[c])
            for c, (s, new) in enumerate(zip(second, apart, strict=True))
        )

    def _pays(self, text: str) -> bool:
        """Tell whether there is room for one more repeated cell, and take it."""
        self._left -= len(text) + 3
        return self._left >= 0


def joined(cells: Iterable[str]) -> str:
    """Return a row as it reads; what parts its cells stands in none of them."""
    return " | ".join(_BAR.sub("/", cell) for cell in cells)


def parted(rows: Iterable[TableRow]) -> Iterator[tuple[TableRow, bool]]:
    """Yield rows, each with whether it heads another table: below an empty line words over figures that go on below."""
    after = iter(rows)
    before, row = None, next(after, None)
    while row is not None:
        under = next(after, None)
        yield (
            row,
            bool(before and under and row.apart and not under.apart and _heads_anew(before, row, under)),
        )
        before, row = row, under


def _heads_anew(before: TableRow, row: TableRow, under: TableRow) -> bool:
    named = len(row.cells) > 1 and all(row.cells) and len(set(row.cells)) == len(row.cells)
    if not named or any(c.isdigit() for cell in row.cells for c in cell) or len(under.cells) > len(row.cells):
        return False
    return any(map(_is_number, before.cells[1:])) and any(map(_is_number, under.cells[1:]))


def spanned(said: str, least: int = 1) -> int:
    """Return how many rows or columns a cell says that it spans; the least, where it says nothing of use."""
    return min(max(least, int(said)), MAX_COLUMNS) if said.isdecimal() and len(said) < 9 else least


def first_row(rows: Sequence[TableRow]) -> int:
    """Say that the first row is heads, unless it is the only one."""
    return int(len(rows) > 1)


def _is_title(rows: Sequence[TableRow]) -> bool:
    """Tell whether the first row holds one text alone, over all columns of the row below it."""
    if len(rows) < 2:
        return False
    cells, under = rows[0].cells, rows[1].cells
    if len(cells) == 1:
        return any(len(row.cells) > 1 for row in rows[1:4])
    filled = [n for n, cell in enumerate(under) if cell]
    if not cells[0] and not under[0]:  # both leave the corner free: heads in two lines
        return False
    return (
        len(filled) > 1 and len(set(filter(None, cells))) == 1 and all(any(cells[n : n + 1]) for n in filled)
    )


def _joined(rows: Sequence[Sequence[str]]) -> list[str]:
    """Join rows of heads into one; what is repeated from the row above is said once.

    A year over seasons comes after them: `2023 Spring` would read as a number of springs.
    """
    out = []
    for column in range(max(map(len, rows))):
        parts = list(dict.fromkeys(filter(None, ("".join(row[column : column + 1]) for row in rows))))
        out.append(" ".join(parts[::-1] if _is_number(" ".join(parts)) else parts))
    return out


def _is_number(text: str) -> bool:
    """Tell whether a cell is a number, maybe in brackets, with a sign, a currency, a percent sign or a unit."""
    m = _NUMBER.fullmatch(_SPACES.sub(" ", text.strip()))
    return m is not None and bool(m["open"]) == bool(m["close"]) and not (m["before"] and m["after"])


def is_name(text: str) -> bool:
    """Tell whether a cell may name a column: it is no number, unless that is a year."""
    return not _is_number(text) or bool(YEAR.fullmatch(text))
