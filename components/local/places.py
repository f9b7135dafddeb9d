"""The places of an item that a passage may be taken from: what stands on one page, is said in a row, or is one part.

A paragraph may run over two pages, and a clip holds what is said, what its pictures show and what describes
them one after the other. A passage that went from one to the next would stand at no place that a citation can
name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ragweave.components.passages import pieces
from ragweave.corpora.types import Item, Span
from ragweave.models import tables
from ragweave.models.text import trimmed

_SENTENCE, _ROW = 500, 800
"""Characters of a sentence and of a row; of a longer one pieces are shown."""
_HEADING = 60
"""Characters of a heading, at most."""
_PAUSE = 10.0
"""Seconds without a word that part two places of a recording."""


@dataclass(frozen=True)
class Part:
    """A sentence or row of an item, or a piece of one that is too long or runs over two pages."""

    start: int
    end: int
    opens: bool
    """It begins where its sentence does."""
    closes: bool
    """It ends where its sentence does."""
    heading: str
    """The last line above that reads as a heading, or empty."""


def places(item: Item, low: int, high: int) -> Iterator[list[Part]]:
    """Yield the parts of text[low:high] of an item, place by place and in order; headings are none of them."""
    found: list[Part] = []
    before: tuple[str, Span | None] = "", None
    for part in _parts(item, low, high):
        here = _part_name(item, part.start), _span_at(item, part.start)
        if found and _moved(before, here):
            yield found
            found = []
        found.append(part)
        before = here
    if found:
        yield found


def _parts(item: Item, low: int, high: int) -> Iterator[Part]:
    text, heading = item.text, ""
    turned = [b.start for a, b in pairwise(item.spans) if a.page != b.page]
    for a, b in tables.spans(text[low:high]):
        start, end = low + a, low + b
        if not text[start:end].strip() or tables.is_heads(text, start, end):
            continue
        if _is_heading(text, start, end):
            heading = text[start:end]
            continue
        most = _ROW if tables.is_row(text[start:end]) else _SENTENCE
        edges = [start, *(at for at in turned if start < at < end), end]
        on_pages = [span for a, b in pairwise(edges) for span in trimmed(text, a, b)]
        cut = [piece for a, b in on_pages for piece in pieces(text, a, b, most)]
        for n, (first, last) in enumerate(cut):
            yield Part(first, last, n == 0, n == len(cut) - 1, heading)


def _is_heading(text: str, start: int, end: int) -> bool:
    """Tell whether a line stands alone between blank lines, short, without a number and without an end."""
    line = text[start:end]
    if len(line) > _HEADING or any(c.isdigit() or c in ".:!?|。：！？" for c in line):
        return False
    return text[:start].rstrip(" ")[-2:] in ("", "\n\n") and text[end:].lstrip(" ")[:2] == "\n\n"


def _part_name(item: Item, at: int) -> str:
    """Return which part of a clip or a picture a character belongs to; other items have none."""
    held = item.meta.get("parts")
    ranges = held.items() if isinstance(held, dict) else ()
    return next((str(name) for name, (start, end) in ranges if start <= at < end), "")


def _span_at(item: Item, at: int) -> Span | None:
    """Return the last span that begins at or before a character."""
    n = bisect_right(item.spans, at, key=lambda s: s.start)
    return item.spans[n - 1] if n else None


def _moved(before: tuple[str, Span | None], here: tuple[str, Span | None]) -> bool:
    """Tell whether two parts that follow each other in a text stand at different places of the file."""
    (part, one), (other, two) = before, here
    if part != other:
        return True
    if one is None or two is None or one is two:
        return False
    if one.time and two.time:
        return not one.time[0] <= two.time[0] <= one.time[1] + _PAUSE
    return bool(one.page and two.page and one.page != two.page)
