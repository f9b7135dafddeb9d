"""Read Excel workbooks as one table per sheet, under the sheet's name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import Any

from lxml import etree
from openpyxl import load_workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.utils import column_index_from_string as column
from openpyxl.utils.escape import unescape

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Block, Lines, Parsed
from ragweave.corpora.formats.csv import above, has_header
from ragweave.corpora.formats.merged import MAX_COLUMNS, TOP, MergedTable, TableRow
from ragweave.corpora.formats.number_format import number, shown
from ragweave.corpora.formats.ooxml import Package, core, macros, not_read, relations, unread
from ragweave.corpora.formats.sheet_notes import beyond_cells, edges
from ragweave.corpora.formats.symbols import shown as symbols
from ragweave.models.errors import SourceError

MAX_ROWS = 200_000
"""Rows read from all sheets together."""
_NAMED = 5
"""Hidden sheets that a warning names."""
Spans = dict[int, dict[int, tuple[int, int]]]
"""By row, 1-based, and column, 0-based: how many rows and columns a cell spans."""
_SIDES = ("odd", "even", "first")
_FONTS = ("xl/styles.xml", "xl/sharedStrings.xml")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PICTURED = re.compile(rb"wingdings|webdings|[\">]symbol[\"<]", re.I)
"""Fonts of a workbook that show pictures for letters."""
_RANGE = re.compile(r"([A-Z]{1,3})([1-9]\d{0,6}):([A-Z]{1,3})([1-9]\d{0,6})")


def parse(path: Path) -> Parsed:
    """Read a workbook (.xlsx): stored results of formulas, dates in ISO form; lines are row numbers.

    Hidden sheets are left out and named, because no answer may rest on what a reader cannot see.
    """
    blocks: list[Block] = []
    unseen: list[str] = []
    counter = _RowCounter()
    bare = 0
    with Package(path) as archive:
        archive.refuse_document_types()
        properties = core(archive)
        left = _left(archive)
        pictured = _has_pictures_for_letters(archive)
        for sheet in _sheets(archive, rich_text=pictured):
            name = str(sheet.title)
            if sheet.sheet_state != "visible":
                unseen.append(name)
                continue
            merged = MergedTable()
            part = str(sheet._worksheet_path)
            marks = _marks(archive, part)
            bare += marks.bare
            rows = counter.first(_rows(sheet, marks.spans, merged, path, pictured=pictured))
            found = sheet_blocks(name, rows, merged)
            others = [*edges(marks.edges), *beyond_cells(archive, part, left)]
            left.update(unread(archive, (part,)))
            if others and not found:
                found = [Block(name, "heading", 1)]
            blocks += [*found, *others]
    warnings = [f"only the first {MAX_ROWS} rows were read"] if counter.is_cut else []
    if bare:
        have = "1 formula has" if bare == 1 else f"{bare:,} formulas have"
        warnings.append(
            f"{have} no stored value; open the workbook in a spreadsheet program and save it once"
        )
    warnings += [*left_out(unseen), *not_read(left)]
    return replace(properties, blocks=tuple(blocks), language="", warnings=tuple(warnings), parted=True)


class _RowCounter:
    """Counts the rows of all sheets, and ends each sheet when MAX_ROWS have been read."""

    def __init__(self) -> None:
        self.is_cut = False
        self._count = 0

    def first(self, rows: Iterator[TableRow]) -> Iterator[TableRow]:
        for row in rows:
            if self._count == MAX_ROWS:
                self.is_cut = True
                return
            self._count += 1
            yield row


def _has_pictures_for_letters(archive: Archive) -> bool:
    """Return whether a workbook uses a font that shows pictures for letters."""
    for name in _FONTS:
        if archive.has(name) and _PICTURED.search(archive.read(name)):
            return True
    return False


def _left(archive: Archive) -> Counter[tuple[str, str]]:
    """Count the sheets that are no tables, and the macros."""
    left = macros(archive)
    kinds = [kind for kind, _ in relations(archive, "xl/workbook.xml").values()]
    left["sheet that is a chart", "sheets that are charts"] += kinds.count("chartsheet")
    return left


def sheet_blocks(name: str, rows: Iterator[TableRow], merged: MergedTable) -> list[Block]:
    """Return a sheet: its name, the rows above its headers as text, its table; [] if it is empty."""
    first = list(islice(rows, TOP))
    if not first:
        return []
    top = above(first)
    title = Lines()
    for row in first[:top]:
        filled = list(dict.fromkeys(filter(None, row.cells)))
        title.add((" " if filled[0].endswith(":") else " | ").join(filled), row.line)
    found = [Block(name, "heading", 1)]
    if title.text:
        found.append(title.block("text"))
    found += merged.blocks(chain(first[top:], rows), _heads)
    return found


def left_out(hidden: Sequence[str]) -> list[str]:
    """Return the warning for hidden sheets, if there are any."""
    if not hidden:
        return []
    names = ", ".join(hidden[:_NAMED])
    if len(hidden) > _NAMED:
        names += " ..."
    return [f"hidden sheets were left out: {names}; show them in a spreadsheet program"]


def _heads(rows: Sequence[TableRow]) -> int:
    return int(has_header([row.cells for row in rows[:3]]))


def _sheets(archive: Package, *, rich_text: bool) -> Iterator[Any]:
    try:
        book = load_workbook(
            archive.file(), read_only=True, data_only=True, keep_links=False, rich_text=rich_text
        )
    except Exception as exc:  # openpyxl passes on whatever exception a broken part causes
        raise _damaged(archive.path) from exc
    try:
        yield from book.worksheets
    finally:
        book.close()


def _rows(sheet: Any, spans: Spans, merged: MergedTable, path: Path, *, pictured: bool) -> Iterator[TableRow]:
    """Yield the rows of a sheet that have a filled cell of their own, without empty cells at their end."""
    # A sheet may claim a million rows or columns that are not there.
    sheet.reset_dimensions()
    before = 0
    try:
        for number, row in enumerate(sheet.iter_rows(), 1):
            cells = [_cell(c.value, c, pictured=pictured) for c in row[:MAX_COLUMNS]]
            filled = any(cells)
            if spans:
                here = spans.get(number, {})
                spanned = [(text, *here.get(n, (1, 1))) for n, text in enumerate(cells)]
                cells = merged.row(spanned, every=True)
            while cells and not cells[-1]:
                cells.pop()
            if filled:
                yield TableRow(cells, number, apart=before + 1 < number)
                before = number
    except Exception as exc:  # openpyxl passes on whatever exception a broken part causes
        raise _damaged(path) from exc


@dataclass(slots=True)
class _Marks:
    """What openpyxl does not give of a sheet: merged cells, formulas without a value, headers and footers."""

    spans: Spans = field(default_factory=dict)
    bare: int = 0
    edges: list[str] = field(default_factory=list)


def _marks(archive: Archive, part: str) -> _Marks:
    """Read the merged cells, formulas, headers and footers of a sheet."""
    marks = _Marks()
    safe: dict[str, Any] = {
        "resolve_entities": False,
        "no_network": True,
        "load_dtd": False,
        "huge_tree": False,
    }
    data = BytesIO(archive.read(part) if archive.has(part) else b"")
    tags = ["{*}row", "{*}mergeCell"]
    for side in _SIDES:
        tags += [f"{{*}}{side}Header", f"{{*}}{side}Footer"]
    try:
        for _, element in etree.iterparse(data, tag=tags, **safe):
            if element.tag.endswith(("Header", "Footer")):
                marks.edges.append(element.text or "")
            else:
                _take_span(element.get("ref") or "", marks)
            for formula in element.iter("{*}f"):
                cell = formula.getparent()
                # The value of a formula may be a text without letters.
                if not cell.findtext("{*}v") and cell.get("t") != "str":
                    marks.bare += 1
            element.clear()
    except etree.XMLSyntaxError:  # openpyxl reports what is broken
        pass
    return marks


def _take_span(reference: str, marks: _Marks) -> None:
    """Add the range of merged cells that a reference like `B2:D4` names."""
    match = _RANGE.fullmatch(reference)
    if match is None:
        return
    left, right = column(match[1]) - 1, min(column(match[3]), MAX_COLUMNS)
    if left < right and len(marks.spans) < MAX_ROWS:
        spans = marks.spans.setdefault(int(match[2]), {})
        spans[left] = (int(match[4]) - int(match[2]) + 1, right - left)


def _cell(value: object, cell: Any, *, pictured: bool) -> str:
    """Return a value as the sheet shows it; `pictured` says that some fonts show pictures for letters."""
    if value is None:
        return ""
    if isinstance(value, date | time | timedelta):
        return shown(value, str(cell.number_format))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value, str(cell.number_format))
    text = _as_drawn(value, str(cell.font.name or "")) if pictured else str(value)
    text = unescape(text) if "_x" in text else text
    return " ".join(_CONTROL.sub(" ", text).split())


def _as_drawn(value: object, font: str) -> str:
    """Return the text of a cell as its fonts show it."""
    if not isinstance(value, CellRichText):
        return symbols(str(value), font)
    drawn = ""
    for run in value:
        if isinstance(run, TextBlock):
            drawn += symbols(run.text, run.font.rFont or font)
        else:
            drawn += symbols(run, font)
    return drawn


def _damaged(path: Path) -> SourceError:
    return SourceError(
        f"{path.name} is a damaged workbook", "open it in a spreadsheet program and save it again"
    )
