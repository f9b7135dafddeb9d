"""Parts of a text that are not running sentences: rows of tables, items of lists, listings.

A row is a line of cells that " | " separates. The first row of a table holds the heads of the columns.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from ragweave.models.list_lines import is_listing
from ragweave.models.text import numbers, sentences, trimmed

_BETWEEN = " | "
_CELL = re.compile(r"(?:^|(?<=\s))\|(?=\s|$)")
LINE = re.compile(r"[^\n]+")
_MARK = re.compile(r"(?:[-*•]|\d{1,3}[.)])\s+(?=\S)")
_LABEL = re.compile(r"\s*(?:[^\W\d_a-z][^\n.:!?|]{0,30}:|\d{4}-\d\d-\d\d)\s")
"""The label or the date at the beginning of a line: “Serial number: ...”, “2024-05-01 ...”."""
_LONGEST_HEAD = 60
"""Characters the head of a column may have."""
_DATED = re.compile(r"[^\W\d_]|^(?:19|20)\d\d$")
"""Matches a head of a column and no amount: it has a letter or is a year."""
_LISTING = 400
"""Characters from which each line that was not wrapped for its length is a span of its own."""


def spans(text: str) -> list[tuple[int, int]]:
    """Return [start, end) of the sentences of a text; each row of a table is one span."""
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
    out: list[tuple[int, int]] = []
    for a, b in sentences(text[start:end]):
        first, last = start + a, start + b
        if "\n" in text[first:last]:
            out += _lines(text, first, last)
        else:
            out.append((first, last))
    return out


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Split [start, end) before each line that begins with a label, and a listing before every line.

    A line of a listing ends early: the first word of the next line would have fitted.
    """
    lines: list[tuple[int, int]] = []
    for m in LINE.finditer(text, start, end):
        if not m.group().isspace():
            lines.append(m.span())
    # A full stop does not end a block: its width is that of the widest line of the whole paragraph.
    top = text.rfind("\n\n", 0, start) + 1
    bottom = text.find("\n\n", end) % (len(text) + 1)
    block = list(filter(str.strip, text[top:bottom].splitlines()))
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
    """Return the heads of the columns of each row that has heads, by the start of the row.

    The heads are the first row of the table if it reads like heads: it has no numbers, or its first cell is
    empty and its numbers belong to dates and years. Cached, because the caller looks up every row of a text.
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
            # The first row below a gap still has the heads above it and is the heads of the rows below it.
            top, usable = row, _reads_like_heads(row)
        ended = m.end()
    return out


def _reads_like_heads(row: list[str]) -> bool:
    if max(map(len, row)) > _LONGEST_HEAD:
        return False
    if not any(map(numbers, row)):
        return True
    return not row[0] and any(row) and all(map(_DATED.search, filter(None, row)))


def is_heads(text: str, start: int, end: int) -> bool:
    """Return whether the row at [start, end) is the heads of the row that follows it."""
    return _heads(text).get(end + 1) == cells(text[start:end])


def heads_above(text: str, start: int) -> str:
    """Return the heads of the columns of the row at `start`, as one row; "" if it has none."""
    return _BETWEEN.join(_heads(text).get(start, []))


def statements(text: str) -> list[str]:
    """Return the sentences of a text; each row of a table is written with the heads of its columns."""
    if " | " not in text:
        return [text[a:b] for a, b in sentences(text)]
    out: list[str] = []
    for a, b in spans(text):
        if not is_heads(text, a, b):
            out.append(as_sentence(text, a, b))
    return out


def is_row(part: str) -> bool:
    """Return whether a stretch of text begins with a row of a table."""
    return bool(_CELL.search(part.split("\n", 1)[0]))


def cell_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return [start, end) of each cell of the row text[start:end], without the white space around it."""
    out: list[tuple[int, int]] = []
    begin = start
    for bar in _CELL.finditer(text, start, end):
        out += trimmed(text, begin, bar.start()) or [(begin, begin)]
        begin = bar.end()
    out += trimmed(text, begin, end) or [(begin, begin)]
    return out


def cells(row: str) -> list[str]:
    """Return the cells of a row without the white space around them."""
    return [" ".join(c.split()) for c in _CELL.split(row)]


def as_sentence(text: str, start: int, end: int) -> str:
    """Return a sentence of a text as an answer quotes it: without a list mark, a row with its heads.

    A row of two cells reads “first: second”; a longer one names its columns.
    """
    part = text[start:end]
    if not _CELL.search(part):
        without_mark = _MARK.sub("", part, count=1) if _MARK.match(part) else part
        return " ".join(without_mark.split())
    subject, *rest = cells(part)
    heads = _heads(text).get(start, [])[1:]
    if len(heads) != len(rest) or len(rest) == 1:
        heads = [""] * len(rest)
    values: list[str] = []
    for head, cell in zip(heads, rest, strict=True):
        if cell:
            values.append(f"{head} {cell}".strip())
    listed = ", ".join(values)
    if subject and listed:
        return f"{subject}: {listed}"
    return subject or listed
