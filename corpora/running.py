"""Running lines of a PDF: headers and footers that repeat as they are, and the numbers of its pages.

A line is left out where its text is the same on most pages, or where only a number in it changes that counts
the pages one by one. Any other line that differs from page to page is what the document says: a total, a
date, a month.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from ragweave.corpora.grid import PageLine
from ragweave.corpora.layout import LARGER
from ragweave.corpora.pages import PAGE_NUMBER, View

_Key = TypeVar("_Key", bound=Hashable)
_EDGE = 0.12
"""Share of a page's height at its top and bottom where running headers, footers and page numbers stand."""
_REPEATED = 0.5
"""A line in that zone on at least this share of the pages is a running header or footer."""
_SMALLER = 0.95
"""Share of the size of the body from which down a line is set smaller than it."""
_NEAR = 1.8
"""Baselines that are nearer than this many font sizes belong to one piece of text."""
_ROMAN = re.compile(r"(?=[ivxlc])(?:c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", re.I)
_ROMANS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_BARE = re.compile(r"\W*(\d{1,4}|[ivxlc]{1,7})\W*", re.I)
"""A line that is a number and nothing else."""
_PART = re.compile(r"\D*?(\d{1,4})\s*(?:[^\W\d]+|/)\s*(\d{1,4})\W*")
"""A number, a word or a stroke, and the number of all pages."""


def without_running_lines(
    pages: Sequence[tuple[list[PageLine], View]],
) -> tuple[list[PageLine], list[PageLine]]:
    """Leave out page numbers, and the headers and footers that repeat on most pages.

    The first of each header and footer is returned as well, where its text stands nowhere else. A document
    whose every line repeats keeps all of them.
    """
    found = _Running(pages)
    kept = [line for lines, view in pages for line in found.kept(lines, view)]
    gone = found.ends(kept)
    kept = [x for x in kept if id(x) not in gone]
    everything = [x for lines, _ in pages for x in lines]
    if not kept:
        return everything, []
    left, said = {id(x) for x in kept}, {_plain(x) for x in kept}
    first: dict[str, PageLine] = {}
    for line in everything:
        if id(line) not in left and found.repeats(line) and _plain(line) not in said:
            first.setdefault(_plain(line), line)
    return kept, list(first.values())


