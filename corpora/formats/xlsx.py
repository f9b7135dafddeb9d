"""Excel: one table per sheet under the sheet's name; the header row is repeated with every group of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import Any

from lxml import etree
from openpyxl import load_workbook
from openpyxl.utils import column_index_from_string as column

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Block, Lines, Parsed
from ragweave.corpora.formats.csv import has_header, most
from ragweave.corpora.formats.merged import MAX_COLUMNS, TOP, MergedTable, TableRow
from ragweave.corpora.formats.ooxml import core, signed
from ragweave.models.errors import SourceError

MAX_ROWS = 200_000
"""Rows read from all sheets together."""
_NAMED = 5
"""Hidden sheets that are named."""
Spans = dict[int, dict[int, tuple[int, int]]]
"""By row, 1-based, and column, 0-based: how many rows and columns a cell spans."""
_RANGE = re.compile(r"([A-Z]{1,3})([1-9]\d{0,6}):([A-Z]{1,3})([1-9]\d{0,6})")


def parse(path: Path) -> Parsed:
    """Read a workbook (.xlsx): the values that formulas last had, dates in ISO form; lines are row numbers.

    Hidden sheets are left out and named: what nobody sees supports no answer.
    """
    blocks: list[Block] = []
    warnings: list[str] = []
    unseen: list[str] = []
    count = bare = 0

    def counted(rows: Iterator[TableRow]) -> Iterator[TableRow]:
        nonlocal count
        for row in rows:
            if count == MAX_ROWS:
                warnings[:] = [f"only the first {MAX_ROWS} rows were read"]
                return
            count += 1
            yield row

    with Archive(path) as archive:
        archive.refuse_document_types()
        properties = core(archive)
        for sheet in _sheets(path):
            if sheet.sheet_state != "visible":
                unseen.append(str(sheet.title))
                continue
            merged = MergedTable()
            spans, without = _marks(archive, str(sheet._worksheet_path))
            bare += without
            rows = counted(_rows(sheet, spans, merged, path))
            blocks += sheet_blocks(str(sheet.title), rows, merged)
    if bare:
        have = "1 formula has" if bare == 1 else f"{bare:,} formulas have"
        warnings.append(f"{have} no stored value; open the workbook in a spreadsheet program and save it once")
    warnings += left_out(unseen)
    return replace(properties, blocks=tuple(blocks), language="", warnings=tuple(warnings), parted=True)


def sheet_blocks(name: str, rows: Iterator[TableRow], merged: MergedTable) -> list[Block]:
    """Return a sheet under its name: what stands above its heads as text, then its table; [] where it is empty."""
    first = list(islice(rows, TOP))
    top = above(first)
    title = Lines()
    for row in first[:top]:
        filled = list(dict.fromkeys(filter(None, row.cells)))
        title.add((" " if filled[0].endswith(":") else " | ").join(filled), row.line)
    told = [title.block("text"), *merged.blocks(chain(first[top:], rows), _heads)]
    return [Block(name, "heading", 1), *(b for b in told if b.text)] if first else []


def left_out(hidden: Sequence[str]) -> list[str]:
    """Return what is to be said of hidden sheets."""
    names = ", ".join(hidden[:_NAMED]) + (" ..." if len(hidden) > _NAMED else "")
    return [f"hidden sheets were left out: {names}; show them in a spreadsheet program"] if hidden else []


def above(rows: Sequence[TableRow]) -> int:
    """Return how many rows stand above the heads, a title or a date: they hold less than most of the first rows do."""
    wide = most([len(row.cells) for row in rows])
    least = min(2, most([_filled(row) for row in rows])) if wide > 2 else 1

    def is_above(row: TableRow) -> bool:
        held = _filled(row)
        return held < least or (len(row.cells) < wide and (2 * held <= wide or row.cells[0].endswith(":")))

    return next((n for n, row in enumerate(rows) if not is_above(row)), 0)


def _filled(row: TableRow) -> int:
    return sum(map(bool, row.cells))


def _heads(rows: Sequence[TableRow]) -> int:
    return int(has_header([row.cells for row in rows[:3]]))


def _sheets(path: Path) -> Iterator[Any]:
    try:
        book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
    except Exception as exc:  # openpyxl lets whatever a broken part causes through
        raise _damaged(path) from exc
    try:
        yield from book.worksheets
    finally:
        book.close()


def _rows(sheet: Any, spans: Spans, merged: MergedTable, path: Path) -> Iterator[TableRow]:
    """Yield the rows of a sheet that hold anything of their own, without empty cells at their end."""
    # A sheet may claim a million rows or columns that are not there.
    sheet.reset_dimensions()
    before = 0
    try:
        for number, row in enumerate(sheet.iter_rows(), 1):
            cells = [_cell(c.value, c) for c in row[:MAX_COLUMNS]]
            held = any(cells)
            if spans:
                here = spans.get(number, {})
                cells = merged.row([(c, *here.get(n, (1, 1))) for n, c in enumerate(cells)], every=True)
            while cells and not cells[-1]:
                cells.pop()
            if held:
                yield TableRow(cells, number, apart=before + 1 < number)
                before = number
    except Exception as exc:  # openpyxl lets whatever a broken part causes through
        raise _damaged(path) from exc


def _marks(archive: Archive, part: str) -> tuple[Spans, int]:
    """Return the merged cells of a sheet, and how many of its formulas have no value: openpyxl tells neither."""
    spans: Spans = {}
    bare = 0
    safe: dict[str, Any] = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
    data = BytesIO(archive.read(part) if archive.has(part) else b"")
    try:
        for _, element in etree.iterparse(data, tag=("{*}row", "{*}mergeCell"), **safe):
            if m := _RANGE.fullmatch(element.get("ref") or ""):
                left, right = column(m[1]) - 1, min(column(m[3]), MAX_COLUMNS)
                if left < right and len(spans) < MAX_ROWS:
                    spans.setdefault(int(m[2]), {})[left] = (int(m[4]) - int(m[2]) + 1, right - left)
            cells = (formula.getparent() for formula in element.iter("{*}f"))
            # The value of a formula may be a text without letters.
            bare += sum(1 for cell in cells if not cell.findtext("{*}v") and cell.get("t") != "str")
            element.clear()
    except etree.XMLSyntaxError:  # what is broken, openpyxl tells
        pass
    return spans, bare


def _cell(value: object, cell: Any) -> str:
    """Return a value as the sheet shows it."""
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value, str(cell.number_format))
    return " ".join(str(value).split())


def number(value: float, form: str) -> str:
    """Return a number as its number format shows it: with its percent sign or currency, and all of its digits."""
    whole = float(value).is_integer() and abs(value) < 1e15
    # Without what binary fractions add: 17.990000000000002 was typed as 17.99.
    plain = str(int(value)) if whole else f"{Decimal(f'{value:.15g}'):f}"
    return signed(value, plain, form)


def _damaged(path: Path) -> SourceError:
    return SourceError(f"{path.name} is a damaged workbook", "open it in a spreadsheet program and save it again")
