"""Charts of a presentation: the figures that they draw, as tables with a column for each series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragweave.corpora.blocks import Block
from ragweave.corpora.formats.merged import joined
from ragweave.corpora.formats.ooxml import A, signed

C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_MOST, _SERIES = 1_000, 50
"""Rows of a table, and series of a chart, that are read."""


def tables(chart: Any, slide: int, warnings: list[str]) -> Iterator[Block]:
    """Yield the title of a chart, then a table for each group of series with the same categories."""
    heading = chart.find(f".//{C}chart/{C}title")
    words: list[str] = []
    if heading is not None:
        for text in heading.iter(f"{A}t"):
            words += (text.text or "").split()
    if words:
        yield Block(" ".join(words), "text", page=slide)
    since_1904 = False
    for element in chart.iter(f"{C}date1904"):
        since_1904 = since_1904 or element.get("val", "1") in ("1", "true")
    is_cut = False
    groups: dict[tuple[tuple[int, str], ...], list[tuple[str, dict[int, str]]]] = {}
    for n, series in enumerate(chart.iter(f"{C}ser")):
        if n == _SERIES:
            is_cut = True
            break
        labels = _points(series, "cat", since_1904) or _points(series, "xVal", since_1904)
        values = _points(series, "val", since_1904) or _points(series, "yVal", since_1904)
        if values:
            name = " ".join(" ".join(_points(series, "tx", since_1904).values()).split())
            groups.setdefault(tuple(labels.items()), []).append((name, values))
    for categories, columns in groups.items():
        labels = dict(categories)
        rows = set(labels)
        for _, values in columns:
            rows.update(values)
        is_cut = is_cut or len(rows) > _MOST
        yield _table(labels, columns, sorted(rows)[:_MOST], slide)
    if is_cut:
        warnings.append(
            f"of a chart on slide {slide} only the first {_SERIES} series and {_MOST:,} points were read"
        )


def _table(
    labels: dict[int, str], columns: list[tuple[str, dict[int, str]]], rows: list[int], slide: int
) -> Block:
    """Return the table of series with the same categories: a row per category, a column per series."""
    heads = ["", *[name for name, _ in columns]]
    lines = [joined(heads)] if any(heads) else []
    for row in rows:
        cells = [values.get(row, "") for _, values in columns]
        lines.append(joined([labels.get(row, str(row + 1)), *cells]))
    return Block("\n".join(lines), "table", int(any(heads)), page=slide)


def _points(series: Any, name: str, since_1904: bool) -> dict[int, str]:
    """Return the texts of the points of a part of a series by their number, as they were last drawn."""
    part = series.find(f"{C}{name}")
    if part is None:
        return {}
    points: dict[int, str] = {}
    for point in part.iter(f"{C}pt"):
        at, value = point.get("idx") or "", " ".join((point.findtext(f"{C}v") or "").split())
        if at.isdecimal() and len(at) < 10 and value:
            form = point.get("formatCode") or point.getparent().findtext(f"{C}formatCode") or ""
            # Of several levels, the innermost comes first.
            points.setdefault(int(at), _shown(value, form, since_1904))
        if len(points) > _MOST:
            break
    return points


def _shown(value: str, form: str, since_1904: bool) -> str:
    """Return a number as its format shows it, without binary rounding errors; dates in ISO form."""
    from openpyxl.styles.numbers import is_date_format, is_timedelta_format
    from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, from_excel

    try:
        number = float(value)
        if is_date_format(form) and not is_timedelta_format(form):
            epoch = CALENDAR_MAC_1904 if since_1904 else CALENDAR_WINDOWS_1900
            return str(from_excel(number, epoch).isoformat()).removesuffix("T00:00:00")
    except (ValueError, OverflowError):
        return value
    is_fraction = "." in value and abs(number) < 1e10
    return signed(number, f"{number:.10g}" if is_fraction else value, form)
