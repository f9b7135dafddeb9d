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
    """Yield the title of a chart, then a table for the series that share their categories."""
    found = chart.find(f".//{C}chart/{C}title")
    title = " ".join(t.text or "" for t in found.iter(f"{A}t")) if found is not None else ""
    if title.strip():
        yield Block(" ".join(title.split()), "text", page=slide)
    since_1904 = any(e.get("val", "1") in ("1", "true") for e in chart.iter(f"{C}date1904"))
    cut = False
    groups: dict[tuple[tuple[int, str], ...], list[tuple[str, dict[int, str]]]] = {}
    for n, series in enumerate(chart.iter(f"{C}ser")):
        cut = n == _SERIES
        if cut:
            break
        labels = _points(series, "cat", since_1904) or _points(series, "xVal", since_1904)
        values = _points(series, "val", since_1904) or _points(series, "yVal", since_1904)
        if values:
            name = " ".join(" ".join(_points(series, "tx", since_1904).values()).split())
            groups.setdefault(tuple(labels.items()), []).append((name, values))
    for categories, columns in groups.items():
        labels = dict(categories)
        rows = sorted({*labels, *(n for _, values in columns for n in values)})
        cut = cut or len(rows) > _MOST
        heads = ["", *(name for name, _ in columns)]
        lines = [heads] if any(heads) else []
        lines += [
            [labels.get(n, str(n + 1)), *(values.get(n, "") for _, values in columns)] for n in rows[:_MOST]
        ]
        text = "\n".join(map(joined, lines))
        yield Block(text, "table", int(any(heads)), page=slide)
    if cut:
        warnings.append(
            f"of a chart on slide {slide} only the first {_SERIES} series and {_MOST:,} points were read"
        )


def _points(series: Any, name: str, since_1904: bool) -> dict[int, str]:
    """Return the texts of the points of a part of a series by their number, as they were last drawn."""
    part = series.find(f"{C}{name}")
    out: dict[int, str] = {}
    for point in part.iter(f"{C}pt") if part is not None else ():
        at, said = point.get("idx") or "", " ".join((point.findtext(f"{C}v") or "").split())
        if at.isdecimal() and len(at) < 10 and said:
            form = point.get("formatCode") or point.getparent().findtext(f"{C}formatCode") or ""
            out.setdefault(
                int(at), _shown(said, form, since_1904)
            )  # of several levels the innermost comes first
        if len(out) > _MOST:
            break
    return out


def _shown(said: str, form: str, since_1904: bool) -> str:
    """Return a number as its format shows it, dates in ISO form, without what binary fractions add to it."""
    from openpyxl.styles.numbers import is_date_format, is_timedelta_format
    from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, from_excel

    try:
        number = float(said)
        if is_date_format(form) and not is_timedelta_format(form):
            when = from_excel(number, CALENDAR_MAC_1904 if since_1904 else CALENDAR_WINDOWS_1900).isoformat()
            return str(when).removesuffix("T00:00:00")
    except (ValueError, OverflowError):
        return said
    return signed(number, f"{number:.10g}" if "." in said and abs(number) < 1e10 else said, form)
