"""Charts of Office files: the figures that they draw, as tables with a column for each series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragweave.corpora.blocks import Block
from ragweave.corpora.formats.ooxml import A

C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_MOST, _SERIES = 1_000, 50
"""Points of a series, and series of a chart, that are read."""


def tables(chart: Any) -> Iterator[Block]:
    """Yield the title of a chart, then a table for the series that share their categories."""
    found = chart.find(f".//{C}chart/{C}title")
    title = " ".join(t.text or "" for t in found.iter(f"{A}t")) if found is not None else ""
    if title.strip():
        yield Block(" ".join(title.split()), "text")
    groups: dict[tuple[tuple[int, str], ...], list[tuple[str, dict[int, str]]]] = {}
    for n, series in enumerate(chart.iter(f"{C}ser")):
        if n == _SERIES:
            break
        labels = _points(series, "cat") or _points(series, "xVal")
        values = _points(series, "val") or _points(series, "yVal")
        if values:
            name = " ".join(" ".join(_points(series, "tx").values()).split())
            groups.setdefault(tuple(labels.items()), []).append((name, values))
    for categories, columns in groups.items():
        labels = dict(categories)
        rows = sorted({*labels, *(n for _, values in columns for n in values)})
        heads = ["", *(name for name, _ in columns)]
        lines = [heads] if any(heads) else []
        lines += [[labels.get(n, str(n + 1)), *(values.get(n, "") for _, values in columns)] for n in rows]
        text = "\n".join(" | ".join(cell.replace(" | ", " / ") for cell in line) for line in lines)
        yield Block(text, "table", int(any(heads)))


def _points(series: Any, name: str) -> dict[int, str]:
    """Return the texts of the points of a part of a series by their number, as they were last drawn."""
    part = series.find(f"{C}{name}")
    out: dict[int, str] = {}
    for point in part.iter(f"{C}pt") if part is not None else ():
        at, said = point.get("idx") or "", " ".join((point.findtext(f"{C}v") or "").split())
        if at.isdecimal() and len(at) < 10 and said:
            out.setdefault(int(at), _plain(said))  # of categories of several levels the innermost comes first
        if len(out) == _MOST:
            break
    return out


def _plain(said: str) -> str:
    """Return a number without what binary fractions add to it."""
    try:
        number = float(said)
    except ValueError:
        return said
    return f"{number:.10g}" if "." in said and abs(number) < 1e10 else said
