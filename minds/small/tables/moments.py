"""Before and after: which rows of a table lie on which side of a year, month or day that a question names."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date

from ragweave.minds.small.tables.ask import Asked
from ragweave.minds.small.tables.denials import Named
from ragweave.minds.small.tables.measures import HEADS
from ragweave.minds.small.tables.units import is_unit
from ragweave.models.calendar import MONTHS
from ragweave.models.table import Column, Table, spoken
from ragweave.models.text import fold, plural, stem, verb_form, words
from ragweave.models.values import is_missing, month_of, year_of

_YEAR = r"(?:18|19|20)\d\d(?![\d.,]*\d)"
_MONTHS = "|".join(sorted((m for m in MONTHS if len(m) > 2), key=len, reverse=True))


def _moment(n: int, bare: str = "") -> str:
    """Return the pattern of the n-th moment of a phrase; `bare` adds to it, as the day alone of “from 5 to 9 May”."""
    return (
        rf"(?:(?P<i{n}>\d{{4}}-\d\d-\d\d)|(?P<p{n}>\d{{1,2}}\.\s?\d{{1,2}}\.\s?\d{{4}})"
        rf"|(?P<s{n}>\d{{1,2}}/\d{{1,2}}/\d{{2,4}})"
        rf"|(?:(?P<d{n}>\d{{1,2}})(?:st|nd|rd|th|\.)?\s(?:of\s)?)?(?P<m{n}>{_MONTHS})\b\.?"
        rf"(?:\s(?P<e{n}>\d{{1,2}})(?:st|nd|rd|th)?(?!\d))?(?:,?\s(?P<y{n}>{_YEAR}))?"
        rf"|(?:the\s)?(?:year\s|jahr\s)?(?P<z{n}>{_YEAR}){bare})"
    )


_HOW = {
    "after": "after|later than|newer than|more recent than|nach|apres",
    "before": "before|prior to|earlier than|older than|vor|avant",
    "since": "since|no earlier than|not earlier than|seit|ab|depuis|a partir de",
    "until": "until|till|no later than|not later than|by|as of|bis|jusqu'en|jusqu'au",
}
_LATER = "later|after|afterwards|newer|since|onwards?|beyond|spater|danach|apres"
_EARLIER = "earlier|before|older|fruher|davor|avant"
_ALONE = r"|(?P<b1>[0-3]?\d)(?:st|nd|rd|th|[.])?"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"\b(?P<from>between|from|zwischen|von|vom|entre|de|du)\s(?:the\s)?{_moment(1, _ALONE)}"
        rf"\s(?:and|to|until|till|through|und|bis|zum|et|au|a)\s(?:the\s)?{_moment(2)}",
        rf"(?<![\d-])(?P<from>){_moment(1)}\s?[–—-]\s?{_moment(2)}(?![\d-])",
        rf"\b(?:from|von|vom)\s(?P<since>){_moment(1)}\s(?:on(?!\s(?:the|my|our|a)\b)|onwards?|an)\b",
        rf"\b(?:{'|'.join(f'(?P<{how}>{forms})' for how, forms in _HOW.items())})\s"
        rf"(?:(?:the\s)?(?P<edge>end|start|beginning|middle|ende|anfang|mitte|fin|debut)\s(?:of\s|de\s)?)?"
        rf"(?:the\s|dem\s|den\s|le\s)?{_moment(1)}",
        rf"{_moment(1)},?\s(?:(?:or|and|und|oder|ou|et)\s)?(?:in\s)?(?:(?P<since>{_LATER})|(?P<upto>{_EARLIER}))\b(?!\sthan)",
    )
)
_STATES = frozenset("been worked lived belonged".split())
"""Who “has been a member since 2020” became one in that year."""
_BEGINS = frozenset(map(stem, "started joined began hired employed entered came".split()))
_ANY_DAY = frozenset("date day when year month time datum tag jahr monat annee mois jour on".split())
"""Heads of dates that say nothing of what was on them."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A year, month or day; the year is 0 where it is not said."""

    year: int
    month: int = 0
    day: int = 0

    @property
    def exists(self) -> bool:
        """Tell whether there is such a day; 29 February is not in every year."""
        try:
            self.days()
        except ValueError:
            return False
        return True

    def days(self) -> tuple[date, date]:
        """Return its first and last day."""
        first, last = self.month or 1, self.month or 12
        end = self.day or monthrange(self.year, last)[1]
        return date(self.year, first, self.day or 1), date(self.year, last, end)

    def __str__(self) -> str:
        return "-".join([str(self.year), *(f"{n:02}" for n in (self.month, self.day) if n)])


@dataclass(frozen=True, slots=True)
class Side:
    """What lies on one side of a moment; None where it is not certain which moment that is."""

    how: str
    moment: Moment | None
    said: str

    def holds(self, cell: tuple[date, date]) -> bool | None:
        """Tell whether a stretch of days lies on that side; None where a part does, or that is not certain."""
        if self.moment is None:
            return None
        first, last = self.moment.days()
        if self.how in ("until", "upto"):
            # Whether the year itself is meant “until 2020” and “by 2020” nobody knows.
            ends = (last,) if self.how == "upto" or self.moment.day else (date.fromordinal(first.toordinal() - 1), last)
            told = {cell[1] <= end if cell[1] <= end or cell[0] > end else None for end in ends}
            return told.pop() if len(told) == 1 else None
        edge = last if self.how == "after" else date.fromordinal(first.toordinal() - 1)
        if not (cell[0] > edge or cell[1] <= edge):
            return None
        return (cell[0] > edge) == (self.how != "before")


