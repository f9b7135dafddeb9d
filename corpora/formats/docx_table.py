"""Read tables of Word: a line per row, with spanning cells repeated under their headers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ragweave.corpora.blocks import Block
from ragweave.corpora.formats.docx_text import text_of
from ragweave.corpora.formats.merged import Cell, MergedTable, TableRow, first_row, spanned
from ragweave.corpora.formats.numbering import FALLBACK, LABEL
from ragweave.corpora.formats.ooxml import W, attribute


def table_of(table: Any) -> list[Block]:
    """Return a table, one line per row; the first row is the header unless it is the only one.

    A table inside a cell is read with the cell, and its rows do not count as rows of this table.
    """
    rows = []
    for row in table.iter(f"{W}tr"):
        if next(row.iterancestors(f"{W}tbl")) is table:
            rows.append(list(_cells(row)))
    merged = MergedTable()
    laid: list[TableRow] = []
    for cells in _with_heights(rows):
        texts = merged.row(cells, every=True)
        if any(text for text, _, _ in cells):
            laid.append(TableRow(texts))
    return merged.blocks(laid, first_row)


def _with_heights(rows: list[list[tuple[str, int, bool]]]) -> list[list[Cell]]:
    """Return the cells with the number of rows that they span, counted from the last row upwards."""
    below: Counter[int] = Counter()
    """By column: rows below into which the cell above continues."""
    sized: list[list[Cell]] = []
    for row in reversed(rows):
        cells: list[Cell] = []
        for column, (text, across, continues) in enumerate(row):
            down = 1 + below.pop(column, 0)
            if continues and not text:
                below[column] = down
                down = 1
            cells.append((text, down, across))
        sized.append(cells)
    sized.reverse()
    return sized


def _cells(row: Any) -> Iterator[tuple[str, int, bool]]:
    """Yield for each column: its text, the columns it spans, and whether the cell above continues in it."""
    yield from [("", 1, False)] * _count(row, f"{W}trPr/{W}gridBefore")
    for cell in _held(row):
        across = max(1, _count(cell, f"{W}tcPr/{W}gridSpan"))
        merge = cell.find(f"{W}tcPr/{W}vMerge")
        yield _text(cell), across, merge is not None and merge.get(f"{W}val") != "restart"
        yield from [("", 1, False)] * (across - 1)


def _text(cell: Any) -> str:
    """Return the paragraphs of a cell with their labels, in one line."""
    texts = []
    for paragraph in cell.iter(f"{W}p"):
        if next(paragraph.iterancestors(FALLBACK), None) is None:
            texts.append(f"{paragraph.get(LABEL, '')} {text_of(paragraph)}".strip())
    return " ".join(filter(None, texts)).replace("\n", " ")


def _held(row: Any) -> Iterator[Any]:
    """Yield the cells of a row; cells of forms are inside content controls."""
    for child in row.iterchildren(f"{W}tc", f"{W}sdt", f"{W}sdtContent"):
        if child.tag == f"{W}tc":
            yield child
        else:
            yield from _held(child)


def _count(element: Any, path: str) -> int:
    """Return how many columns an element says that it takes."""
    return spanned(attribute(element, path, f"{W}val"), 0)
