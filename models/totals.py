"""Rows of a table that add up others of it: subtotals, totals, and a last row that only holds the sums."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from ragweave.models.text import fold
from ragweave.models.values import Value, number

_TOTAL = re.compile(
    r"(?:(?:grand|sub|overall|running)[\s-]?)?(?:totals?|sums?)|(?:zwischen|gesamt|end)?summe|gesamt(?:betrag)?|insgesamt|"
    r"sous-total|total general|somme"
)
"""A cell that says that its row adds others up."""
_PART = re.compile(r"(?:sub)?(?:total|summe|zwischensumme)\b.*|.*\b(?:sub)?(?:total|summe)")
"""One that may say so: “Kitchen total”, but “Total Eclipse” as well."""
_ROUNDED = Decimal("0.006")
"""What each figure of a sum may be off by its rounding."""

_LONGEST = 60
"""Characters that such a cell may have."""
_MOST = 300
"""Totals that a table may have."""

Numbers = Sequence[Value | None]


def sums(rows: Sequence[Sequence[str]], columns: Sequence[Numbers]) -> tuple[set[int], bool]:
    """Return which rows add others up, by what they say and what they hold, and whether that is certain of all.

    `columns` are those whose numbers can be added up.
    """
    said = [[fold(c).strip(" :") for c in cells if len(c) <= _LONGEST and number(c) is None] for cells in rows]
    named = {n for n, cells in enumerate(said) if any(map(_TOTAL.fullmatch, cells))}
    perhaps = {n for n, cells in enumerate(said) if any(map(_PART.fullmatch, cells))} | named
    if len(perhaps) > min(_MOST, len(rows) // 2):  # maybe a kind of thing: eclipses are total
        return set(), not named
    single = {n for n in perhaps if n in named or _adds(n, perhaps, columns, len(rows))}
    found = {n for n in single if _adds(n, single, columns, len(rows))}
    last = len(rows) - 1
    unnamed = last > 1 and not all(number(c) for c in rows[-1][:1])
    if unnamed and not found and not named and _holds(last, range(last), columns, least=2):
        found = {last}
    return found, not named - found


def _adds(at: int, totals: set[int], columns: Sequence[Numbers], count: int) -> bool:
    """Tell whether a row holds the sums of the rows since the last total, of those up to the next, or of all."""
    before = max((n for n in totals if n < at), default=-1)
    after = min((n for n in totals if n > at), default=count)
    stretches = [(before, at), (at, after), (-1, count), (-1, at)]
    return any(_holds(at, [n for n in range(first + 1, last) if n not in totals], columns) for first, last in stretches)


def _holds(at: int, others: Sequence[int], columns: Sequence[Numbers], least: int = 1) -> bool:
    """Tell whether every number of a row is the sum of those of other rows, and there is one of `least` above 0."""
    seen = False
    for column in columns:
        total = column[at]
        if total is None:
            continue
        found = [v.amount for n in others if (v := column[n]) is not None]
        if abs(sum(found, Decimal(0)) - total.amount) > _ROUNDED * max(1, len(found)):
            return False
        seen = seen or (total.amount != 0 and len(found) >= least)
    return seen
