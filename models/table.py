"""One table: put together from the texts it was cut into, with heads, typed columns, and the row that only adds up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from ragweave.models.tables import LINE, cells, is_row
from ragweave.models.text import content_terms
from ragweave.models.totals import sums
from ragweave.models.values import (
    CURRENCIES,
    Value,
    column_days,
    day,
    decimal_mark,
    grouping_mark,
    is_missing,
    is_open,
    number,
    yes,
)

MAX_ROWS = 20_000
"""Rows of one table that are read."""
_LONGEST_HEAD = 60
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_TYPED = 0.75
"""Share of the filled cells of a column that must be of a kind for the column to be of it."""
_UNIT = re.compile(r"(?:\(([^()]{1,20})\)|\[([^\[\]]{1,20})\]|,\s*in\s(\S{1,12})|\sin\s(%|[€$£]|[A-Z]{3}))\s*$")
_NUMBERED = frozenset("no nr num number numero id code index year jahr annee ano line zeile pos position rank".split())
"""Heads of numbers that name a row and measure nothing."""
_SLASHED = re.compile(r"\s*\d{1,2}/\d{1,2}/(?:\d{4}|\d{2})\s*")
_ABOUT = re.compile(
    r"^\s*(?:[~≈<>≤≥±]|(?:ca|circa|approx|about|rund|etwa|env)\b\.?)\s*|(?<=\d)\s?[-–]\s?\d[\d.,]*", re.I
)
"""What stands around a number that is no more than near it: “~300”, “10–12”."""
_DECIMAL_COMMA = frozenset("de es fr it nl pt da sv nb fi pl cs tr id".split())
"""Languages that write a comma before decimals."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its cells, the text it stands in (by number), and where."""

    cells: tuple[str, ...]
    text: int
    start: int
    end: int


@dataclass(frozen=True)
class Column:
    """A column: its head without the unit, the unit, its cells, and what they are."""

    head: str
    unit: str
    cells: tuple[str, ...]
    mark: str = "."
    first: bool = False

    @cached_property
    def numbers(self) -> tuple[Value | None, ...]:
        """The numbers of its cells."""
        return tuple(number(c, self.decimal) for c in self.cells)

    @property
    def decimal(self) -> str:
        """The mark before its decimals."""
        return self._own or self.mark or "."

    @cached_property
    def unsure(self) -> bool:
        """Tell whether nothing tells the notation of its numbers, so that what they amount to is not known."""
        return not (self._own or self.mark) and is_open(self.cells)

    @cached_property
    def _own(self) -> str:
        """The decimal mark of which its own cells leave no doubt, or ""."""
        return notation(self.cells)

    @cached_property
    def days(self) -> tuple[date | None, ...]:
        """The dates of its cells."""
        return column_days(self.cells)

    @cached_property
    def kind(self) -> str:
        """`number`, `key` (numbers that only name), `date`, `yes` or `text`."""
        filled = [c for c in self.cells if not is_missing(c)]
        if not filled:
            return "text"
        least = _TYPED * len(filled)
        if sum(yes(c) is not None for c in filled) == len(filled):
            return "yes"
        if sum(d is not None for d in self.days) >= least or all(map(_SLASHED.fullmatch, filled)):
            return "date"
        if sum(v is not None for v in self.numbers) < least:
            return "text"
        named = set(content_terms(self.head)) | set(re.findall(r"[a-z]+", self.head.lower()))
        years = all(_YEAR.fullmatch(c.strip()) for c in filled)
        counted = self.first and len(set(filled)) == len(filled) and all(c.isdigit() for c in filled)
        return "key" if years or ((counted or named & _NUMBERED) and not self.unit) else "number"

    @cached_property
    def mixed(self) -> bool:
        """Tell whether it holds numbers with so much else, “closed” or “~300”, that it is a column of texts."""
        filled = [c for c in self.cells if not is_missing(c)]
        return self.kind == "text" and 2 * sum(number(_ABOUT.sub("", c)) is not None for c in filled) >= len(filled) > 0

    @cached_property
    def measure(self) -> str:
        """The unit of its numbers: that of the head, else the one that its cells share."""
        found = {v.unit for v in self.numbers if v is not None}
        return self.unit or (found.pop() if len(found) == 1 else "")

    @cached_property
    def terms(self) -> frozenset[str]:
        """Stems of its head; “Done” alone says something, though it is a small word elsewhere."""
        return frozenset(content_terms(spoken(self.head)) or {"done"} & {self.head.lower()})


