"""What stands in a text beside sentences: rows of tables, items of lists, listings.

A row is a line of cells parted by " | "; the heads of the columns stand in the first row of a table.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from ragweave.models.text import is_listing, numbers, sentences, trimmed

_BETWEEN = " | "
_CELL = re.compile(r"(?:^|(?<=\s))\|(?=\s|$)")
LINE = re.compile(r"[^\n]+")
_MARK = re.compile(r"(?:[-*•]|\d{1,3}[.)])\s+(?=\S)")
_LABEL = re.compile(r"\s*(?:[^\W\d_a-z][^\n.:!?|]{0,30}:|\d{4}-\d\d-\d\d)\s")
"""What a line states, before it: “Serial number: ...”; or of which day it tells."""
_LONGEST_HEAD = 60
"""Characters the head of a column may have."""
_DATED = re.compile(r"[^\W\d_]|^(?:19|20)\d\d$")
"""What a head has and an amount has not: a letter, or it is a year."""
_LISTING = 400
"""Characters from which lines that were not broken for their length, as those of a listing, stand for themselves."""


def spans(text: str) -> list[tuple[int, int]]:
    """Return [start, end) of the sentences of a text; a row of a table is one, whatever stops stand in its cells."""
    if " | " not in text:
        return _sentences(text, 0, len(text))
    out: list[tuple[int, int]] = []
    prose = 0
    for m in LINE.finditer(text):
        if _CELL.search(m.group()):
            out += _sentences(text, prose, m.start())
            out.append(m.span())
            prose = m.end()
    return out + _sentences(text, prose, len(text))


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    found = [(start + a, start + b) for a, b in sentences(text[start:end])]
    return [line for a, b in found for line in (_lines(text, a, b) if "\n" in text[a:b] else [(a, b)])]


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Part [start, end) before lines that name what they state, and a listing at all its lines.

    A line of a listing was broken though the first word of the next would have fitted beside it.
    """
    lines = [m.span() for m in LINE.finditer(text, start, end) if not m.group().isspace()]
    # A stop within a line ends no block: it is as wide as the widest of all its lines.
    top, bottom = text.rfind("\n\n", 0, start) + 1, text.find("\n\n", end) % (len(text) + 1)
    block = [line for line in text[top:bottom].splitlines() if line.strip()]
    width = max(map(len, block))
    listed = is_listing(block)
    out = lines[:1]
    for (before, broken), (a, b) in pairwise(lines):
        fits = bottom - top > _LISTING and broken - before + 1 + len(text[a:b].split(None, 1)[0]) <= width
        if listed or fits or _LABEL.match(text[a:b]):
            out.append((a, b))
        else:
            out[-1] = (out[-1][0], b)
    return out


@lru_cache(maxsize=64)
def _heads(text: str) -> dict[int, list[str]]:
    """Return the heads of the columns above each row that has some, by where the row starts.

    They are the table's first line, where it reads like heads: it has no numbers, or it begins with no name
    of a row, and its numbers are those of dates and years. Kept, because every row of a text is asked for its
    own.
    """
    out: dict[int, list[str]] = {}
    top: list[str] = []
    usable, ended = False, 0
    for m in LINE.finditer(text):
        if not _CELL.search(m.group()):
            top = []
            continue
        row = cells(m.group())
        if usable and len(row) == len(top):
            out[m.start()] = top
        if not top or m.start() > ended + 1:
            # The first row below a gap still has the heads above it; those below have it.
            dated = not row[0] and any(row) and all(_DATED.search(c) for c in row if c)
            top, usable = (
                row,
                all(len(c) <= _LONGEST_HEAD for c in row) and (dated or not any(map(numbers, row))),
            )
        ended = m.end()
    return out


def is_heads(text: str, start: int, end: int) -> bool:
    """Tell whether the row at [start, end) is the heads of the row that follows it."""
    return _heads(text).get(end + 1) == cells(text[start:end])


def heads_above(text: str, start: int) -> str:
    """Return the heads of the columns of the row that starts there, as one row; "" where they have none."""
    return _BETWEEN.join(_heads(text).get(start, []))


def statements(text: str) -> list[str]:
    """Return the sentences of a text, each row of a table told as what its columns say."""
    if " | " not in text:
        return [text[a:b] for a, b in sentences(text)]
    return [told(text, a, b) for a, b in spans(text) if not is_heads(text, a, b)]


def is_row(part: str) -> bool:
    """Tell whether a stretch of text begins with a row of a table."""
    return bool(_CELL.search(part.split("\n", 1)[0]))


def cell_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return [start, end) of each cell of the row that text[start:end] is, without the white space around it."""
    bars = [m.span() for m in _CELL.finditer(text, start, end)]
    edges = [start, *(at for bar in bars for at in bar), end]
    return [next(iter(trimmed(text, a, b)), (a, a)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def cells(row: str) -> list[str]:
    """Return the cells of a row without the white space around them."""
    return [" ".join(c.split()) for c in _CELL.split(row)]


def told(text: str, start: int, end: int) -> str:
    """Return a sentence of a text as an answer says it: without the mark of a list, a row as what its columns say.

    A row of two cells reads “first: second”; a longer one names its columns.
    """
    part = text[start:end]
    if not _CELL.search(part):
        return " ".join(_MARK.sub("", part, count=1).split()) if _MARK.match(part) else " ".join(part.split())
    subject, *rest = cells(part)
    named = _heads(text).get(start, [])[1:]
    if len(named) != len(rest) or len(rest) == 1:
        named = [""] * len(rest)
    said = ", ".join(f"{h} {c}".strip() for h, c in zip(named, rest, strict=True) if c)
    return f"{subject}: {said}" if subject and said else subject or said
