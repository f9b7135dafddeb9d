"""Read dates with a year from a line or a cell, in figures or in the words of four languages."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from ragweave.models.calendar import MONTHS
from ragweave.models.text import fold

_MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?"
_FORMS = (
    r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?:[t ]\d{2}:\d{2}[:\d.,+z-]*)?",
    r"(?P<y>(?:1[5-9]|20|21)\d\d)[-/](?P<m>\d{1,2})",  # 1250.10 is an amount
    r"(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4})",
    r"(?P<y>\d{4})\s?年\s?(?P<m>\d{1,2})\s?月(?:\s?(?P<d>\d{1,2})\s?日)?",
    rf"(?:(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.|er)?\s?(?:of\s|de\s)?)?{_MONTH},?\s(?:de\s)?(?P<y>\d{{4}})",
    rf"{_MONTH}\s(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<y>\d{{4}})",
)
_DATES = [re.compile(rf"(?<![\w.,]){form}(?!\w|[.,-]\d)") for form in _FORMS]
_YEAR = re.compile(r"\d{4}")
_AROUND = 40
"""Most characters of a date before its year, and after it up to the next space."""


def day(cell: str) -> date | None:
    """Read a cell that is a date with a year; a month without a day is its first day."""
    text = fold(" ".join(cell.split()))
    for form in _DATES:
        found = form.fullmatch(text)
        if found:
            return _date(found)
    return None


def days(text: str) -> list[tuple[int, int, date]]:
    """Return the dates with a year in a line in order, each with its span in the folded line."""
    if text.isascii() and not _YEAR.search(text):
        return []
    return list(_days(text))


@lru_cache(maxsize=256)
def _days(text: str) -> tuple[tuple[int, int, date], ...]:
    """Return the result of `days`. Cached, because callers search a line for several kinds of dates."""
    line = fold(text)
    found: list[tuple[int, int, date]] = []
    near = _near_years(line)
    for form in _DATES:
        for start, end in near:
            for m in form.finditer(line, start, end):
                when = _date(m)
                if when is not None and not _overlaps(m, found):
                    found.append((*m.span(), when))
    return tuple(sorted(found))


def _overlaps(m: re.Match[str], found: list[tuple[int, int, date]]) -> bool:
    """Return whether a match overlaps a date that was found before."""
    for start, end, _ in found:
        if start < m.end() and m.start() < end:
            return True
    return False


def names_day(written: str) -> bool:
    """Return whether a date in a folded line names its day: 1 March 2024 and 2024-03-01, not 2024-03."""
    numbers = len(re.findall(r"\d+", written))
    has_month_name = bool(re.search(r"[^\W\d_]{3}", written))
    return numbers + has_month_name > 2


def _near_years(line: str) -> list[tuple[int, int]]:
    """Return the spans of a line that may hold dates with a year; most lines have none."""
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
