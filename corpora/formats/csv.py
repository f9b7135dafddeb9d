"""Read CSV and TSV files as one table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from ragweave.corpora.blocks import Block, Lines, Parsed
from ragweave.corpora.decode import read_text
from ragweave.corpora.formats.cell_numbers import YEAR
from ragweave.corpora.formats.csv_rows import rows_of
from ragweave.corpora.formats.merged import TableRow, joined, parted

_DELIMITERS = ";,\t|"
"""In order of preference: if a comma divides the lines no better than another sign, it marks decimals."""
_STATED = re.compile(r"\ufeff?sep=([,;\t|])\r?\n", re.I)
"""The delimiter as Excel states it in a line of its own."""
_SNIFFED = 20
"""Lines at the top of a file from which the delimiter and the headers are found."""
_FIGURES = 0.8
"""A column with this share of cells that hold digits is a column of figures."""


def parse(path: Path) -> Parsed:
    """Read a table; its delimiter is the sign that divides the first lines most evenly.

    A title or remark above the headers becomes a line of text.
    """
    text = read_text(path)
    stated = _STATED.match(text)
    if stated:
        text = "\n" + text[stated.end() :]  # the lines keep their numbers
        mark = stated[1]
    else:
        mark = delimiter(text)
    first = list(islice(rows_of(text, mark, []), _SNIFFED))
    return _Table(mark, first).read(text)


class _Table:
    """Splits the rows of a file into the lines above the headers and one or more tables."""

    def __init__(self, mark: str, first: Sequence[TableRow]) -> None:
        self._mark = mark
        self._wide = most([len(row.cells) for row in first])
        self._short_heads = _short_heads(first, self._wide)
        self._top = _lines_above(first) - self._short_heads.keys()
        """Lines above the headers."""
        self._titles = Lines()
        self._ended: list[Block] = []
        self._lines = Lines()
        self._samples: list[Sequence[str]] = []
        """The first rows of the open table."""

    def read(self, text: str) -> Parsed:
        warnings: list[str] = []
        for (cells, line, *_), starts_table in parted(rows_of(text, self._mark, warnings, self._wide)):
            if not self._samples and self._is_above(cells, line):
                if line not in self._short_heads:
                    self._titles.add(f"{self._mark} ".join(_unpadded(cells)), line)
                    continue
                cells = self._short_heads[line]
                if cells[-1]:
                    warnings.append(
                        f"line {line} has a cell less than the rows below; their first is read without a head"
                    )
            if starts_table and self._samples:
                self._end_table()
            if len(self._samples) < 3:
                self._samples.append(cells)
            self._lines.add(joined(cells), line)
        self._end_table()
        blocks = self._ended
        titles = self._titles.block("text")
        if titles.text:
            blocks = [titles, *blocks]
        return Parsed(blocks=tuple(blocks), warnings=tuple(warnings))

    def _is_above(self, cells: Sequence[str], line: int) -> bool:
        return line in self._top or (len(cells) != self._wide and line <= _SNIFFED)

    def _end_table(self) -> None:
        level = int(has_header(self._samples))
        table = self._lines.block("table", level=level)
        if table.text:
            self._ended.append(table)
        self._lines, self._samples = Lines(), []


def _lines_above(first: Sequence[TableRow]) -> set[int]:
    """Return the lines of the rows that precede the headers."""
    padded = [row._replace(cells=_unpadded(row.cells)) for row in first]
    return {row.line for row in padded[: above(padded)]}


def _unpadded(cells: list[str]) -> list[str]:
    """Return cells without empty ones at their end: programs pad a title to the width of the table."""
    end = len(cells)
    while end and not cells[end - 1]:
        end -= 1
    return cells[:end]


def delimiter(text: str) -> str:
    """Return the sign that most of the first lines use equally often; of several, the most frequent."""
    lines = text.split("\n", _SNIFFED)[:_SNIFFED]
    sample = list(filter(str.strip, lines))
    best, best_score = ",", (0.0, 0)
    for mark in _DELIMITERS:
        score = _evenness(mark, sample)
        if score > best_score:
            best, best_score = mark, score
    return best if best_score[1] else ","


def _evenness(mark: str, sample: Sequence[str]) -> tuple[float, int]:
    """Return the share of lines that use a sign equally often, and the most uses in one line."""
    counts = Counter(line.count(mark) for line in sample)
    most_used = max(counts, default=0)
    del counts[0]
    alike = max(counts.values(), default=0)
    return alike / (len(sample) or 1), most_used


def _short_heads(rows: Sequence[TableRow], wide: int) -> dict[int, list[str]]:
    """Return the header row that is one cell short of the rows below it, filled up, by its line.

    The first column lacks its header, as in tables that R writes, or the last one if it is empty. A header
    over a first row of words alone is not certain, and is not returned.
    """
    at = 0
    while at < len(rows) and len(rows[at].cells) != wide:
        at += 1
    if at in (0, len(rows)):
        return {}
    head = rows[at - 1]
    if not 2 < wide == len(head.cells) + 1:
        return {}
    body: list[list[str]] = []
    lacks_last = True
    for row in rows[at:]:
        if len(row.cells) == wide:
            body.append(row.cells)
            lacks_last = lacks_last and not row.cells[-1]
    heads = [*head.cells, ""] if lacks_last else ["", *head.cells]
    certain = lacks_last or any(map(_is_number, body[0]))
    if certain and has_header([heads, *body]):
        return {head.line: heads}
    return {}


def most(counts: Sequence[int]) -> int:
    """Return the most frequent count, and the highest of several equally frequent ones."""
    frequency = Counter(counts)
    return max(frequency, key=lambda count: (frequency[count], count), default=0)


def above(rows: Sequence[TableRow]) -> int:
    """Return how many rows precede the headers: titles or dates, with fewer cells than most rows."""
    wide = most([len(row.cells) for row in rows])
    least = min(2, most(list(map(_filled, rows)))) if wide > 2 else 1
    count = 0
    for row in rows:
        if not _is_above(row, wide, least):
            break
        count += 1
    if count == len(rows):
        count = 0
    return max(count, _heads_at(rows, wide))


def _is_above(row: TableRow, wide: int, least: int) -> bool:
    filled = _filled(row)
    if filled < least:
        return True
    if len(row.cells) >= wide:
        return False
    return 2 * filled <= wide or row.cells[0].endswith(":")


def _filled(row: TableRow) -> int:
    return sum(map(bool, row.cells))


def _heads_at(rows: Sequence[TableRow], wide: int) -> int:
    """Return the number of the row that is certain to be the header, 0 if none is.

    It has a word for each column and figures below them. All rows before it fill fewer columns.
    """
    for n, row in enumerate(rows[:-1]):
        if len(row.cells) != wide or not all(row.cells):
            continue
        if wide < 2 or n == 0 or len(set(row.cells)) < wide:
            return 0
        most_filled = max(map(_filled, rows[:n]))
        if most_filled >= wide or any(map(_has_digit, row.cells)):
            return 0
        for column in range(wide):
            if _is_of_figures(rows[n + 1 :], column):
                return n
        return 0
    return 0


def _is_of_figures(rows: Sequence[TableRow], column: int) -> bool:
    """Return whether most filled cells of a column hold digits."""
    filled = figures = 0
    for row in rows:
        if column < len(row.cells) and row.cells[column]:
            filled += 1
            figures += _has_digit(row.cells[column])
    return figures >= _FIGURES * max(filled, 1)


def _has_digit(cell: str) -> bool:
    return any(map(str.isdigit, cell))


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first of some rows names the columns: each column once, none by a number.

    A year may name a column other than the first if the column has other figures below it.
    """
    if len(rows) < 2:
        return False
    named: set[str] = set()
    for column, cell in enumerate(rows[0]):
        if _is_number(cell) and not (column and _is_year(rows, column)):
            return False
        if cell in named:
            return False
        if cell:
            named.add(cell)
    return bool(named)


def _is_year(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Return whether a column begins with a year and has no other."""
    first, *others = [row[column] for row in rows if len(row) > column]
    return bool(YEAR.fullmatch(first)) and not any(map(YEAR.fullmatch, others))


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", ".").rstrip("%"))
    except ValueError:
        return False
    return True
