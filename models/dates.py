"""Dates with a year, as a line or a cell states them, in figures or in the words of four languages."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from ragweave.models.calendar import MONTHS
from ragweave.models.text import fold

_MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?"
_DATES = tuple(
    re.compile(rf"(?<![\w.,]){form}(?!\w|[.,-]\d)")
    for form in (
        r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?:[t ]\d{2}:\d{2}[:\d.,+z-]*)?",
        r"(?P<y>(?:1[5-9]|20|21)\d\d)[-/](?P<m>\d{1,2})",  # 1250.10 is an amount
        r"(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4})",
        r"(?P<y>\d{4})\s?年\s?(?P<m>\d{1,2})\s?月(?:\s?(?P<d>\d{1,2})\s?日)?",
        rf"(?:(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.|er)?\s?(?:of\s|de\s)?)?{_MONTH},?\s(?:de\s)?(?P<y>\d{{4}})",
        rf"{_MONTH}\s(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<y>\d{{4}})",
    )
)
_YEAR = re.compile(r"\d{4}")
_AROUND = 40
"""Characters before a year, and after it, that a date has at most, up to the next space."""


def day(cell: str) -> date | None:
    """Read a cell that is a date with a year, in figures or words; a month without a day counts from its first."""
    text = fold(" ".join(cell.split()))
    return next((_date(m) for form in _DATES if (m := form.fullmatch(text))), None)


def days(text: str) -> list[tuple[int, int, date]]:
    """Return the dates with a year that stand in a line, each with its place in the folded line, in order."""
    return [] if text.isascii() and not _YEAR.search(text) else list(_days(text))


@lru_cache(maxsize=256)
def _days(text: str) -> tuple[tuple[int, int, date], ...]:
    """Return what `days` does; kept, because a document's lines are looked at for one kind of date after another."""
    line = fold(text)
    found: list[tuple[int, int, date]] = []
    near = _near_years(line)
    for m in (m for form in _DATES for a, b in near for m in form.finditer(line, a, b)):
        when = _date(m)
        if when is not None and not any(a < m.end() and m.start() < b for a, b, _ in found):
            found.append((*m.span(), when))
    return tuple(sorted(found))


def names_day(said: str) -> bool:
    """Tell whether a date, as it stands in a folded line, names its day: 1 March 2024 and 2024-03-01, not 2024-03."""
    return len(re.findall(r"\d+", said)) + bool(re.search(r"[^\W\d_]{3}", said)) > 2


def _near_years(line: str) -> list[tuple[int, int]]:
    """Return the stretches of a line in which dates with a year may stand: most lines name none."""
    near: list[tuple[int, int]] = []
    for m in _YEAR.finditer(line):
        a, space = max(0, m.start() - _AROUND), line.find(" ", m.end() + _AROUND)
        if near and a <= near[-1][1]:
            a = near.pop()[0]
        near.append((a, len(line) if space < 0 else space))
    return near


def _date(m: re.Match[str]) -> date | None:
    found = m.groupdict()
    month = MONTHS.get(found["month"], 0) if found.get("month") else int(found.get("m") or 0)
    return _made(int(found["y"]), month, int(found.get("d") or 1))


def _made(year: int, month: int, of_month: int) -> date | None:
    try:
        return date(year, month, of_month)
    except ValueError:
        return None