class _Running:
    """Which lines of a document run from page to page."""

    def __init__(self, pages: Sequence[tuple[list[PageLine], View]]) -> None:
        sizes: Counter[float] = Counter()
        for line in (x for lines, _ in pages for x in lines):
            sizes[line.size] += len(line.text)
        self._body = sizes.most_common(1)[0][0] if sizes else 0.0
        self._written = sum(bool(lines) for lines, _ in pages)
        self._last = max((x.page for lines, _ in pages for x in lines), default=0)
        self._all = {lines[0].page: lines for lines, _ in pages if lines}
        edges = [[x for x in lines if self._at_edge(x, view)] for lines, view in pages]
        self._repeated = self._often({(_plain(x), round(x.base / 6)) for x in lines} for lines in edges)
        self._offsets = self._often({n - x.page for x in lines for n in _numbers(x)} for lines in edges)
        self._bare = {
            (x.page, n) for lines in edges for x in lines if _BARE.fullmatch(x.text) for n in _numbers(x)
        }

    def _often(self, pages: Iterable[set[_Key]]) -> set[_Key]:
        """Return what most pages have."""
        counts = Counter(k for found in pages for k in found)
        least = max(min(3, max(2, self._written)), self._written * _REPEATED)
        return {k for k, n in counts.items() if n >= least}

    def _at_edge(self, line: PageLine, view: View) -> bool:
        height = view.size[1]
        # What is larger than the body is a heading at the top of its page.
        near = line.bbox[3] > height * (1 - _EDGE) or line.bbox[1] < height * _EDGE
        return line.size < self._body * LARGER and near

    def kept(self, lines: list[PageLine], view: View) -> list[PageLine]:
        """Return the lines of a page that do not run.

        A line that goes on from a kept one nearer to the edge is part of its text, though it repeats.
        """
        edge = [x for x in lines if self._at_edge(x, view)]
        gone = {id(x) for x in edge if self._runs(x)}
        middle = view.size[1] / 2
        for line in sorted(edge, key=lambda x: -abs(x.base - middle)):
            further = (x for x in edge if (x.base - line.base) * (line.base - middle) > 0)
            if any(id(x) not in gone and abs(x.base - line.base) < _NEAR * line.size for x in further):
                gone.discard(id(line))
        return [x for x in lines if id(x) not in gone]

    def repeats(self, line: PageLine) -> bool:
        """Tell whether a line is on most pages as it is, and says something."""
        return (_plain(line), round(line.base / 6)) in self._repeated and any(c.isalpha() for c in line.text)

    def _runs(self, line: PageLine) -> bool:
        return (_plain(line), round(line.base / 6)) in self._repeated or self._counts(line)

    def _counts(self, line: PageLine) -> bool:
        """Tell whether a line is there for the number of its page."""
        numbers = _numbers(line)
        in_step = any(n - line.page in self._offsets for n in numbers)
        if _BARE.fullmatch(line.text):
            next_to = any((line.page + d, n + d) in self._bare for n in numbers for d in (1, -1))
            return (in_step or next_to or line.page in numbers) and self._stands_alone(line)
        whole = _PART.fullmatch(line.text)
        if whole and int(whole[2]) == self._last and (in_step or int(whole[1]) == line.page):
            return self._stands_alone(line)
        if PAGE_NUMBER.fullmatch(line.text) and any(c.isalpha() for c in line.text):
            return self._stands_alone(line)
        return in_step and self._is_set_apart(line) and self._stands_alone(line)

    def _is_set_apart(self, line: PageLine) -> bool:
        """Tell whether a line is smaller than the body, or has a number of its page in a cell of its own."""
        ends = [c.text for c in (line.cells[:1] + line.cells[-1:] if len(line.cells) > 1 else ())]
        alone = any(
            m and m[1].isdecimal() and int(m[1]) - line.page in self._offsets
            for m in map(_BARE.fullmatch, ends)
        )
        return line.size < self._body * _SMALLER or alone

    def _stands_alone(self, line: PageLine) -> bool:
        """Tell whether no other line is near: a year may be the head of a column at the top of a page."""
        near = (
            x for x in self._all[line.page] if x is not line and abs(x.base - line.base) < _NEAR * line.size
        )
        return all(
            (_plain(x), round(x.base / 6)) in self._repeated
            or x.size >= self._body * LARGER
            or any(n - x.page in self._offsets for n in _numbers(x))
            for x in near
        )

    def ends(self, lines: Sequence[PageLine]) -> set[int]:
        """Return the last lines of pages that run: a page that its text does not fill ends with its footer."""
        by_page: dict[int, list[PageLine]] = {}
        for line in lines:
            by_page.setdefault(line.page, []).append(line)
        pairs = [page[-2:] for page in by_page.values() if len(page) > 1]
        last = [end for above, end in pairs if end.size < above.size * _SMALLER]
        if len(last) < 3:
            return set()
        same = self._often({_plain(x)} for x in last)
        steps = self._often({n - x.page for n in _numbers(x)} for x in last)
        gone = set()
        for line in last:
            above = by_page[line.page][-2]
            runs = _plain(line) in same or any(n - line.page in steps for n in _numbers(line))
            if runs and abs(above.base - line.base) >= _NEAR * line.size:
                gone.add(id(line))
        return gone


def _plain(line: PageLine) -> str:
    return line.text.casefold()


def _numbers(line: PageLine) -> list[int]:
    """Return the numbers that a short line begins or ends with: one may be the page's own, beside a chapter title."""
    if (found := _BARE.fullmatch(line.text)) and not found[1].isdecimal():
        return [_roman(found[1])] if _ROMAN.fullmatch(found[1]) else []
    if whole := _PART.fullmatch(line.text):
        return [int(whole[1]), int(whole[2])]
    stated = re.findall(r"^\W{0,3}(\d{1,4})(?=[\s|]|\W*$)|(?<=[\s|])(\d{1,4})\W{0,3}$", line.text)
    return [int(a or b) for a, b in stated] if len(line.text) <= 90 else []


def _roman(text: str) -> int:
    values = [_ROMANS[c] for c in text.lower()]
    return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))
