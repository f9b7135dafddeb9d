"""How the answer of a table is written: rows by their names, figures with their units."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.minds.small.tables.rows import Choice
from ragweave.models.table import Column, Table
from ragweave.models.values import Value, written

LISTED = 8
"""Figures, or rows, that are written out one by one."""


def figure(column: Column, value: Value) -> str:
    """Write a number as an answer says it: with the unit of its column."""
    unit = value.unit or column.unit
    text = written(value.amount, value.places)
    return f"{text}{'' if unit in ('', '%', '‰') else ' '}{unit}"


def listed(table: Table, used: Sequence[int], asked: int | None = None) -> str:
    """Name rows, by the cell that is asked for first."""
    if asked is not None:
        told = [(table.body[i].cells[asked], table.label(i)) for i in used]
        return "; ".join(label if cell in label else f"{cell} ({label})" for cell, label in told)
    return "; ".join(table.label(i) for i in used)


def numbered(used: Sequence[int]) -> str:
    """Name rows by their numbers under the heads: “rows 3, 5”."""
    if len(used) > 2 and [*used] == [*range(used[0], used[-1] + 1)]:
        return f"rows {used[0] + 1} to {used[-1] + 1}"
    if len(used) > 2 * LISTED:
        return f"{len(used)} rows"
    return f"row{'s' if len(used) > 1 else ''} " + ", ".join(str(i + 1) for i in used)


def of_row(table: Table, choice: Choice, at: int) -> str:
    """Name a row, with the cells that the question named it by where its label is a number alone."""
    label = table.label(at)
    coded = " " not in label and any(c.isdigit() for c in label)
    if not (coded or table.columns[0].kind == "key") or len(choice.rows) > 1:
        return label
    said = [table.body[at].cells[n] for n in sorted(choice.by) if table.columns[n].kind in ("text", "date")]
    return ", ".join([label, *(c for c in said if c not in label)])


def value_at(column: Column, at: int) -> str:
    """Return a cell with the unit of its column."""
    value = column.numbers[at]
    return column.cells[at] if value is None or not column.unit or column.unsure else figure(column, value)
