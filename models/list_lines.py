"""Tell lists of short lines, such as addresses or a log, from wrapped prose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_DATED = re.compile(r"\s*(?:\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d\d)|\d{4}-\d\d-\d\d)\s")
_PRICED = re.compile(
    r"(?:[\"“„«(]?[^\W\d_]\S* ){1,5}[:–-]? ?[€$£]? ?\d[\d.,]*(?: ?(?:[€$£%]|[^\W\d_]{1,3}))?"
)


def is_listing(lines: Sequence[str]) -> bool:
    """Return whether lines are entries of a list, such as addresses or a log, and not wrapped prose.

    They are if most of them end early: the first word of the next line would have fitted. They also are if
    three lines in a row are a few words and an amount, or if most lines begin with a date.
    """
    if _has_three_amounts(lines) or _are_dated(lines):
        return True
    widest = max(map(len, lines))
    early = shorter = 0
    for line, after in pairwise(lines):
        if len(line) < widest:
            shorter += 1
            early += len(line) + 1 + len(after.split(None, 1)[0]) <= widest
    return shorter > 1 and 2 * early > shorter


def _has_three_amounts(lines: Sequence[str]) -> bool:
    """Return whether three lines in a row are a few words and an amount."""
    in_a_row = 0
    for line in lines:
        in_a_row = in_a_row + 1 if _PRICED.fullmatch(line.strip()) else 0
        if in_a_row == 3:
            return True
    return False


def _are_dated(lines: Sequence[str]) -> bool:
    """Return whether most lines, and more than one, begin with a date."""
    dated = 0
    for line in lines:
        dated += _DATED.match(line) is not None
    return dated > 1 and 2 * dated >= len(lines)
