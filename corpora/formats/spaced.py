"""Tables that are laid out by cells: signs stand beside their amounts, and columns that hold nothing keep space.

A filing is set so: `$` and the bracket that closes a loss have columns of their own, and empty ones stand
between them. Each amount becomes one cell again, and each column of amounts one column below its head.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from ragweave.corpora.columns import after_amount, before_amount
from ragweave.corpora.formats.merged import Cell, TableRow, is_name

_MOST_HEADS = 3
"""Rows that may name columns over an empty corner."""

Column = tuple[str, ...]


def signed(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of a row, the signs around an amount in its own cell; what held them is empty."""
    out = list(cells)
    for n in range(1, len(out)):
        (before, *spans), (text, *own) = out[n - 1], out[n]
        if before_amount(before, text):
            out[n - 1], out[n] = ("", spans[0], spans[1]), (f"{before}{text}", own[0], own[1])
        elif after_amount(before, text):
            out[n - 1], out[n] = (f"{before}{text}", spans[0], spans[1]), ("", own[0], own[1])
    return out


def head_rows(rows: Sequence[TableRow]) -> int:
    """Return how many of the first rows are heads: all marked so, or names over an empty corner above a named row."""
    marked = sum(1 for _ in takewhile(lambda row: row.heads, rows))
    over = sum(
        1
        for _ in takewhile(lambda row: not row.cells[0] and all(map(is_name, row.cells)), rows[:_MOST_HEADS])
    )
    return max(marked, over if over < len(rows) and rows[over].cells[0] else 0)


def closed_up(rows: Sequence[TableRow], heads: int) -> list[TableRow]:
    """Return the rows without columns that only keep space; `heads` of them name the columns.

    Columns below the same head of which no row fills two are one.
    """
    width = max(len(row.cells) for row in rows)
    columns = [tuple(row.cells[c] if c < len(row.cells) else "" for row in rows) for c in range(width)]
    kept: list[Column] = columns[:1]
    for column in columns[1:]:
        names, texts = column[:heads], column[heads:]
        if not any(texts) and not any(names):
            continue
        same = heads and len(kept) > 1 and kept[-1][:heads] == names
        if same and not any(a and b for a, b in zip(kept[-1][heads:], texts, strict=True)):
            kept[-1] = (*names, *(a or b for a, b in zip(kept[-1][heads:], texts, strict=True)))
        else:
            kept.append(column)
    kept = [
        column for n, column in enumerate(kept) if not n or any(column[heads:]) or not _spans(kept, n, heads)
    ]
    if len(kept) == width:
        return list(rows)
    return [row._replace(cells=[column[n] for column in kept]) for n, row in enumerate(rows)]


def _spans(columns: Sequence[Column], n: int, heads: int) -> bool:
    """Tell whether each head of a column is that of one beside it, or empty: a head that reaches over space."""
    beside = [columns[k] for k in (n - 1, n + 1) if 0 < k < len(columns)]
    return all(
        not columns[n][row] or any(columns[n][row] == other[row] for other in beside) for row in range(heads)
    )
