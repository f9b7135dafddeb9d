"""What stands in a cell of a table: a number with its unit, a date, yes or no, or text.

A number is read in the notation of its column: 1,240.50 and 1.240,50 and 1 240,50 are the same amount, and only the
cells beside it tell whether 1.240 is one thousand two hundred and forty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

from ragweave.models.calendar import MONTHS
from ragweave.models.text import fold

CURRENCIES = {
    spelling: names.split()[0]
    for names in (
        "€ eur euro euros",
        "$ usd dollar dollars",
        "£ gbp pound pounds",
        "¥ jpy yen",
        "cny yuan rmb",
        "chf fr sfr franken francs",
        "kr kronor kroner",
        "sek",
        "nok",
        "dkk",
        "cent cents ct",
    )
    for spelling in names.split()
}
"""Spellings of currencies, and the sign that stands for each."""
_MISSING = frozenset({"", "-", "–", "—", "n/a", "na", "none", "null", "?", "...", "…", "k.a.", "tbd"})
_YES = frozenset("yes y true x ✓ ✔ ja oui si sim vrai wahr 是 有".split())
_NO = frozenset("no n false ✗ ✘ nein non nao faux falsch 否 无".split())
_SPACES = re.compile("[\u00a0\u2007\u2009\u202f]")
WHOLE = r"(?<=\d)[.,][-–—−]{1,2}(?![\w-])"
"""What ends a price without cents: 78,- and 78.–"""
_AMOUNT = rf"(?:\d{{1,3}}(?:[ '’.,]\d{{3}})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?|[.,]\d+)(?:{WHOLE})?"
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<minus>[-−–])?\s*(?P<before>[^\W\d_]{{1,4}}\.?|[€$£¥])?\s*(?P<minus2>[-−])?\s*"
    rf"(?P<n>{_AMOUNT})\s*(?P<after>%|‰|°\s?[CF]?|[€$£¥]|[^\W\d_][\w²³/.]*(?:\s[^\W\d_][\w²³/.]*)?)?\s*(?P<close>\))?"
)
_COMMA, _DOT = (
    re.compile(rf"\d{m}(?:\d{{1,2}}|\d{{4,}})(?!\d)|(?<![\d.,])(?:0|\d{{4,}}){m}\d{{3}}(?!\d)") for m in (",", r"\.")
)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_MARK = re.compile(r"(?<=\d)[.,](?=\d)")
_GROUPED = re.compile(r"\d([.,])\d{3}(?!\d)")
_ALIKE = 2
"""How many times a whole number must exceed all that have three digits behind a mark, to be of one size with them only
where the mark parts thousands."""
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
"""What each of them holds."""
_LAST_CENTURY = 50
_AROUND = 40
"""Characters before a year, and after it, that a date has at most, up to the next space."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number as a cell states it.

    The unit is as written in the cell, a currency by its sign; `places` are digits after the decimal mark.
    """

    amount: Decimal
    unit: str = ""
    places: int = 0


def is_missing(cell: str) -> bool:
    """Tell whether a cell says that there is nothing."""
    return cell.strip().lower() in _MISSING


def decimal_mark(cells: Sequence[str]) -> str:
    """Return the decimal mark of cells that leave no doubt about it, or "".

    A mark before one, two, or more than three digits is decimal, and one behind 0 alone or more than three digits; one
    before three may part thousands.
    """
    marked = [m.group() for m in _figures(c for c in cells if "," in c or "." in c)]
    last = set(map(_mixed, marked))
    comma = "," in last or any(map(_COMMA.search, marked))
    dot = "." in last or any(map(_DOT.search, marked))
    return "" if comma == dot else "," if comma else "."


def grouping_mark(cells: Sequence[str]) -> str:
    """Return the mark that parts thousands in a column by the size of its numbers, or "": 1.200, 980 and 2.450.

    The whole numbers below a thousand are far above the others only where the mark is read as decimal, and all of them
    are of one unit: 750 g is no more than 1.500 kg.
    """
    if not any(map(_GROUPED.search, cells)):
        return ""
    read = _figures(cells)
    marked, plain = [m["n"] for m in read if not m["n"].isdigit()], [m["n"] for m in read if m["n"].isdigit()]
    marks = {n[-4] if _THOUSANDS.fullmatch(n) else "" for n in marked}
    if len(marks) != 1 or "" in marks:
        return ""
    units = {(m["after"] or m["before"] or "").strip(". ") for m in read} - {""}
    if len({CURRENCIES.get(u.lower(), u) for u in units}) > 1:
        return ""
    largest = max(int(n[:-4]) for n in marked) + 1
    whole = bool(plain) and all(len(n) < 10 and 100 <= int(n) < 1_000 and int(n) >= _ALIKE * largest for n in plain)
    # One cell alone may be a fraction; what ends in 0 was written by nobody who leaves out the places of the others.
    return marks.pop() if whole and (len(marked) > 1 or marked[0].endswith("0")) else ""


def is_open(cells: Sequence[str]) -> bool:
    """Tell whether cells hold a number such as 1.200, which is 1 200 or 1.2 by the notation of who wrote it.

    1,200 is read as one thousand two hundred where nothing tells the notation.
    """
    return any(m[1] == "." for read in _figures(c for c in cells if "." in c) for m in _GROUPED.finditer(read["n"]))


def _figures(cells: Iterable[str]) -> list[re.Match[str]]:
    """Read those cells that are numbers."""
    return [m for c in cells if (m := _NUMBER.fullmatch(_SPACES.sub(" ", c.strip())))]


def _mixed(cell: str) -> str:
    """Return the last mark of a number that has both, or one of them after another twice."""
    marks = _MARK.findall(cell)
    if len(set(marks)) == 2:
        return str(marks[-1])
    return "" if len(marks) < 2 else ("," if marks[0] == "." else ".")


def number(cell: str, mark: str = ".") -> Value | None:
    """Read a cell that is a number, maybe with a currency, percent or unit; None for everything else.

    `mark` is the decimal mark of its column.
    """
    m = _NUMBER.fullmatch(_SPACES.sub(" ", cell.strip()))
    if m is None or bool(m["open"]) != bool(m["close"]):
        return None
    unit = (m["after"] or "").strip()
    if before := (m["before"] or "").strip("."):
        sign = CURRENCIES.get(before.lower())
        if sign is None or unit:
            return None
        unit = before
    written = re.sub(rf"[ '’]|{WHOLE}", "", m["n"])
    other = "." if mark == "," else ","
    if mark in written and other in written[written.index(mark) :]:
        return None
    if mark in written or _GROUPED.search(written):
        written = written.replace(other, "")
    written = written.replace(",", ".")
    try:
        amount = Decimal(written)
    except InvalidOperation:
        return None
    minus = m["minus"] or m["minus2"] or m["open"]
    return Value(-amount if minus else amount, CURRENCIES.get(unit.lower(), unit), len(written.partition(".")[2]))


def day(cell: str) -> date | None:
    """Read a cell that is a date with a year, in figures or words; a month without a day counts from its first."""
    text = fold(" ".join(cell.split()))
    return next((_date(m) for form in _DATES if (m := form.fullmatch(text))), None)


def column_days(cells: Sequence[str]) -> tuple[date | None, ...]:
    """Read the cells of a column as dates; of 03/08/2026 the others tell which number is the day, else it is none."""
    found = [day(c) for c in cells]
    slashed = [_SLASHED.fullmatch(c.strip()) for c in cells]
    first = any(m and int(m["a"]) > 12 for m in slashed)
    second = any(m and int(m["b"]) > 12 for m in slashed)
    if first == second:
        first = not first and any(d and _DAY_FIRST.match(c.strip()) for d, c in zip(found, cells, strict=True))
    order = ("b", "a") if first else ("a", "b") if second else ()
    return tuple(
        _made(_year(m["y"]), *(int(m[g]) for g in order)) if m and order else d
        for m, d in zip(slashed, found, strict=True)
    )


def _year(written: str) -> int:
    """Return the year that is written with four figures or two: 85 is 1985, and 24 is 2024."""
    year = int(written)
    return year if len(written) > 2 else year + (1_900 if year >= _LAST_CENTURY else 2_000)


def year_of(cell: str) -> int | None:
    """Return the only year that stands in a cell, whatever the rest of it says."""
    found = {int(m.group()) for m in _A_YEAR.finditer(cell)}
    return found.pop() if len(found) == 1 else None


_SLASHED = re.compile(r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>\d{4}|\d{2})")
_DAY_FIRST = re.compile(r"\d{1,2}(?:\.|\s|st|nd|rd|th)")
_A_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d(?!\d)")


def days(text: str) -> list[tuple[int, int, date]]:
    """Return the dates with a year that stand in a line, each with its place in the folded line, in order."""
    line = fold(text)
    found: list[tuple[int, int, date]] = []
    near = _near_years(line)
    for m in (m for form in _DATES for a, b in near for m in form.finditer(line, a, b)):
        when = _date(m)
        if when is not None and not any(a < m.end() and m.start() < b for a, b, _ in found):
            found.append((*m.span(), when))
    return sorted(found)


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


def yes(cell: str) -> bool | None:
    """Read a cell that says yes or no; None for everything else."""
    said = fold(cell.strip())
    return True if said in _YES else False if said in _NO else None


def month_of(word: str) -> int:
    """Return the number of the month that a word names, or 0."""
    return MONTHS.get(fold(word).strip("."), 0)


def written(amount: Decimal, places: int = 0) -> str:
    """Write an amount with thousands parted by commas and at least so many places, as far as it has them."""
    exact = max(places, -int(amount.normalize().as_tuple().exponent), 0)
    return f"{amount:,.{min(exact, max(places, 2))}f}"
