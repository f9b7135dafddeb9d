"""CSV and TSV: one table; the header line is repeated with every group of rows an item holds."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ragweave.corpora.blocks import Block, Lines, Parsed
from ragweave.corpora.decode import read_text
from ragweave.corpora.formats.merged import MAX_COLUMNS, YEAR, TableRow, joined, parted

_DELIMITERS = ";,\t|"
"""Where two part a table as evenly, the comma is that of its decimals."""
_STATED = re.compile(r"\ufeff?sep=([,;\t|])\r?\n", re.I)
"""The delimiter as Excel states it in a line of its own."""
_SNIFFED = 20
"""Lines that are looked at to tell the delimiter."""
_TALL = 50
"""Lines that a row may span if it has not as many cells as most."""
LONGEST_CELL = 16 * 1024 * 1024
"""Characters of a cell."""
_TRIES = 3
"""Quotes that are not closed, after each of which a long cell was looked for: each look reads the rest of the file."""
_FIGURES = 0.8
"""Share of the cells of a column that hold digits, from which it is one of figures."""
_FEWEST, _ALIKE = 3, 0.8
"""Lines inside a cell, and the share of them that are whole rows, from which a stray quote has swallowed them."""


def parse(path: Path) -> Parsed:
    """Read a table; the delimiter is the one that parts the first lines most evenly.

    What stands above its heads, a title or a remark, is told as a line of text.
    """
    text = read_text(path)
    if stated := _STATED.match(text):
        text = "\n" + text[stated.end() :]  # the lines keep their numbers
    said, lines = Lines(), Lines()
    warnings: list[str] = []
    rows: list[list[str]] = []
    ended: list[Block] = []
    mark = stated[1] if stated else delimiter(text)
    first = list(islice(_rows(text, mark, []), _SNIFFED))
    wide = most([len(row.cells) for row in first])
    heads = _short_heads(first, wide)
    padded = [row._replace(cells=_unpadded(row.cells)) for row in first]
    top = {row.line for row in padded[: above(padded)]} - heads.keys()
    for (row, line, *_), anew in parted(_rows(text, mark, warnings, wide)):
        if not rows and (line in top or (len(row) != wide and line <= _SNIFFED)):
            if line not in heads:
                said.add(f"{mark} ".join(_unpadded(row)), line)
                continue
            row = heads[line]
            if row[-1]:
                warnings.append(
                    f"line {line} has a cell less than the rows below; their first is read without a head"
                )
        if anew and rows:
            ended.append(lines.block("table", level=1 if has_header(rows) else 0))
            lines, rows = Lines(), []
        if len(rows) < 3:
            rows.append(row)
        lines.add(joined(row), line)
    told = (said.block("text"), *ended, lines.block("table", level=1 if has_header(rows) else 0))
    return Parsed(blocks=tuple(b for b in told if b.text), warnings=tuple(warnings))


def _unpadded(cells: list[str]) -> list[str]:
    """Return cells without the empty ones at their end: a program pads a title to the width of the table below."""
    end = max((n + 1 for n, cell in enumerate(cells) if cell), default=0)
    return cells[:end]


def delimiter(text: str) -> str:
    """Return the delimiter of a table: the one with the most, and equally many, uses in its first lines."""
    sample = [line for line in text.split("\n", _SNIFFED)[:_SNIFFED] if line.strip()]

    def evenness(mark: str) -> tuple[float, int]:
        counts = Counter(line.count(mark) for line in sample)
        often = max((n for uses, n in counts.items() if uses), default=0)
        return often / (len(sample) or 1), max(counts, default=0)

    best = max(_DELIMITERS, key=evenness)
    return best if evenness(best)[1] else ","


def _short_heads(rows: Sequence[TableRow], wide: int) -> dict[int, list[str]]:
    """Return heads that are one cell short of the rows below, by their line, with an empty one in its place.

    The first column has none, as R writes tables, or the last where it is empty; of words over words it is
    not sure.
    """
    at = next((n for n, row in enumerate(rows) if len(row.cells) == wide), 0)
    if not at or not 2 < wide == len(rows[at - 1].cells) + 1:
        return {}
    body, row = [row.cells for row in rows[at:] if len(row.cells) == wide], rows[at - 1]
    ended = not any(cells[-1] for cells in body)
    heads = [*row.cells, ""] if ended else ["", *row.cells]
    return (
        {row.line: heads} if has_header([heads, *body]) and (ended or any(map(_is_number, body[0]))) else {}
    )


def most(counts: Sequence[int]) -> int:
    """Return the count that most rows have, of several the highest."""
    held = Counter(counts)
    return max(held, key=lambda n: (held[n], n), default=0)


def above(rows: Sequence[TableRow]) -> int:
    """Return how many rows stand above the heads, a title or a date: they hold less than most of the first rows do."""
    wide = most([len(row.cells) for row in rows])
    least = min(2, most([_filled(row) for row in rows])) if wide > 2 else 1

    def is_above(row: TableRow) -> bool:
        held = _filled(row)
        return held < least or (len(row.cells) < wide and (2 * held <= wide or row.cells[0].endswith(":")))

    first = next((n for n, row in enumerate(rows) if not is_above(row)), 0)
    return max(first, _heads_at(rows, wide))


def _filled(row: TableRow) -> int:
    return sum(map(bool, row.cells))


def _heads_at(rows: Sequence[TableRow], wide: int) -> int:
    """Return which row is certain to be the heads, 0 where none is: words over all columns, figures below.

    All rows before it fill fewer columns.
    """
    for n, row in enumerate(rows[:-1]):
        below = rows[n + 1 :]
        if len(row.cells) == wide and all(row.cells):
            if any(_filled(r) >= wide for r in rows[:n]):
                return 0
            if wide < 2 or not n or len(set(row.cells)) < wide or any(map(_has_digit, row.cells)):
                return 0
            columns = ([r.cells[c] for r in below if len(r.cells) > c and r.cells[c]] for c in range(wide))
            figures = (sum(map(_has_digit, cells)) >= _FIGURES * max(len(cells), 1) for cells in columns)
            return n if any(figures) else 0
    return 0


def _has_digit(cell: str) -> bool:
    return any(map(str.isdigit, cell))


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first of some rows names the columns: every column once, none by a number.

    A year names a column after the first that holds other figures.
    """
    if len(rows) < 2:
        return False
    first = [cell for cell in rows[0] if cell]
    named = all(not _is_number(cell) or (n and _is_year(rows, n)) for n, cell in enumerate(rows[0]))
    return bool(first) and len(set(first)) == len(first) and named


