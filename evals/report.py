"""Figures as a text table, and as flat JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ragweave.models.errors import InputError

Value = str | float | int


def table(columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    """Return rows as aligned text; numbers to the right, floats with three decimals."""
    cells = [[_shown(v) for v in row] for row in rows]
    widths = [max(len(c), *(len(r[i]) for r in cells)) if cells else len(c) for i, c in enumerate(columns)]
    right = [bool(rows) and not isinstance(rows[0][i], str) for i in range(len(columns))]

    def line(values: Sequence[str]) -> str:
        return "  ".join(
            v.rjust(w) if r else v.ljust(w) for v, w, r in zip(values, widths, right, strict=True)
        ).rstrip()

    return "\n".join([line(columns), line(["-" * w for w in widths]), *map(line, cells)])


def _shown(value: Value) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def of_rows(rows: Mapping[str, Mapping[str, Value]]) -> str:
    """Return named rows of the same figures as a table."""
    return table(["", *next(iter(rows.values()))], [[name, *row.values()] for name, row in rows.items()])


def confusion_table(confusion: Mapping[str, Mapping[str, int]], labels: Sequence[str]) -> str:
    """Return a confusion matrix as text, gold labels down, predictions across."""
    shown = [*labels, *sorted({p for row in confusion.values() for p in row} - set(labels))]
    rows: list[list[Value]] = []
    for gold in shown:
        if gold in confusion:
            rows.append([gold, *(confusion[gold].get(said, 0) for said in shown)])
    return table(["gold \\ said", *shown], rows)


def write_json(path: Path, flat: Mapping[str, Value]) -> None:
    """Write one flat object, keys in their order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(dict(flat), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def read_figures(path: Path) -> dict[str, float]:
    """Return the numbers of a file that `--json` wrote; other values are passed over.

    Raises:
        InputError: it is not such a file.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} is not a file of figures ({error})", "give a file written by --json"
        ) from error
    if not isinstance(found, dict):
        raise InputError(f"{path} is not a file of figures", "give a file written by --json")
    return {k: float(v) for k, v in found.items() if isinstance(v, int | float) and not isinstance(v, bool)}


def compare(a: Mapping[str, float], b: Mapping[str, float]) -> str:
    """Return a table of two runs' figures and their differences; a figure only one has shows as "-"."""
    rows = []
    for key in dict.fromkeys([*a, *b]):
        one, two = a.get(key), b.get(key)
        difference = f"{two - one:+.4f}" if one is not None and two is not None else "-"
        rows.append([key, *("-" if v is None else f"{v:.4f}" for v in (one, two)), difference])
    return table(["figure", "A", "B", "B - A"], rows)
