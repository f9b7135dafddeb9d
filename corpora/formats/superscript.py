"""Keep raised and lowered text apart: 10 with a raised 6 is not 106, and Nob with a raised 1 not Nob1."""

from __future__ import annotations

import re

_POWER = re.compile(r"[-−–+]?\d+(?:[.,/]\d+)?|[-−–]?[nkxi]")
_NOTES = re.compile(r"\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*")
_BRACKETED = re.compile(r"[\[(][^\[\]()]{1,12}[\])]")
_SHORT = 4
_LAST_WORD = re.compile(r"[^\W\d_]+\Z")
_VARIABLE = 2
"""Letters of a unit or variable at most, which is raised to a power: `cm`, `x`, `mc`."""


def around(before: str, text: str, *, below: bool = False, link: bool = False) -> tuple[str, str]:
    """Return what goes before and after a raised text, or one `below` the line, that follows another.

    A power gets `^`, a base gets `_`, the mark of a note comes apart in brackets; anything else is left
    as it is.
    """
    text = text.strip()
    last = before[-1:]
    if not text or not last or last.isspace():
        return "", ""
    if below:
        return ("_", "") if last.isdigit() and text.isdigit() else ("", "")
    if _BRACKETED.fullmatch(text):
        return " ", ""
    if link:
        return (" [", "]") if len(text) <= _SHORT or _NOTES.fullmatch(text) else (" ", "")
    if last.isdigit() or last == ")":
        return ("^", "") if _POWER.fullmatch(text) else ("", "")
    word = _LAST_WORD.search(before[-40:])
    if _NOTES.fullmatch(text) and not (word and len(word[0]) <= _VARIABLE):
        return " [", "]"
    return "", ""
