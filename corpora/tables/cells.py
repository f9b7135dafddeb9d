"""Cells of a table as values: numbers and days, by what most cells of their column are.

A column is read in one convention. `1,234` is a thousand in one table and a little more than one in
another: the column decides, then the other columns of the table, then the English convention, and a
note says which.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ragweave.models.dates import day, names_day

Kind = Literal["integer", "real", "date", "text"]
Value = int | float | str | None
Mark = Literal[".", ","]

SHARE = 0.8
"""Share of the filled cells of a column that decides what the column is."""
_SAMPLE = 60
"""Filled cells that are looked at before all of them are."""
_DECIDING = 2_000
"""Cells with a point or a comma by which the convention of a column is decided."""
_DIGITS = 15
"""Digits of a number that a double holds; longer ones are names."""
_EMPTY = {"", "-", "–", "—", "−", "."}
_CURRENCY = (
    r"(?:US|C|A|NZ|R)?\$|[€£¥₹₩₽₺₫₴₦]|"
    r"(?:EUR|USD|GBP|CHF|JPY|CNY|RMB|SEK|NOK|DKK|PLN|CZK|HUF|INR|AUD|CAD|NZD|BRL|ZAR|TRY|RUB|KRW|MXN|SGD|HKD)(?![^\W\d_])|"
    r"(?:kr|zł|Kč|Ft|Fr)\b\.?"
)
_CELL = re.compile(
    rf"(?P<open>\()?(?P<sign>[-−–+])?\s?(?P<before>{_CURRENCY})?\s?(?P<inner>[-−–])?"
    r"(?P<digits>[\d.,][\d.,'’ \u00a0\u2009\u202f]*?)(?P<after>-)?"
    rf"(?:\s?(?P<unit>{_CURRENCY}|%|‰|°\s?[CF]?|[^\W\d_][^\W\d_²³/]{{0,9}}))?(?P<close>\))?"
)
_MONEY = re.compile(_CURRENCY)
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
        units: the unit of each value, where they differ; else none.
        unit: the one that all values have, or "".
        odd: filled cells of another kind, by their row.
        note: what a reader of the values has to know, as a sentence, or "".
    """

    kind: Kind
    values: list[Value]
    units: list[str]
    unit: str
    odd: list[int]
    note: str


@dataclass(slots=True)
class Convention:
    """What columns of a table say of each other: the decimal mark, and whether the day comes first."""

    marks: Counter[Mark] = field(default_factory=Counter)
    day_first: bool | None = None


def read_columns(columns: Sequence[Sequence[str]]) -> list[ColumnValues]:
    """Return the columns of a table as values; one that is sure of its convention decides for the others."""
    convention = Convention()
    for cells in columns:
        _learn(cells, convention)
    return [read_column(cells, convention) for cells in columns]


def read_column(cells: Sequence[str], convention: Convention) -> ColumnValues:
    """Return a column as values, by what most of its filled cells are."""
    filled = [cell for cell in cells if cell not in _EMPTY]
    sample = filled[:_SAMPLE]
    for read in (_as_days, _as_numbers):
        if _most(sample, read(sample, convention)[0]):
            found = read(cells, convention)
            if _most(filled, found[0]):
                return _made(cells, *found)
    return ColumnValues("text", [cell or None for cell in cells], [], "", [], _unclear(sample))


def as_number(cell: str, mark: Mark) -> tuple[float | int, str, bool] | None:
    """Return the value of a cell, its unit, and whether that is a currency or percent; None if it is none."""
    if _PLAIN.fullmatch(cell) and ("." not in cell or mark == ".") and len(cell) <= _DIGITS:
        return float(cell) if "." in cell else int(cell), "", False
    m = _CELL.fullmatch(cell if cell.isascii() else _SPACES.sub(" ", cell))
    if m is None or bool(m["open"]) != bool(m["close"]) or (m["before"] and m["unit"] and m["unit"] != "%"):
        return None
    digits = m["digits"].strip()
    if not _FORMS[mark].fullmatch(digits):
        return None
    plain = re.sub(r"[,'’ ]" if mark == "." else r"[.'’ ]", "", digits).replace(",", ".")
    whole = plain.partition(".")[0]
    if len(plain.replace(".", "")) > _DIGITS or (len(whole) > 1 and whole[0] == "0"):
        return None  # the number of an account, a postcode
    value = float(plain) if "." in plain else int(plain)
    below = bool(m["open"]) or any(
        m[sign] in ("-", "−", "–") for sign in ("sign", "inner", "after") if m[sign]
    )
    unit = m["before"] or m["unit"] or ""
    return -value if below else value, unit, bool(_MONEY.fullmatch(unit)) or unit == "%"


