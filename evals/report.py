"""Figures as a text table, as flat JSON, and as one self-contained HTML page with plots drawn as SVG."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ragweave.evals.metrics import Bin
from ragweave.models.errors import InputError, MissingExtra

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
        raise InputError(f"{path} is not a file of figures ({error})", "give a file written by --json") from error
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


def drawing(what: str, width: float, height: float) -> Any:
    """Return an empty figure of matplotlib.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra(f"Drawing the {what}", "dev") from error
    return Figure(figsize=(width, height), layout="constrained")


def save_drawing(figure: Any, path: Path) -> None:
    """Write a figure as SVG, PNG or PDF, by the ending of the path; the same figure gives the same file.

    Raises:
        InputError: the ending names no format that can be drawn.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    except ValueError as error:
        raise InputError(f"{path.name} names no format that can be drawn", "end it with .svg, .png or .pdf") from error


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
body{{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}}
table{{border-collapse:collapse;margin:1rem 0}}td,th{{border:1px solid #ccc;padding:.25rem .6rem;text-align:right}}
td:first-child,th:first-child{{text-align:left}}figure{{margin:1.5rem 0}}figcaption{{color:#555}}
svg{{max-width:100%;height:auto}}
</style></head><body><h1>{title}</h1>
{body}
</body></html>
"""


def page(title: str, sections: Sequence[str]) -> str:
    """Return a whole HTML page that needs no other file."""
    return _PAGE.format(title=escape(title), body="\n".join(sections))


def html_table(columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    """Return rows as an HTML table."""
    head = "".join(f"<th>{escape(c)}</th>" for c in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(_shown(v))}</td>" for v in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def confusion_plot(confusion: Mapping[str, Mapping[str, int]], labels: Sequence[str]) -> str:
    """Return a heat map of the confusion matrix, rows normalised."""
    size, left, top = 64, 110, 34
    parts = []
    for i, gold in enumerate(labels):
        row = confusion.get(gold, {})
        total = sum(row.values())
        parts.append(_text(left - 8, top + i * size + size / 2, gold, "end"))
        parts.append(_text(left + i * size + size / 2, top - 14, gold))
        for j, said in enumerate(labels):
            share = row.get(said, 0) / total if total else 0.0
            x, y = left + j * size, top + i * size
            parts.append(
                f'<rect x="{x}" y="{y}" width="{size - 2}" height="{size - 2}" fill="#1f5fa8" '
                f'fill-opacity="{0.04 + 0.96 * share:.3f}"/>'
            )
            parts.append(
                _text(x + size / 2, y + size / 2, str(row.get(said, 0)), fill="#fff" if share > 0.5 else "#222")
            )
    side = size * len(labels)
    return _figure(parts, left + side, top + side, "Confusion: gold label down, decision across, rows normalised.")


def reliability_plot(bins: Sequence[Bin]) -> str:
    """Return a reliability diagram: accuracy over confidence, a dot's size by its rows."""
    total = sum(b.count for b in bins) or 1
    parts = [*_axes("confidence", "accuracy"), _line([(0, 0), (1, 1)], "#bbb", dashed=True)]
    for b in bins:
        x, y = _place(b.confidence, b.accuracy)
        radius = 3 + 14 * (b.count / total) ** 0.5
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="#1f5fa8" fill-opacity=".7"/>')
    return _figure(parts, 400, 330, "Reliability: on the dashed line, confidence means what it says.")


def curve_plot(points: Sequence[tuple[float, float]], x: str, y: str, caption: str) -> str:
    """Return a line plot; x is scaled to its range, y runs from 0 to 1."""
    if not points:
        return ""
    low, high = min(p[0] for p in points), max(p[0] for p in points)
    span = high - low or 1.0
    scaled = sorted(((px - low) / span, py) for px, py in points)
    parts = [*_axes(f"{x} ({low:.2f} to {high:.2f})", y), _line(scaled, "#1f5fa8")]
    return _figure(parts, 400, 330, caption)


_LEFT, _TOP, _WIDE, _HIGH = 60, 14, 320, 260


def _place(x: float, y: float) -> tuple[float, float]:
    return _LEFT + x * _WIDE, _TOP + (1 - y) * _HIGH


def _axes(x: str, y: str) -> list[str]:
    parts = [f'<rect x="{_LEFT}" y="{_TOP}" width="{_WIDE}" height="{_HIGH}" fill="none" stroke="#999"/>']
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(_text(_LEFT - 8, _place(0, tick)[1], f"{tick:g}", "end"))
    parts.append(_text(_LEFT + _WIDE / 2, _TOP + _HIGH + 26, x))
    parts.append(f'<g transform="translate(16 {_TOP + _HIGH / 2}) rotate(-90)">{_text(0, 0, y)}</g>')
    return parts


def _line(points: Sequence[tuple[float, float]], colour: str, dashed: bool = False) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (_place(*p) for p in points))
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'


def _text(x: float, y: float, text: str, anchor: str = "middle", fill: str = "#222") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" dominant-baseline="middle" font-size="12" '
        f'fill="{fill}">{escape(text)}</text>'
    )


def _figure(parts: Sequence[str], width: float, height: float, caption: str) -> str:
    drawing = f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img">{"".join(parts)}</svg>'
    return f"<figure>{drawing}<figcaption>{escape(caption)}</figcaption></figure>"
