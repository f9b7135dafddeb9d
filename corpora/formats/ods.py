"""OpenDocument workbooks: one table per sheet under the sheet's name, as those of Excel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lxml import etree
from openpyxl.utils import get_column_letter

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.formats.merged import MAX_COLUMNS, MAX_REPEATED, MergedTable, TableRow, spanned
from ragweave.corpora.formats.number_format import number
from ragweave.corpora.formats.odf import Document, annotation, opened, plain, properties
from ragweave.corpora.formats.odf_names import DRAW, OFFICE, STYLE, TABLE, TEXT
from ragweave.corpora.formats.ooxml import not_read
from ragweave.corpora.formats.xlsx import MAX_ROWS, left_out, sheet_blocks

_ROWS = (f"{TABLE}table-row-group", f"{TABLE}table-rows", f"{TABLE}table-header-rows")
_CELLS = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
_SEPARATOR = re.compile("[.,'’]")


def parse(path: Path) -> Parsed:
    """Read a workbook (.ods): last results of formulas; lines are row numbers; no hidden sheets."""
    blocks: list[Block] = []
    unseen: list[str] = []
    left: Counter[tuple[str, str]] = Counter()
    with opened(path) as archive:
        document = Document(archive)
        budget = _Budget(MAX_ROWS, MAX_REPEATED)
        for table in document.body.iterchildren(f"{TABLE}table"):
            name = table.get(f"{TABLE}name") or "Sheet"
            if _is_hidden(document.styles.get(table.get(f"{TABLE}style-name"))):
                unseen.append(name)
            else:
                merged, notes = MergedTable(), list[Block]()
                found = sheet_blocks(name, _rows(table, merged, budget, notes), merged)
                others = [*notes, *_shapes(document, table, left)]
                blocks += found or [Block(name, "heading", 1)] * bool(others)
                blocks += others
        said = properties(archive)
    warnings = []
    if budget.rows <= 0:
        warnings.append(f"only the first {MAX_ROWS} rows were read")
    if budget.characters <= 0:
        warnings.append("cells that are repeated very often were read once")
    warnings += [*left_out(unseen), *not_read(left + document.left)]
    return replace(said, blocks=tuple(blocks), language="", warnings=tuple(warnings), parted=True)


@dataclass(slots=True)
class _Budget:
    """What may still be read: rows, and characters of repeated cells."""

    rows: int
    characters: int

    def copies(self, count: int, length: int) -> int:
        """Return how many copies of a text fit, and count them; the first copy is free."""
        more = max(0, min(count - 1, self.characters // (length + 3)))
        self.characters -= (count - 1) * (length + 3) if length else 0
        return 1 + more if length else count


def _is_hidden(style: Any) -> bool:
    looks = None if style is None else style.find(f"{STYLE}table-properties")
    return looks is not None and looks.get(f"{TABLE}display") == "false"


def _rows(table: Any, merged: MergedTable, budget: _Budget, notes: list[Block]) -> Iterator[TableRow]:
    """Yield the rows of a sheet that hold anything of their own, without empty cells at their end.

    Comments on their cells go to `notes`.
    """
    at, before = 1, 0
    for row in _elements(table):
        repeated = _repeated(row, "rows")
        cells = list(_cells(row, budget))
        notes += _notes(row, at)
        length = sum([len(text) for text, _, _ in cells])
        copies = budget.copies(repeated, length) if length else 0
        for line in range(at, at + copies):
            if budget.rows <= 0:
                return
            budget.rows -= 1
            laid = merged.row(cells, every=True)
            while laid and not laid[-1]:
                laid.pop()
            yield TableRow(laid, line, apart=before + 1 < line)
            before = line
        at += repeated


def _notes(row: Any, line: int) -> Iterator[Block]:
    """Yield the comments on the cells of a row."""
    column = 1
    for cell in row:
        if cell.tag in _CELLS:
            for note in cell.iterchildren(f"{OFFICE}annotation"):
                block = annotation(note, f"{get_column_letter(min(column, 18_278))}{line}")
                if block is not None:
                    yield replace(block, line=line)
            column += _repeated(cell, "columns")


def _shapes(document: Document, table: Any, left: Counter[tuple[str, str]]) -> Iterator[Block]:
    """Yield the text of boxes and controls of forms on a sheet; pictures are counted in `left`."""
    for shape in table.iter(f"{DRAW}*"):
        if shape.getparent().tag not in (f"{TABLE}shapes", f"{TABLE}table-cell", f"{DRAW}g"):
            continue
        if next(shape.iterancestors(f"{OFFICE}annotation"), None) is not None or shape.tag == f"{DRAW}g":
            continue
        around = etree.Element("shapes")
        around.append(deepcopy(shape))
        found, figures = document.blocks(around)
        left["picture", "pictures"] += len(figures)
        yield from found


def _elements(table: Any) -> Iterator[Any]:
    for child in table:
        if child.tag == f"{TABLE}table-row":
            yield child
        elif child.tag in _ROWS:
            yield from _elements(child)


def _cells(row: Any, budget: _Budget) -> Iterator[tuple[str, int, int]]:
    """Yield a cell for each column; empty ones at the end, which may be thousands, are left out."""
    cells = [cell for cell in row if cell.tag in _CELLS]
    texts = [_text(cell) for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    count = 0
    for cell, text in zip(cells, texts, strict=False):
        down = spanned(cell.get(f"{TABLE}number-rows-spanned") or "")
        across = spanned(cell.get(f"{TABLE}number-columns-spanned") or "")
        copies = budget.copies(min(_repeated(cell, "columns"), MAX_COLUMNS - count), len(text))
        yield from [(text, down, across)] * copies
        count += copies


def _repeated(element: Any, what: str) -> int:
    said = element.get(f"{TABLE}number-{what}-repeated") or "1"
    return max(1, int(said)) if said.isdecimal() and len(said) < 9 else 1


def _text(cell: Any) -> str:
    """Return a value as the sheet shows it; numbers and dates as they are stored; "" for a covered cell."""
    if cell.tag != f"{TABLE}table-cell":
        return ""
    kind, value = cell.get(f"{OFFICE}value-type"), cell.get(f"{OFFICE}value") or ""
    drawn = " ".join(filter(None, map(plain, cell.iterchildren(f"{TEXT}p"))))
    try:
        if kind == "float":
            plainly = number(float(value), "")
            return drawn if _is_masked(plainly, drawn) else plainly
        if kind == "percentage":
            return number(float(value), "0%")
        if kind == "currency":
            sign = cell.get(f"{OFFICE}currency") or ""
            return f"{number(float(value), '')} {sign}".strip()
    except (ValueError, OverflowError):
        pass
    if kind == "date":
        return (cell.get(f"{OFFICE}date-value") or "").removesuffix("T00:00:00")
    return drawn


def _is_masked(plainly: str, drawn: str) -> bool:
    """Return whether a sheet shows a number with what its value lacks: leading zeros, a mask, a unit."""
    digits = "".join(filter(str.isdigit, drawn))
    if not plainly.isdecimal() or digits.lstrip("0") != plainly.lstrip("0"):
        return False
    if drawn == plainly or _SEPARATOR.search(drawn):
        return False
    return digits != plainly or any(map(_is_of_mask, drawn))


def _is_of_mask(character: str) -> bool:
    """Return whether a character is a letter of a unit or a sign of a telephone number or a code."""
    return character.isalpha() or character in "()-/"