@dataclass(frozen=True)
class Table:
    """A table.

    Rows are without the heads; `before` is the line before it, and the language says how it writes numbers; `whole`,
    that no row of it was left out.
    """

    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    before: str = ""
    language: str = ""
    whole: bool = True

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Its columns; the cells of rows that add up others are not among theirs."""
        return self._read(self.body) if self._sums[0] else self._all

    @cached_property
    def _all(self) -> tuple[Column, ...]:
        """Its columns with the cells of every row."""
        return self._read(self.rows)

    def _read(self, rows: Sequence[Row]) -> tuple[Column, ...]:
        return tuple(
            Column(*_with_unit(head), tuple(r.cells[n] for r in rows), self._mark, not n)
            for n, head in enumerate(self.heads)
        )

    @cached_property
    def _mark(self) -> str:
        """The decimal mark of columns that leave it open: that of the others, else of the language, or ""."""
        if found := decimal_mark([c for r in self.rows for c in r.cells]):
            return found
        told = {notation([r.cells[n] for r in self.rows]) for n in range(len(self.heads))} - {""}
        by_size = told.pop() if len(told) == 1 else ""
        return by_size or ("," if self.language in _DECIMAL_COMMA else "." if self.language else "")

    @cached_property
    def body(self) -> tuple[Row, ...]:
        """The rows without those that add up others: subtotals, totals, a last one that holds the sums."""
        return tuple(self.rows[n] for n in self.places)

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Where the rows of the body stand among all."""
        return tuple(n for n in range(len(self.rows)) if n not in self._sums[0])

    @property
    def certain(self) -> bool:
        """Tell whether every row is read, and none that calls itself a total holds other figures than the sums."""
        return self.whole and self._sums[1]

    @cached_property
    def _sums(self) -> tuple[set[int], bool]:
        added = [c.numbers for c in self._all[1:] if c.kind == "number" and "%" not in c.measure]
        return sums([r.cells for r in self.rows], added)

    def label(self, at: int) -> str:
        """Return what names a row: its first cells, as many as it takes to tell it from all others.

        Where the first are dates, the column of texts that differ most stands before them.
        """
        row, chosen = self.body[at], [0]
        texts = [n for n, c in enumerate(self.columns) if c.kind == "text"]
        if texts and self.columns[0].kind == "date":
            told = [self.columns[n].cells for n in texts]
            chosen = [max(zip(told, texts, strict=True), key=lambda c: (len(set(c[0])), len("".join(c[0]))))[1]]
        for n in [n for n, c in enumerate(self.columns) if n not in chosen and c.kind in ("text", "date")]:
            if sum(all(r.cells[i] == row.cells[i] for i in chosen) for r in self.body) == 1:
                break
            chosen.append(n)
        named = [c for n in chosen if (c := row.cells[n].strip())] or [f"row {self.places[at] + 1}"]
        counted = self.columns[0].kind == "key" and self.columns[0].head and not _YEAR.fullmatch(named[0])
        return ", ".join([f"{spoken(self.columns[0].head)} {named[0]}" if counted else named[0], *named[1:]])


