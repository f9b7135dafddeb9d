"""Excel: one table per sheet under the sheet's name; the header row is repeated with every group of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Block, Lines, Parsed
from ragweave.corpora.formats.csv import MAX_COLUMNS, has_header
from ragweave.corpora.formats.ooxml import core
from ragweave.models.errors import SourceError

MAX_ROWS = 200_000
"""Rows read from all sheets together."""
_CURRENCY = re.compile(r"\[\$([^\]-]{1,4})[\]-]|([€$£¥])(?![^\[]*\])")
"""How a number format states a currency: `[$€-407]`, or its sign."""


def parse(path: Path) -> Parsed:
    """Read a workbook (.xlsx): the values that formulas last had, dates in ISO form; lines are row numbers."""
    with Archive(path) as archive:
        archive.refuse_document_types()
        properties = core(archive)
    blocks: list[Block] = []
    warnings: list[str] = []
    left = MAX_ROWS
    for name, rows in _sheets(path):
        lines = Lines()
        first: list[list[str]] = []
        for number, row in rows:
            if left == 0:
                warnings.append(f"only the first {MAX_ROWS} rows were read")
                break
            left -= 1
            first += [row] if len(first) < 3 else []
            lines.add(" | ".join(row), number)
        if lines.count:
            blocks.append(Block(name, "heading", 1))
            blocks.append(lines.block("table", level=1 if has_header(first) else 0))
        if left == 0:
            break
    return Parsed(properties.title, tuple(blocks), properties.date, properties.author, warnings=tuple(warnings))


def _sheets(path: Path) -> Iterator[tuple[str, Iterator[tuple[int, list[str]]]]]:
    from openpyxl import load_workbook

    try:
        book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
    except Exception as exc:  # openpyxl lets whatever a broken part causes through
        raise _damaged(path) from exc
    try:
        for sheet in book.worksheets:
            yield str(sheet.title), _rows(sheet, path)
    finally:
        book.close()


def _rows(sheet: Any, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield (number, cells) of the rows of a sheet that hold anything, without empty cells at their end."""
    # A sheet may claim a million rows or columns that are not there.
    sheet.reset_dimensions()
    try:
        for number, row in enumerate(sheet.iter_rows(), 1):
            cells = [_cell(c.value, c) for c in row[:MAX_COLUMNS]]
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                yield number, cells
    except Exception as exc:  # openpyxl lets whatever a broken part causes through
        raise _damaged(path) from exc


def _cell(value: object, cell: Any) -> str:
    """Return a value as the sheet shows it: with its percent sign or currency, which only the number format holds."""
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, int | float) and not isinstance(value, bool):
        shown = str(cell.number_format)
        if shown.endswith("%"):
            return f"{value * 100:.10g}%"
        sign = _CURRENCY.search(shown)
        plain = str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else str(value)
        return f"{plain} {sign[1] or sign[2]}" if sign else plain
    return " ".join(str(value).split())


def _damaged(path: Path) -> SourceError:
    return SourceError(f"{path.name} is a damaged workbook", "open it in a spreadsheet program and save it again")
