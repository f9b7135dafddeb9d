"""Read the cells of a table as numbers and dates, by what most cells of their column are.

A column is read in one convention. `1,234` is a thousand in one table and a little more than one in another:
the column decides, then the other columns of the table, then the English convention. In the last case a note
says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

from ragweave.models.dates import day, names_day

Kind = Literal["integer", "real", "date", "text"]
Value = int | float | str | None
Mark = Literal[".", ","]

SHARE = 0.8
"""A column has the kind of at least this share of its filled cells."""
_SAMPLE = 60
"""Filled cells that are read first, to skip columns of another kind."""
_DECIDING = 2_000
"""Most cells with a point or a comma from which the convention of a column is found."""
_DIGITS = 15
"""Digits that a double can store exactly; a longer number is a name."""
_EMPTY = {"", "-", "–", "—", "−", "."}
_CURRENCY = (
    r"(?:US|C|A|NZ|R)?\$|[€£¥₹₩₽₺₫₴₦]|"
    r"(?:EUR|USD|GBP|CHF|JPY|CNY|RMB|SEK|NOK|DKK|PLN|CZK|HUF|INR|AUD|CAD|NZD|BRL|ZAR|TRY|RUB|"
    r"KRW|MXN|SGD|HKD)(?![^\W\d_])|"
    r"(?:kr|zł|Kč|Ft|Fr)\b\.?"
)
_CELL = re.compile(
    rf"(?P<open>\()?(?P<sign>[-−–+])?\s?(?P<before>{_CURRENCY})?\s?(?P<inner>[-−–])?"
    r"(?P<digits>[\d.,][\d.,'’ \u00a0\u2009\u202f]*?)(?P<after>-)?"
    rf"(?:\s?(?P<unit>{_CURRENCY}|%|‰|°\s?[CF]?|[^\W\d_][^\W\d_²³/]{{0,9}}))?(?P<close>\))?"
)
_MONEY = re.compile(_CURRENCY)
_MARKED = re.compile("[.,]")
_MINUS = frozenset("-−–")
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", re.A)
_FORMS: dict[Mark, re.Pattern[str]] = {
    ".": re.compile(
        r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?|\d{1,3}(?:['’ ]\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+"
    ),
    ",": re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d{1,3}(?:['’ ]\d{3})+(?:,\d+)?|\d+(?:,\d*)?|,\d+"),
}
_SPACES = re.compile("[\u00a0\u2009\u202f]")
_ISO = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?)?")
_SLASHED = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?: (\d\d:\d\d(?::\d\d)?))?")


class ColumnValues(NamedTuple):
    """A column as values.

    Attributes:
        kind: what most of its cells are.
        values: one for each cell, None for one that is empty or of another kind.
        units: the unit of each value if the units differ, else empty.
        unit: the unit that all values have, or "".
        odd: filled cells of another kind, by their row.
        note: a sentence that a reader of the values must know, or "".
    """

    kind: Kind
    values: list[Value]
    units: list[str]
    unit: str
    odd: list[int]
    note: str


@dataclass(slots=True)
class Convention:
    """The convention of a table, as its clear columns show it: decimal mark, and order of day and month."""

    marks: Counter[Mark] = field(default_factory=Counter)
    day_first: bool | None = None


def read_columns(columns: Sequence[Sequence[str]]) -> list[ColumnValues]:
    """Return the columns of a table as values; a column with a clear convention decides for the others."""
    convention = Convention()
    for cells in columns:
        _learn(cells, convention)
    return [read_column(cells, convention) for cells in columns]


def read_column(cells: Sequence[str], convention: Convention) -> ColumnValues:
    """Return a column as values, by what most of its filled cells are."""
    filled = _filled(cells)
    sample = filled[:_SAMPLE]
    for read in (_as_days, _as_numbers):
        if not _are_most(sample, read(sample, convention)[0]):
            continue
        values, kind, note = read(cells, convention)
        if _are_most(filled, values):
            return _column(cells, values, kind, note)
    texts: list[Value] = [cell or None for cell in cells]
    return ColumnValues("text", texts, [], "", [], _unclear(sample))


def _filled(cells: Sequence[str]) -> list[str]:
    return [cell for cell in cells if cell not in _EMPTY]


def as_number(cell: str, mark: Mark) -> tuple[float | int, str, bool] | None:
    """Return the value of a cell, its unit, and whether that is money or percent; None if no number."""
    if _PLAIN.fullmatch(cell) and ("." not in cell or mark == ".") and len(cell) <= _DIGITS:
        return _value(cell), "", False
    match = _CELL.fullmatch(cell if cell.isascii() else _SPACES.sub(" ", cell))
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    if match["before"] and match["unit"] not in (None, "", "%"):
        return None
    value = _amount(match["digits"].strip(), mark)
    if value is None:
        return None
    if _is_negative(match):
        value = -value
    unit = match["before"] or match["unit"] or ""
    is_money = unit == "%" or _MONEY.fullmatch(unit) is not None
    return value, unit, is_money


def _amount(digits: str, mark: Mark) -> float | int | None:
    """Return the value of digits; None for an account number, a postcode or digits of another convention."""
    if not _FORMS[mark].fullmatch(digits):
        return None
    grouping = r"[,'’ ]" if mark == "." else r"[.'’ ]"
    plain = re.sub(grouping, "", digits).replace(",", ".")
    whole = plain.partition(".")[0]
    has_leading_zero = len(whole) > 1 and whole[0] == "0"
    if has_leading_zero or len(plain.replace(".", "")) > _DIGITS:
        return None
    return _value(plain)


def _value(plain: str) -> float | int:
    return float(plain) if "." in plain else int(plain)


def _is_negative(match: re.Match[str]) -> bool:
    if match["open"]:
        return True
    signs = match.group("sign", "inner", "after")
    return not _MINUS.isdisjoint(signs)


def _as_numbers(cells: Sequence[str], convention: Convention) -> tuple[list[tuple[Value, str]], Kind, str]:
    mark, note = _mark(cells, convention)
    found = [as_number(cell, mark) for cell in cells]
    units: set[str] = set()
    has_name = False
    for number in found:
        if number is not None:
            units.add(number[1])
            has_name = has_name or (bool(number[1]) and not number[2])
    # 10A, 11B: names of flats are no amounts in amperes.
    only_plain = has_name and len(units) > 1
    kind: Kind = "integer"
    values: list[tuple[Value, str]] = []
    for number in found:
        if number is None or (only_plain and number[1]):
            values.append((None, ""))
            continue
        values.append((number[0], number[1]))
        if isinstance(number[0], float):
            kind = "real"
    return values, kind, note


def _as_days(cells: Sequence[str], convention: Convention) -> tuple[list[tuple[Value, str]], Kind, str]:
    day_first = _day_first(cells)
    if day_first is None:
        day_first = convention.day_first
    values: list[tuple[Value, str]] = []
    for cell in cells:
        values.append((as_day(cell, day_first), ""))
    return values, "date", ""


def as_day(cell: str, day_first: bool | None) -> str | None:
    """Return a day as `YYYY-MM-DD` with the time of the cell; None if it is no day, or not clear."""
    iso = _ISO.fullmatch(cell)
    if iso:
        return _stamp(iso[1], iso[2])
    slashed = _SLASHED.fullmatch(cell)
    if slashed:
        first = True if slashed[2] == "." else day_first
        if first is None:
            return None
        one, two = int(slashed[1]), int(slashed[3])
        of_month, month = (one, two) if first else (two, one)
        return _stamp(f"{slashed[4]}-{month:02}-{of_month:02}", slashed[5])
    if len(cell) > 30 or not names_day(cell):
        return None
    found = day(cell)
    return None if found is None else found.isoformat()


def _stamp(date: str, time: str | None) -> str | None:
    """Return a date with its time, None if there is no such day."""
    if not day(date):
        return None
    return f"{date} {time}" if time else date


def _column(cells: Sequence[str], found: list[tuple[Value, str]], kind: Kind, note: str) -> ColumnValues:
    odd: list[int] = []
    units: set[str] = set()
    for n, (value, unit) in enumerate(found):
        if value is not None:
            units.add(unit)
        elif cells[n] not in _EMPTY:
            odd.append(n)
    values = [value for value, _ in found]
    if len(units) > 1:
        each_unit = [unit for _, unit in found]
        return ColumnValues(kind, values, each_unit, "", odd, note)
    return ColumnValues(kind, values, [], "".join(units), odd, note)


def _are_most(filled: Sequence[str], found: Sequence[tuple[Value, str]]) -> bool:
    """Return whether enough of the filled cells have a value of a kind."""
    count = 0
    for value, _ in found:
        count += value is not None
    return count > 0 and count >= SHARE * len(filled)


def _learn(cells: Sequence[str], convention: Convention) -> None:
    """Add to the convention what a column shows clearly."""
    sample = _filled(cells)[: 4 * _SAMPLE]
    point, comma = _count(sample, "."), _count(sample, ",")
    if point != comma and max(point, comma) >= SHARE * len(sample):
        convention.marks["." if point > comma else ","] += 1
    if convention.day_first is None:
        convention.day_first = _day_first(cells)


def _count(cells: Sequence[str], mark: Mark) -> int:
    """Return how many cells are numbers with a decimal mark."""
    count = 0
    for cell in cells:
        count += as_number(cell, mark) is not None
    return count


def _mark(cells: Sequence[str], convention: Convention) -> tuple[Mark, str]:
    """Return the decimal mark of a column, and a note if nothing decides it."""
    cells = list(islice(filter(_MARKED.search, cells), _DECIDING))
    point, comma = _count(cells, "."), _count(cells, ",")
    if point == comma:
        point, comma = convention.marks["."], convention.marks[","]
    if point != comma:
        return ("." if point > comma else ","), ""
    for cell in cells:
        with_point, with_comma = as_number(cell, "."), as_number(cell, ",")
        if with_point and with_comma and with_point[0] != with_comma[0]:
            return ".", f"“{cell}” is read as {with_point[0]:,}"
    return ".", ""


def _day_first(cells: Sequence[str]) -> bool | None:
    """Return whether days come before months in a column, by a number above 12; None if there is none."""
    for cell in cells:
        match = _SLASHED.fullmatch(cell)
        if match and (int(match[1]) > 12) != (int(match[3]) > 12):
            return int(match[1]) > 12
    return None


def _unclear(sample: Sequence[str]) -> str:
    slashed = list(filter(_SLASHED.fullmatch, sample))
    if slashed and len(slashed) >= SHARE * len(sample):
        return f"“{slashed[0]}” does not show which number is the day, so that it is kept as it is written"
    return ""
