"""Tables of Word: a line for each row, cells that span rows and columns laid out under their heads."""

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
    """One line per row; the first row is the header unless the table has a single row.

    A table inside a cell is read with the cell, and its rows are none of this table.
    """
    rows = [list(_cells(row)) for row in table.iter(f"{W}tr") if next(row.iterancestors(f"{W}tbl")) is table]
    below: Counter[int] = Counter()  # by column: rows under it that the cell above them goes on into
    laid: list[list[Cell]] = []
    for row in reversed(rows):
        out: list[Cell] = []
        for column, (text, across, goes_on) in enumerate(row):
            down = 1 + below.pop(column, 0)
            if goes_on and not text:
                below[column] = down
            out.append((text, 1 if goes_on and not text else down, across))
        laid.append(out)
    merged = MergedTable()
    told = [(row, merged.row(row, every=True)) for row in reversed(laid)]
    return merged.blocks(
        (TableRow(cells) for row, cells in told if any(text for text, _, _ in row)), first_row
    )


def _cells(row: Any) -> Iterator[tuple[str, int, bool]]:
    """Yield of each column of the grid: text, columns that it spans, and whether the cell above goes on in it."""
    yield from [("", 1, False)] * _count(row, f"{W}trPr/{W}gridBefore")
    for cell in _held(row):
        paragraphs = (p for p in cell.iter(f"{W}p") if next(p.iterancestors(FALLBACK), None) is None)
        said = (f"{p.get(LABEL, '')} {text_of(p)}".strip() for p in paragraphs)
        text = " ".join(filter(None, said)).replace("\n", " ")
        across = max(1, _count(cell, f"{W}tcPr/{W}gridSpan"))
        merge = cell.find(f"{W}tcPr/{W}vMerge")
        yield text, across, merge is not None and merge.get(f"{W}val") != "restart"
        yield from [("", 1, False)] * (across - 1)


def _held(row: Any) -> Iterator[Any]:
    """Yield the cells of a row; those of forms stand in content controls."""
    for child in row.iterchildren(f"{W}tc", f"{W}sdt", f"{W}sdtContent"):
        yield from [child] if child.tag == f"{W}tc" else _held(child)


def _count(element: Any, path: str) -> int:
    """Return how many columns of the grid an element says that it takes."""
    return spanned(attribute(element, path, f"{W}val"), 0)
