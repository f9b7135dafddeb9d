"""Recognise numbers in cells of tables: those that count something, and years that name a column."""

from __future__ import annotations

import re

YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_SPACES = re.compile("[\u00a0\u2007\u2009\u202f]")
_AMOUNT = (
    r"(?:\d{1,3}(?:[ '’.,]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?|[.,]\d+)(?:(?<=\d)[.,][-–—−]{1,2}(?![\w-]))?"
)
_CURRENCY = (
    r"[€$£¥]|(?:eur|euros?|usd|dollars?|gbp|pounds?|jpy|yen|cny|yuan|rmb|chf|fr|sfr|kr|sek|nok|dkk"
    r"|cents?|ct)\b\.?"
)
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*[-−–]?\s*(?P<before>{_CURRENCY})?\s*[-−]?\s*{_AMOUNT}\s*"
    r"(?P<after>%|‰|°\s?[CF]?|[€$£¥]|[^\W\d_][\w²³/.]*(?:\s[^\W\d_][\w²³/.]*)?)?\s*(?P<close>\))?",
    re.I,
)


def is_number(text: str) -> bool:
    """Return whether a cell is a number, maybe with brackets, a sign, a currency, `%` or a unit."""
    match = _NUMBER.fullmatch(_SPACES.sub(" ", text.strip()))
    if match is None or bool(match["open"]) != bool(match["close"]):
        return False
    return not (match["before"] and match["after"])


def is_name(text: str) -> bool:
    """Return whether a cell may name a column: it is a year, or no number."""
    return not is_number(text) or bool(YEAR.fullmatch(text))
