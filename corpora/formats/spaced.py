"""Repair tables that use cells for layout: signs in cells of their own, and empty columns as space.

Financial filings are set like this: `$` and the bracket that closes a loss have columns of their own, with
empty columns between them. Each amount becomes one cell again, and each column of amounts one column below
its header.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from ragweave.corpora.columns import after_amount, before_amount
from ragweave.corpora.formats.cell_numbers import is_name
from ragweave.corpora.formats.merged import Cell, TableRow

_MOST_HEADS = 3
"""Rows that may name columns over an empty corner."""

Column = tuple[str, ...]


def signed(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of a row with the signs around an amount in the amount's cell."""
    out = list(cells)
    for n in range(1, len(out)):
        before, before_down, before_across = out[n - 1]
        text, down, across = out[n]
        if before_amount(before, text):
            out[n - 1] = ("", before_down, before_across)
            out[n] = (f"{before}{text}", down, across)
        elif after_amount(before, text):
            out[n - 1] = (f"{before}{text}", before_down, before_across)
            out[n] = ("", down, across)
    return out


def head_rows(rows: Sequence[TableRow]) -> int:
    """Return how many of the first rows are headers: rows marked as such, or names over an empty corner."""
    marked = 0
    while marked < len(rows) and rows[marked].heads:
        marked += 1
    over = 0
    while over < min(len(rows), _MOST_HEADS) and _is_over_corner(rows[over]):
        over += 1
    has_label = over < len(rows) and bool(rows[over].cells[0])
    return max(marked, over) if has_label else marked


def _is_over_corner(row: TableRow) -> bool:
    return not row.cells[0] and all(map(is_name, row.cells))


def closed_up(rows: Sequence[TableRow], heads: int) -> list[TableRow]:
    """Return the rows without columns that only keep space; `heads` of them name the columns.

    Columns under the same header become one if no row fills two of them.
    """
    filled_up = list(zip_longest(*[row.cells for row in rows], fillvalue=""))
    joined = _joined(filled_up, heads)
    kept = []
    for n, column in enumerate(joined):
        if n == 0 or any(column[heads:]) or not _is_covered(joined, n, heads):
            kept.append(column)
    if len(kept) == len(filled_up):
        return list(rows)
    closed: list[TableRow] = []
    for row, cells in zip(rows, zip(*kept, strict=True), strict=True):
        closed.append(row._replace(cells=list(cells)))
    return closed


def _joined(columns: Sequence[Column], heads: int) -> list[Column]:
    """Join neighbouring columns under the same header, and leave out empty ones."""
    kept = list(columns[:1])
    for column in columns[1:]:
        if not any(column):
            continue
        last = kept[-1]
        if heads and len(kept) > 1 and last[:heads] == column[:heads] and _fit(last, column, heads):
            texts = [a or b for a, b in zip(last[heads:], column[heads:], strict=True)]
            kept[-1] = (*column[:heads], *texts)
        else:
            kept.append(column)
    return kept


def _fit(one: Column, other: Column, heads: int) -> bool:
    """Return whether no row fills both columns below their headers."""
    for text, beneath in zip(one[heads:], other[heads:], strict=True):
        if text and beneath:
            return False
    return True


def _is_covered(columns: Sequence[Column], n: int, heads: int) -> bool:
    """Return whether a column has no header but those of its neighbours: they reach over empty space."""
    near = columns[n + 1 : n + 2]
    if n > 1:
        near = [columns[n - 1], *near]
    for row in range(heads):
        name = columns[n][row]
        if name and name not in [other[row] for other in near]:
            return False
    return True