def sides(question: str) -> list[Side]:
    """Return the sides of moments that a question asks for: “after 2020”, “2020 or later”, “from 5 to 9 May 2026”."""
    line, out = " ".join(fold(question).split()), list[Side]()
    for form in _FORMS:
        while m := next((m for m in form.finditer(line) if _is_time(m, line)), None):
            out += _sides(m)
            line = f"{line[: m.start()]}|{line[m.end() :]}"
    return out


def _is_time(m: re.Match[str], line: str) -> bool:
    found = m.groupdict()
    after = words(line[m.end() :])[:1]
    plain = found.get("m1") and not (found["d1"] or found["e1"] or found["y1"])
    # “From May to July” names months, which are read as such, also of a year that is said.
    months = plain and found.get("m2") and not (found["d2"] or found["e2"])
    return not (months and month_of(found["m1"]) < month_of(found["m2"])) and not (
        after and found.get("z1") and is_unit(after[0])
    )


def _sides(m: re.Match[str]) -> list[Side]:
    found = m.groupdict()
    if found.get("from") is not None:
        second = _read(m, 2)
        first = _read(m, 1, second)
        if first is not None and second is not None and (first.year, first.month) > (second.year, second.month):
            first = None  # from November to February of one year: of which?
        return [Side("since", first, m.group()), Side("upto", second, m.group())]
    how = next(h for h in ("after", "before", "since", "until", "upto") if found.get(h) is not None)
    edge, moment = (found.get("edge") or ""), _read(m, 1)
    starts, ends = edge in ("start", "beginning", "anfang", "debut"), edge in ("end", "ende", "fin")
    certain = not edge or (starts and how in ("since", "before")) or (ends and how == "after")
    return [Side(how, moment if certain and found.get(how) != "as of" else None, m.group())]


def _read(m: re.Match[str], n: int, other: Moment | None = None) -> Moment | None:
    """Read the n-th moment of a phrase, what it leaves out from the other one; None where that is not certain."""
    found = {k[0]: v for k, v in m.groupdict().items() if k.endswith(str(n)) and v}
    if "s" in found:
        return None  # 03/08/2026 may be in March
    if "i" in found or "p" in found:
        numbers = [int(x) for x in re.findall(r"\d+", found.get("i") or found["p"])]
        read = Moment(*(numbers if "i" in found else numbers[::-1]))
    elif "z" in found:
        read = Moment(int(found["z"]))
    elif "b" in found:
        if other is None or not other.day:
            return None
        read = Moment(other.year, other.month, int(found["b"]))
    else:
        year = int(found.get("y") or (other.year if other is not None else 0))
        read = Moment(year, month_of(found["m"]), int(found.get("d") or found.get("e") or 0))
    return read if Moment(read.year or 2000, read.month, read.day).exists else None


def timed(asked: Asked, table: Table) -> dict[int, Named] | None:
    """Return the rows on the sides of moments that a question names, by column; None where that is not certain."""
    if not (found := sides(asked.question)):
        return {}
    state = bool(_STATES & set(asked.said)) and any(s.how == "since" for s in found)
    if state and asked.operation == "cell":
        return {}
    at = _column(asked, table)
    said = {w for s in found for w in words(s.said)}
    # Which of them was the first or last is not told by the rows on a side of it.
    if at is None or state or {"first", "last"} & set(asked.said) or asked.months - {month_of(w) for w in said}:
        return None
    column = table.columns[at]
    cells = [_days(column, i) for i in range(len(column.cells))]
    years = {c[0].year for c in cells if c is not None}
    kept, told = [*range(len(cells))], []
    for side in found:
        if side.moment is not None and not side.moment.year:
            if len(years) != 1 or not (dated := Moment(min(years), side.moment.month, side.moment.day)).exists:
                return None
            side = Side(side.how, dated, side.said)
        holds = [c and side.holds(c) for c in cells]
        if any(c is not None and h is None for c, h in zip(cells, holds, strict=True)):
            return None
        kept = [i for i in kept if holds[i]]
        told.append(f"{_SIGNS[side.how]} {side.moment}")
    explained = {*said, *map(stem, said), *column.terms, *(_BEGINS & {*asked.stems} if _starts(column) else ())}
    return {at: Named(kept, f"{spoken(column.head)} {', '.join(told)}", explained)}


_SIGNS = {"after": ">", "before": "<", "since": ">=", "until": "<=", "upto": "<="}


def _column(asked: Asked, table: Table) -> int | None:
    """Return the column of dates or years that is meant; None where that is not certain."""
    fitting = [
        n for n, c in enumerate(table.columns) if c.kind == "date" or (c.kind == "key" and all(map(_is_year, c.cells)))
    ]
    named = [n for n in fitting if asked.names(table.columns[n].terms)]
    if not named:
        happened = {stem(w) for w in asked.said if (verb_form(w) and not plural(w)) or w == "born"} - {"been"}
        named = [n for n in fitting if happened <= _BEGINS and _starts(table.columns[n])]
        if not named and (not happened or all(set(words(table.columns[n].head)) <= _ANY_DAY for n in fitting)):
            named = fitting
    return named[0] if len(named) == 1 else None


def _starts(column: Column) -> bool:
    """Tell whether it stands below a head since when somebody is with others."""
    return bool({stem(w) for w in words(column.head)} & {stem(w) for w in HEADS["since"].split()})


def _is_year(cell: str) -> bool:
    return is_missing(cell) or re.fullmatch(_YEAR, cell.strip()) is not None


def _days(column: Column, at: int) -> tuple[date, date] | None:
    """Return the first and last day that a cell may mean."""
    if (found := column.days[at]) is not None:
        return found, found
    year = year_of(column.cells[at])
    return None if year is None else Moment(year).days()