def _is_year(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Tell whether a column begins with a year, and no other cell of it is one."""
    first, *others = (row[column] for row in rows if len(row) > column)
    return bool(YEAR.fullmatch(first)) and not any(map(YEAR.fullmatch, others))


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", ".").rstrip("%"))
    except ValueError:
        return False
    return True


def _rows(text: str, mark: str, warnings: list[str], usual: int = 0) -> Iterator[TableRow]:
    """Yield rows that hold anything, each with its line; a cell's own line breaks become spaces.

    A line whose quote swallows the rows after it is read as it stands; `usual` is how many cells most rows
    have.
    """
    lines = text.removesuffix("\n").split("\n")
    wide = apart = False

    def after(line: int) -> Any:
        return csv.reader(
            (lines[n] + "\n" for n in range(line, len(lines))), delimiter=mark, skipinitialspace=True
        )

    at = first = 0
    tries = _TRIES
    reader = after(first)
    while at < len(lines):
        start = at
        try:
            row: list[str] = next(reader, [])
            at = first + reader.line_num
            stray = at - start > 1 or at == len(lines)
            stray = stray and _is_stray(row, lines[start:at], mark, usual)
        except csv.Error:  # a cell past the limit of the parser
            row, read = _long(after(start)) if tries else ([], 0)
            stray = not read or _is_stray(row, lines[start : start + read], mark, usual)
            tries -= stray and tries > 0
            if not stray:
                at = first = start + read
                reader = after(first)
        if stray:
            if '"' in lines[start]:
                warnings.append(f"line {start + 1} has a quote that is not closed, and was read as it stands")
            at = first = start + 1
            reader = after(first)
            row = [_unquoted(cell.strip()) for cell in lines[start].split(mark)]
        wide = wide or len(row) > MAX_COLUMNS
        cells = [" ".join(cell.split()) for cell in row[:MAX_COLUMNS]]
        if any(cells):
            yield TableRow(cells, start + 1, apart=apart)
        apart = not any(cells)
    if wide:
        warnings.append(f"only the first {MAX_COLUMNS} columns were read")
    del warnings[10:]


def _long(reader: Any) -> tuple[list[str], int]:
    """Return the next row, whose cells may be long, and its lines; none where a cell is past even that limit."""
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        row: list[str] = next(reader, [])
        return row, reader.line_num
    except csv.Error:
        return [], 0
    finally:
        csv.field_size_limit(before)


def _is_stray(row: list[str], lines: Sequence[str], mark: str, usual: int) -> bool:
    """Tell a row made of several rows by a stray quote from one whose cells have lines of their own."""
    if row and row[-1].endswith("\n"):
        return True  # the end came before the closing quote
    if len(lines) == 1:
        return False
    try:
        next(csv.reader([line + "\n" for line in lines], delimiter=mark, skipinitialspace=True, strict=True))
    except csv.Error:
        return True  # what closes the cell is followed by more of it
    if len(lines) > _TALL and usual and len(row) != usual:
        return True
    inner = lines[1:-1]
    alike = sum(line.count(mark) == usual - 1 for line in inner)
    return usual > 1 and len(inner) >= _FEWEST and alike >= _ALIKE * len(inner)


def _unquoted(cell: str) -> str:
    return cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell
