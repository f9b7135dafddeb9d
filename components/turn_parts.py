"""Read the parts of a reasoning turn without the decoration that models put around them."""

from __future__ import annotations

import re

from ragweave.models.text import clip

_STATEMENT_ENDS = re.compile(r";|\n\s*\n|```")
"""Matches what ends a statement: a semicolon, an empty line, or the fence around it."""
DECORATION = '*_ \n"“”<>'
"""Characters that some models put around an answer."""
_BEGINS = re.compile(rf"(?:(?!<\w{{1,12}}\b[^<>]*>)[{DECORATION}])+")
_TAGGED = re.compile(r"</\w+\s*>\s*\Z")


def table_name(label: str) -> str:
    """Return the table that a label names: “Table 3”, “Table library”."""
    return f"Table {label.split()[-1].strip('[]').lower()}"


def statement_of(part: str) -> str:
    """Return a statement up to its end, on one line; a semicolon inside a quoted text does not end it."""
    for match in _STATEMENT_ENDS.finditer(part):
        quotes_closed = part.count("'", 0, match.start()) % 2 == 0
        if match.group() != ";" or quotes_closed:
            part = part[: match.start()]
            break
    return re.sub(r"\s*\n\s*", " ", part).strip("` \n*")


def bare(answer: str, left: bool = True, right: bool = True) -> str:
    """Return an answer without decoration on the left or right; the characters of code stay."""
    if left:
        found = _BEGINS.match(answer)
        answer = answer[found.end() :] if found else answer
        if answer[:1] == "`" and answer[1:2].isspace():  # closes a label that is written as code
            answer = answer[1:].lstrip(DECORATION)
    if right and not _TAGGED.search(answer):
        return answer.rstrip(DECORATION)
    return answer


def clean(part: str, most: int, first_line: bool = False) -> str:
    """Return a part of a turn on one line of at most `most` characters, without decoration.

    With `first_line` only the first line is kept, without a tag in brackets at its end.
    """
    part = part.strip()
    if first_line and part:
        part = re.sub(r"\[\w+\]\s*$", "", part.splitlines()[0])
    return clip(" ".join(part.split()).strip("*_` \"'“”<>"), most)
