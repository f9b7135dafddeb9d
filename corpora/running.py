"""Find the running lines of a PDF: repeated headers and footers, and page numbers.

A line runs if its text is the same on most pages, or if only a number in it changes that counts the pages.
Any other line that differs from page to page is content: a total, a date, a month.
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
"""Share of a page's height, at its top and bottom, that can hold running lines."""
_REPEATED = 0.5
"""Smallest share of the pages that has the same running header or footer."""
_SMALLER = 0.95
"""Largest font size of a small line, as a share of the body's."""
_NEAR = 1.8
"""Baselines nearer than this many font sizes belong to one text."""
_ROMAN = re.compile(r"(?=[ivxlc])(?:c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", re.I)
_ROMANS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_BARE = re.compile(r"\W*(\d{1,4}|[ivxlc]{1,7})\W*", re.I)
"""A line that is a number and nothing else."""
_PART = re.compile(r"\D*?(\d{1,4})\s*(?:[^\W\d]+|/)\s*(\d{1,4})\W*")
"""A number, a word or a slash, and the number of all pages."""


def without_running_lines(
    pages: Sequence[tuple[list[PageLine], View]],
) -> tuple[list[PageLine], list[PageLine]]:
    """Remove page numbers, and the headers and footers that repeat on most pages.

    Returns:
        The lines that are kept, and the first line of each header and footer whose text is nowhere else. If
        every line of the document repeats, all lines are kept.
    """
    running = _Running(pages)
    everything: list[PageLine] = []
    kept: list[PageLine] = []
    for lines, view in pages:
        everything += lines
        kept += running.kept(lines, view)
    last = running.ends(kept)
    kept = [line for line in kept if id(line) not in last]
    if not kept:
        return everything, []
    return kept, _first_of_each(everything, kept, running)


def _first_of_each(
    everything: Sequence[PageLine], kept: Sequence[PageLine], running: _Running
) -> list[PageLine]:
    """Return the first of each header and footer that no kept line says."""
    ids = set(map(id, kept))
    texts = set(map(_plain, kept))
    first: dict[str, PageLine] = {}
    for line in everything:
        if id(line) in ids or not running.repeats(line):
            continue
        if _plain(line) not in texts:
            first.setdefault(_plain(line), line)
    return list(first.values())


