"""Figures as a text table, and as flat JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ragweave.models.errors import InputError

Value = str | float | int


def table(columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    """Return rows as aligned text; numbers to the right, floats with three decimals."""
    cells = [list(map(_shown, row)) for row in rows]
    widths = list(map(len, columns))
    for row in cells:
        for i in range(len(columns)):
            widths[i] = max(widths[i], len(row[i]))
    right = [False] * len(columns)
    if rows:
        right = [not isinstance(value, str) for value in rows[0][: len(columns)]]
    rule = ["-" * width for width in widths]
    lines = []
    for values in (columns, rule, *cells):
        lines.append(_line(values, widths, right))
    return "\n".join(lines)


def _line(values: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    """Return padded values as one line; `right` is whether each is aligned to the right."""
    padded = []
    for value, width, to_right in zip(values, widths, right, strict=True):
        padded.append(value.rjust(width) if to_right else value.ljust(width))
    return "  ".join(padded).rstrip()


def _shown(value: Value) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def of_rows(rows: Mapping[str, Mapping[str, Value]]) -> str:
    """Return named rows of the same figures as a table."""
    lines: list[list[Value]] = []
    for name, row in rows.items():
        lines.append([name, *row.values()])
    return table(["", *next(iter(rows.values()))], lines)


def confusion_table(confusion: Mapping[str, Mapping[str, int]], labels: Sequence[str]) -> str:
    """Return a confusion matrix as text, gold labels down, predictions across."""
    predicted: set[str] = set()
    for counts in confusion.values():
        predicted.update(counts)
    shown = [*labels, *sorted(predicted - set(labels))]
    rows: list[list[Value]] = []
    for gold in shown:
        if gold in confusion:
            row: list[Value] = [gold]
            for said in shown:
                row.append(confusion[gold].get(said, 0))
            rows.append(row)
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
    figures = {}
    for name, value in found.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            figures[name] = float(value)
    return figures


def compare(a: Mapping[str, float], b: Mapping[str, float]) -> str:
    """Return a table of two runs' figures and their differences; a figure only one has shows as "-"."""
    rows = []
    for key in dict.fromkeys([*a, *b]):
        one, two = a.get(key), b.get(key)
        difference = f"{two - one:+.4f}" if one is not None and two is not None else "-"
        rows.append([key, _figure(one), _figure(two), difference])
    return table(["figure", "A", "B", "B - A"], rows)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
