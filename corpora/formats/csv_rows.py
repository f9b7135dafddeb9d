"""Read the rows of a delimited text, and recover from quotes that are not closed."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Any

from ragweave.corpora.formats.merged import MAX_COLUMNS, TableRow

_TALL = 50
"""Most lines of a row whose number of cells is unusual."""
LONGEST_CELL = 16 * 1024 * 1024
"""Most characters of a cell."""
_TRIES = 3
"""How often an unclosed quote may be tried as a long cell: each try reads the rest of the file."""
_FEWEST, _ALIKE = 3, 0.8
"""A quote is stray if it swallows this many lines and this share of them look like whole rows."""


def rows_of(text: str, mark: str, warnings: list[str], usual: int = 0) -> Iterator[TableRow]:
    """Yield the rows that are not empty, each with its line; line breaks inside a cell become spaces.

    If a quote swallows the rows after it, its line is read as it is written. `usual` is how many cells most
    rows have.
    """
    reader = _RowReader(text, mark, usual, warnings)
    is_wide = apart = False
    while reader.has_more():
        start = reader.at
        row = reader.next_row()
        is_wide = is_wide or len(row) > MAX_COLUMNS
        cells = [" ".join(cell.split()) for cell in row[:MAX_COLUMNS]]
        filled = any(cells)
        if filled:
            yield TableRow(cells, start + 1, apart=apart)
        apart = not filled
    if is_wide:
        warnings.append(f"only the first {MAX_COLUMNS} columns were read")
    del warnings[10:]


class _RowReader:
    """Reads row after row with the parser of the standard library, and recovers from stray quotes."""

    def __init__(self, text: str, mark: str, usual: int, warnings: list[str]) -> None:
        self.at = 0
        """The line of the next row, counted from 0."""
        self._lines = text.removesuffix("\n").split("\n")
        self._mark = mark
        self._usual = usual
        self._warnings = warnings
        self._tries = _TRIES
        self._restart(0)

    def has_more(self) -> bool:
        return self.at < len(self._lines)

    def next_row(self) -> list[str]:
        start = self.at
        try:
            row: list[str] = next(self._reader, [])
        except csv.Error:  # a cell past the limit of the parser
            return self._long_row(start)
        self.at = self._first + self._reader.line_num
        spans_lines = self.at - start > 1 or not self.has_more()
        if spans_lines and self._is_stray(row, start, self.at):
            return self._as_written(start)
        return row

    def _long_row(self, start: int) -> list[str]:
        """Return a row with a very long cell, or its first line as it is written if its quote is stray."""
        if self._tries:
            row, count = _long(self._after(start))
            if count and not self._is_stray(row, start, start + count):
                self._restart(start + count)
                return row
            self._tries -= 1
        return self._as_written(start)

    def _as_written(self, start: int) -> list[str]:
        line = self._lines[start]
        if '"' in line:
            self._warnings.append(
                f"line {start + 1} has a quote that is not closed, and was read as it stands"
            )
        self._restart(start + 1)
        return [_unquoted(cell.strip()) for cell in line.split(self._mark)]

    def _is_stray(self, row: list[str], start: int, end: int) -> bool:
        return _is_stray(row, self._lines[start:end], self._mark, self._usual)

    def _restart(self, line: int) -> None:
        self.at = self._first = line
        self._reader = self._after(line)

    def _after(self, line: int) -> Any:
        rest = (self._lines[n] + "\n" for n in range(line, len(self._lines)))
        return csv.reader(rest, delimiter=self._mark, skipinitialspace=True)


def _long(reader: Any) -> tuple[list[str], int]:
    """Return the next row, which may have long cells, and its number of lines; 0 if a cell is too long."""
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        row: list[str] = next(reader, [])
        return row, reader.line_num
    except csv.Error:
        return [], 0
    finally:
        csv.field_size_limit(before)


def _is_stray(row: list[str], lines: Sequence[str], mark: str, usual: int) -> bool:
    """Return whether a stray quote joined several rows, as opposed to a cell with line breaks."""
    if row and row[-1].endswith("\n"):
        return True  # the file ended before the closing quote
    if len(lines) == 1:
        return False
    try:
        ended = [line + "\n" for line in lines]
        next(csv.reader(ended, delimiter=mark, skipinitialspace=True, strict=True))
    except csv.Error:
        return True  # text follows the closing quote
    if len(lines) > _TALL and usual and len(row) != usual:
        return True
    inner = lines[1:-1]
    alike = 0
    for line in inner:
        alike += line.count(mark) == usual - 1
    return usual > 1 and len(inner) >= _FEWEST and alike >= _ALIKE * len(inner)


def _unquoted(cell: str) -> str:
    return cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell
