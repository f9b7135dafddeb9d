"""Divide an item into places from which a passage may be taken: a page, a row, or one part of a clip.

A paragraph may span two pages, and a clip contains its transcript, the text in its pictures and their
description, one after the other. A passage across such a border would have no place that a citation can name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragweave.components.passages import pieces
from ragweave.corpora.types import Item, Span
from ragweave.models import tables
from ragweave.models.text import trimmed

_SENTENCE = 500
"""Characters of a sentence; a longer one is shown in pieces."""
_ROW = 800
"""Characters of a row; a longer one is shown in pieces."""
_HEADING = 60
"""Characters of a heading at most."""
_PAUSE = 10.0
"""Seconds without speech that separate two places of a recording."""


@dataclass(frozen=True)
class Part:
    """A sentence or row of an item, or a piece of one that is too long or spans two pages."""

    start: int
    end: int
    opens: bool
    """Whether it begins its sentence."""
    closes: bool
    """Whether it ends its sentence."""
    heading: str
    """The last heading above it, or empty."""


def places(item: Item, low: int, high: int) -> Iterator[list[Part]]:
    """Yield the parts of text[low:high] of an item in order, one list a place, without headings."""
    found: list[Part] = []
    before: tuple[str, Span | None] = "", None
    for part in _parts(item, low, high):
        here = (_part_name(item, part.start), _span_at(item, part.start))
        if found and _moved(before, here):
            yield found
            found = []
        found.append(part)
        before = here
    if found:
        yield found


def _parts(item: Item, low: int, high: int) -> Iterator[Part]:
    """Yield the parts of text[low:high] of an item in order, without headings."""
    text = item.text
    heading = ""
    page_starts = [span.start for before, span in pairwise(item.spans) if before.page != span.page]
    for first, last in tables.spans(text[low:high]):
        start, end = low + first, low + last
        if not text[start:end].strip() or tables.is_heads(text, start, end):
            continue
        if _is_heading(text, start, end):
            heading = text[start:end]
            continue
        cut = _pieces(text, start, end, page_starts)
        for n, (piece_start, piece_end) in enumerate(cut):
            yield Part(piece_start, piece_end, n == 0, n == len(cut) - 1, heading)


def _pieces(text: str, start: int, end: int, page_starts: Sequence[int]) -> list[tuple[int, int]]:
    """Return a sentence or row in pieces that are on one page and not too long."""
    most = _ROW if tables.is_row(text[start:end]) else _SENTENCE
    inside = [at for at in page_starts if start < at < end]
    out: list[tuple[int, int]] = []
    for page_start, page_end in pairwise([start, *inside, end]):
        for first, last in trimmed(text, page_start, page_end):
            out += pieces(text, first, last, most)
    return out


def _has_digit_or_stop(line: str) -> bool:
    for character in line:
        if character.isdigit() or character in ".:!?|。：！？":
            return True
    return False


def _is_heading(text: str, start: int, end: int) -> bool:
    """Return whether a short line between blank lines has no number and no punctuation of a sentence."""
    line = text[start:end]
    if len(line) > _HEADING or _has_digit_or_stop(line):
        return False
    return text[:start].rstrip(" ")[-2:] in ("", "\n\n") and text[end:].lstrip(" ")[:2] == "\n\n"


def _part_name(item: Item, at: int) -> str:
    """Return the part of a clip or picture that a character belongs to; other items have none."""
    held = item.meta.get("parts")
    if not isinstance(held, dict):
        return ""
    for name, (start, end) in held.items():
        if start <= at < end:
            return str(name)
    return ""


def _span_at(item: Item, at: int) -> Span | None:
    """Return the last span that begins at or before a character."""
    n = bisect_right(item.spans, at, key=lambda span: span.start)
    return item.spans[n - 1] if n else None


def _moved(before: tuple[str, Span | None], here: tuple[str, Span | None]) -> bool:
    """Return whether two consecutive parts of a text are at different places of the file."""
    part_before, one = before
    part_here, two = here
    if part_before != part_here:
        return True
    if one is None or two is None or one is two:
        return False
    if one.time and two.time:
        return not one.time[0] <= two.time[0] <= one.time[1] + _PAUSE
    return bool(one.page and two.page and one.page != two.page)
