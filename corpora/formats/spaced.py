"""Repair tables that use cells for layout: signs in cells of their own, and empty columns as space.

Financial filings are set like this: `$` and the bracket that closes a loss have columns of their own, with
empty columns between them. Each amount becomes one cell again, and each column of amounts one column below
its header.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.corpora.columns import after_amount, before_amount
from ragweave.corpora.formats.merged import Cell, TableRow, is_name

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
    width = max(len(row.cells) for row in rows)
    columns: list[Column] = []
    for n in range(width):
        columns.append(tuple(row.cells[n] if n < len(row.cells) else "" for row in rows))
    joined = _joined(columns, heads)
    kept = []
    for n, column in enumerate(joined):
        if n == 0 or any(column[heads:]) or not _is_covered(joined, n, heads):
            kept.append(column)
    if len(kept) == width:
        return list(rows)
    return [row._replace(cells=[column[n] for column in kept]) for n, row in enumerate(rows)]


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
    pairs = zip(one[heads:], other[heads:], strict=True)
    return not any(a and b for a, b in pairs)


def _is_covered(columns: Sequence[Column], n: int, heads: int) -> bool:
    """Return whether a column has no header but those of its neighbours: they reach over empty space."""
    near = [columns[k] for k in (n - 1, n + 1) if 0 < k < len(columns)]
    for row in range(heads):
        name = columns[n][row]
        if name and name not in [other[row] for other in near]:
            return False
    return True