def tables(texts: Sequence[str], languages: Sequence[str] = (), sections: Sequence[object] = ()) -> list[Table]:
    """Return the tables that stand in consecutive texts of a file, whole where they were cut.

    A table goes on below a gap and in the next text where the row there is as wide and reads like no heads; heads that
    are repeated there count once.
    """
    out: list[Table] = []
    rows: list[Row] = []
    before = ""
    for number_, text in enumerate(texts):
        line = ""
        for m in LINE.finditer(text):
            if not is_row(m.group()):
                out += _closed(rows, before, languages)
                rows, line = [], m.group().strip()
                continue
            row = Row(tuple(cells(m.group())), number_, m.start(), m.end())
            apart = bool(rows) and (rows[-1].text != number_ or m.start() > rows[-1].end + 1)
            goes_on = apart and _goes_on(rows, row, sections)
            if goes_on and row.cells == rows[0].cells:
                continue
            if apart and not goes_on:
                out += _closed(rows, before, languages)
                rows = []
            if not rows:
                before = line
            if len(rows) <= MAX_ROWS + 1:  # one more tells that there are more
                rows.append(row)
    return [*out, *_closed(rows, before, languages)]


def _goes_on(rows: Sequence[Row], row: Row, sections: Sequence[object]) -> bool:
    """Tell whether a row below a gap, or in the next text, still belongs to a table.

    Below a gap, one of which all cells are filled, and none with a figure, names columns anew.
    """
    if len(row.cells) != len(rows[0].cells):
        return False
    if row.text != rows[-1].text:
        return not sections or sections[row.text] == sections[rows[-1].text]
    return row.cells == rows[0].cells or not all(c and not any(x.isdigit() for x in c) for c in row.cells)


def _closed(rows: Sequence[Row], before: str, languages: Sequence[str]) -> Iterator[Table]:
    """Yield the table of some rows, where its first row names the columns."""
    if len(rows) < 2:
        return
    heads = rows[0].cells
    width = len(heads)
    body = tuple(
        Row((*r.cells, *[""] * (width - len(r.cells))), r.text, r.start, r.end)
        for r in rows[1 : MAX_ROWS + 1]
        if len(r.cells) <= width
    )
    whole = len(body) == len(rows) - 1
    if not body or not _names(heads, body):
        return
    yield Table(heads, body, before, languages[rows[0].text] if languages else "", whole)


def _names(heads: Sequence[str], body: Sequence[Row]) -> bool:
    """Tell whether cells are heads: short, all different, no figures; a year counts as a name over other figures."""
    filled = [h for h in heads if h]
    if len(set(filled)) < len(filled) or len(filled) < max(2, len(heads) - 1):
        return False
    for n, head in enumerate(heads):
        # “No” is a head where numbers stand below it, and a value where others like it do.
        value = yes(head) is not None and len(head) > 1 and any(yes(r.cells[n]) is not None for r in body)
        if len(head) > _LONGEST_HEAD or value:
            return False
        year = _YEAR.fullmatch(head) and not all(_YEAR.fullmatch(r.cells[n]) for r in body if r.cells[n])
        if not year and (number(head) is not None or day(head) is not None):
            return False
    return True


def notation(column: Sequence[str]) -> str:
    """Return the decimal mark of a column that leaves no doubt about it, by its marks or the size of its numbers."""
    return decimal_mark(column) or {".": ",", ",": "."}.get(grouping_mark(column), "")


def _with_unit(head: str) -> tuple[str, str]:
    """Part a head from the unit it states: in brackets, or as its last word after an underscore."""
    if m := _UNIT.search(head):
        unit = next(g for g in m.groups() if g).strip()
        return head[: m.start()].strip() or head, unit
    first, _, last = head.rpartition("_")
    if first and last.lower() in CURRENCIES:
        return first, last
    return head, ""


def spoken(head: str) -> str:
    """Return a head as words: `unitPrice` and `unit_price` are two."""
    return re.sub(r"(?<=[a-z][a-z])(?=[A-Z][a-z])", " ", head.replace("_", " "))