def _as_numbers(cells: Sequence[str], convention: Convention) -> tuple[list[tuple[Value, str]], Kind, str]:
    mark, note = _mark(cells, convention)
    found = [as_number(cell, mark) for cell in cells]
    units = {f[1] for f in found if f is not None}
    # 10A, 11B: names of flats are no amounts in amperes.
    named = {f[1] for f in found if f is not None and f[1] and not f[2]}
    if named and len(units) > 1:
        found = [None if f is None or f[1] else f for f in found]
    kind: Kind = "real" if any(isinstance(f[0], float) for f in found if f is not None) else "integer"
    return [(None, "") if f is None else (f[0], f[1]) for f in found], kind, note


def _as_days(cells: Sequence[str], convention: Convention) -> tuple[list[tuple[Value, str]], Kind, str]:
    first = _day_first(cells)
    first = convention.day_first if first is None else first
    return [(as_day(cell, first), "") for cell in cells], "date", ""


def as_day(cell: str, day_first: bool | None) -> str | None:
    """Return a day as `YYYY-MM-DD`, with the time that the cell states; None if it is none, or not clear."""
    if m := _ISO.fullmatch(cell):
        return m[1] + (f" {m[2]}" if m[2] else "") if day(m[1]) else None
    if m := _SLASHED.fullmatch(cell):
        one, two = int(m[1]), int(m[3])
        first = True if m[2] == "." else day_first
        if first is None:
            return None
        of_month, month = (one, two) if first else (two, one)
        made = f"{m[4]}-{month:02}-{of_month:02}"
        return made + (f" {m[5]}" if m[5] else "") if day(made) else None
    if len(cell) > 30 or not names_day(cell):
        return None
    found = day(cell)
    return None if found is None else found.isoformat()


def _made(cells: Sequence[str], found: list[tuple[Value, str]], kind: Kind, note: str) -> ColumnValues:
    values = [value for value, _ in found]
    odd = [
        n
        for n, (cell, value) in enumerate(zip(cells, values, strict=True))
        if value is None and cell not in _EMPTY
    ]
    units = {unit for value, unit in found if value is not None}
    several = len(units) > 1
    return ColumnValues(
        kind, values, [u for _, u in found] if several else [], "" if several else "".join(units), odd, note
    )


def _most(filled: Sequence[str], found: Sequence[tuple[Value, str]]) -> bool:
    held = sum(value is not None for value, _ in found)
    return bool(held) and held >= SHARE * len(filled)


def _learn(cells: Sequence[str], convention: Convention) -> None:
    """Note what a column is sure of."""
    sample = [cell for cell in cells if cell not in _EMPTY][: 4 * _SAMPLE]
    point, comma = (sum(as_number(cell, mark) is not None for cell in sample) for mark in (".", ","))
    if point != comma and max(point, comma) >= SHARE * len(sample):
        convention.marks["." if point > comma else ","] += 1
    if convention.day_first is None:
        convention.day_first = _day_first(cells)


def _mark(cells: Sequence[str], convention: Convention) -> tuple[Mark, str]:
    """Return the decimal mark of a column, and a note where nothing decides it."""
    cells = [cell for cell in cells if "." in cell or "," in cell][:_DECIDING]
    point, comma = ([as_number(cell, mark) for cell in cells] for mark in (".", ","))
    held = [sum(f is not None for f in found) for found in (point, comma)]
    if held[0] != held[1]:
        return ("." if held[0] > held[1] else ","), ""
    votes = convention.marks
    if votes["."] != votes[","]:
        return ("." if votes["."] > votes[","] else ","), ""
    pairs = zip(cells, point, comma, strict=True)
    unclear = next(((cell, a[0]) for cell, a, b in pairs if a and b and a[0] != b[0]), None)
    return ".", "" if unclear is None else f"“{unclear[0]}” is read as {unclear[1]:,}"


def _day_first(cells: Sequence[str]) -> bool | None:
    """Tell whether days come before months in a column, by a number that is no month; None if none is."""
    for cell in cells:
        m = _SLASHED.fullmatch(cell)
        if m and (int(m[1]) > 12) != (int(m[3]) > 12):
            return int(m[1]) > 12
    return None


def _unclear(sample: Sequence[str]) -> str:
    slashed = [cell for cell in sample if _SLASHED.fullmatch(cell)]
    if slashed and len(slashed) >= SHARE * len(sample):
        return f"day and month of “{slashed[0]}” cannot be told apart, so that it is kept as it is written"
    return ""