class _Running:
    """Find the lines of a document that run from page to page."""

    def __init__(self, pages: Sequence[tuple[list[PageLine], View]]) -> None:
        sizes: Counter[float] = Counter()
        self._pages: dict[int, list[PageLine]] = {}
        self._last = 0
        for lines, _ in pages:
            for line in lines:
                sizes[line.size] += len(line.text)
                self._last = max(self._last, line.page)
            if lines:
                self._pages[lines[0].page] = lines
        self._body = sizes.most_common(1)[0][0] if sizes else 0.0
        self._count_edges(pages)

    def _count_edges(self, pages: Sequence[tuple[list[PageLine], View]]) -> None:
        """Count what the edges of pages repeat: texts at a height, and offsets from the page number."""
        written = 0
        repeated: Counter[tuple[str, int]] = Counter()
        offsets: Counter[int] = Counter()
        self._bare: set[tuple[int, int]] = set()
        for lines, view in pages:
            written += bool(lines)
            edge = self._edge(lines, view)
            repeated.update(set(map(_key, edge)))
            offsets.update(_offsets(edge))
            for line in edge:
                if _BARE.fullmatch(line.text):
                    self._bare.update((line.page, number) for number in _numbers(line))
        self._least = max(min(3, max(2, written)), written * _REPEATED)
        self._repeated = self._frequent(repeated)
        self._offsets = self._frequent(offsets)

    def _frequent(self, counts: Counter[_Key]) -> set[_Key]:
        """Return what is on most pages."""
        return {key for key, count in counts.items() if count >= self._least}

    def _edge(self, lines: Sequence[PageLine], view: View) -> list[PageLine]:
        """Return the lines at the top and bottom of a page."""
        return [line for line in lines if self._at_edge(line, view)]

    def _at_edge(self, line: PageLine, view: View) -> bool:
        height = view.size[1]
        # A line larger than the body is a heading at the top of its page.
        near = line.bbox[3] > height * (1 - _EDGE) or line.bbox[1] < height * _EDGE
        return line.size < self._body * LARGER and near

    def kept(self, lines: list[PageLine], view: View) -> list[PageLine]:
        """Return the lines of a page that do not run.

        A line stays, although it repeats, if it continues a kept line nearer to the edge.
        """
        edge = self._edge(lines, view)
        gone = set(map(id, filter(self._runs, edge)))
        middle = view.size[1] / 2
        for line in sorted(edge, key=lambda x: -abs(x.base - middle)):
            for other in edge:
                further = (other.base - line.base) * (line.base - middle) > 0
                near = abs(other.base - line.base) < _NEAR * line.size
                if further and near and id(other) not in gone:
                    gone.discard(id(line))
        return [line for line in lines if id(line) not in gone]

    def repeats(self, line: PageLine) -> bool:
        """Return whether a line is on most pages unchanged and has letters."""
        return _key(line) in self._repeated and _has_letters(line)

    def _runs(self, line: PageLine) -> bool:
        return _key(line) in self._repeated or self._counts_pages(line)

    def _counts_pages(self, line: PageLine) -> bool:
        """Return whether the purpose of a line is the number of its page."""
        if not self._is_alone(line):
            return False
        numbers = _numbers(line)
        in_step = self._in_step(line.page, numbers)
        if _BARE.fullmatch(line.text):
            return in_step or line.page in numbers or self._continues_count(line.page, numbers)
        whole = _PART.fullmatch(line.text)
        if whole and int(whole[2]) == self._last and (in_step or int(whole[1]) == line.page):
            return True
        if PAGE_NUMBER.fullmatch(line.text) and _has_letters(line):
            return True
        return in_step and self._is_set_apart(line)

    def _in_step(self, page: int, numbers: Iterable[int]) -> bool:
        """Return whether one of some numbers counts the pages."""
        return not self._offsets.isdisjoint(number - page for number in numbers)

    def _continues_count(self, page: int, numbers: Iterable[int]) -> bool:
        """Return whether the page before or after has the number before or after as a line."""
        for number in numbers:
            if (page + 1, number + 1) in self._bare or (page - 1, number - 1) in self._bare:
                return True
        return False

    def _is_set_apart(self, line: PageLine) -> bool:
        """Return whether a line is smaller than the body, or has its page number in a cell of its own."""
        if line.size < self._body * _SMALLER:
            return True
        if len(line.cells) < 2:
            return False
        for cell in (line.cells[0], line.cells[-1]):
            number = _BARE.fullmatch(cell.text)
            if number and number[1].isdecimal() and self._in_step(line.page, [int(number[1])]):
                return True
        return False

    def _is_alone(self, line: PageLine) -> bool:
        """Return whether a line has no other text near it: a year at the top may be the head of a column."""
        for other in self._pages[line.page]:
            if other is line or abs(other.base - line.base) >= _NEAR * line.size:
                continue
            runs = _key(other) in self._repeated or self._in_step(other.page, _numbers(other))
            if not runs and other.size < self._body * LARGER:
                return False
        return True

    def ends(self, lines: Sequence[PageLine]) -> set[int]:
        """Return the ids of footers at the end of pages that their text does not fill."""
        by_page: dict[int, list[PageLine]] = {}
        for line in lines:
            by_page.setdefault(line.page, []).append(line)
        pairs: list[list[PageLine]] = []
        texts: Counter[str] = Counter()
        offsets: Counter[int] = Counter()
        for page in by_page.values():
            if len(page) > 1 and page[-1].size < page[-2].size * _SMALLER:
                pairs.append(page[-2:])
                texts[_plain(page[-1])] += 1
                offsets.update(_offsets(page[-1:]))
        if len(pairs) < 3:
            return set()
        same, steps = self._frequent(texts), self._frequent(offsets)
        gone: set[int] = set()
        for above, line in pairs:
            runs = _plain(line) in same or not steps.isdisjoint(_offsets([line]))
            if runs and abs(above.base - line.base) >= _NEAR * line.size:
                gone.add(id(line))
        return gone


def _plain(line: PageLine) -> str:
    return line.text.casefold()


def _key(line: PageLine) -> tuple[str, int]:
    """Return the text of a line and its height on the page, rounded."""
    return _plain(line), round(line.base / 6)


def _has_letters(line: PageLine) -> bool:
    return any(map(str.isalpha, line.text))


def _offsets(lines: Iterable[PageLine]) -> set[int]:
    """Return the differences between the numbers in lines and the numbers of their pages."""
    found: set[int] = set()
    for line in lines:
        found.update(number - line.page for number in _numbers(line))
    return found


def _numbers(line: PageLine) -> list[int]:
    """Return the numbers at the start or end of a short line: one may be the page number."""
    bare = _BARE.fullmatch(line.text)
    if bare and not bare[1].isdecimal():
        return [_roman(bare[1])] if _ROMAN.fullmatch(bare[1]) else []
    whole = _PART.fullmatch(line.text)
    if whole:
        return [int(whole[1]), int(whole[2])]
    if len(line.text) > 90:
        return []
    stated = re.findall(r"^\W{0,3}(\d{1,4})(?=[\s|]|\W*$)|(?<=[\s|])(\d{1,4})\W{0,3}$", line.text)
    return [int(first or last) for first, last in stated]


def _roman(text: str) -> int:
    """Return the value of a Roman numeral."""
    total = after = 0
    for character in reversed(text.lower()):
        value = _ROMANS[character]
        total += -value if value < after else value
        after = value
    return total
