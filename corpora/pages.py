"""Show the pages of a PDF as readers see them: turned, cropped, without tiny text or text off the page.

Stored places are in points of the file. Lines are joined and pictures cut out in points of the shown page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragweave.corpora.grid import PageLine
from ragweave.corpora.types import Box

PAGE_NUMBER = re.compile(
    r"\W*(?:(?:page|seite|p\.|第)\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:of|von|de|/)\s*\d{1,4})?\W*+页?\W*+",
    re.I,
)
"""A line, or a paragraph of a header or footer of Word, that is only a page number."""
_TINY, _READABLE = 1.5, 5.0
"""Largest size of an unreadable font and smallest size of a readable one, in points."""


@dataclass(frozen=True, slots=True)
class View:
    """The shown part `box` of a page, in points of the file, turned clockwise by `turn` degrees."""

    box: Box
    turn: int = 0

    @property
    def plain(self) -> bool:
        """Whether places are the same in the file and on the shown page."""
        return not self.turn and self.box[:2] == (0, 0)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the shown page."""
        width, height = self.box[2] - self.box[0], self.box[3] - self.box[1]
        return (height, width) if self.turn in (90, 270) else (width, height)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return a point of the file on the shown page."""
        left, bottom, right, top = self.box
        if self.turn == 90:
            return y - bottom, right - x
        if self.turn == 180:
            return right - x, top - y
        if self.turn == 270:
            return top - y, x - left
        return x - left, y - bottom

    def seen(self, box: Box) -> Box:
        """Return a box of the file on the shown page."""
        return box if self.plain else _sorted(self.point(box[0], box[1]), self.point(box[2], box[3]))

    def kept(self, box: Box) -> Box:
        """Return the box in the file of a box on the shown page."""
        if self.plain:
            return box
        back = View((0.0, 0.0, *self.size), (360 - self.turn) % 360)
        (x0, y0), (x1, y1) = back.point(box[0], box[1]), back.point(box[2], box[3])
        left, bottom = self.box[:2]
        found = _sorted((x0 + left, y0 + bottom), (x1 + left, y1 + bottom))
        return (round(found[0], 1), round(found[1], 1), round(found[2], 1), round(found[3], 1))

    def off(self, box: Box) -> bool:
        """Return whether a box lies off the shown page."""
        width, height = self.size
        return box[0] > width or box[1] > height or box[2] < 0 or box[3] < 0


def _sorted(a: tuple[float, float], b: tuple[float, float]) -> Box:
    """Return the box with two opposite corners."""
    return min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])


def without_unseen_lines(
    pages: Sequence[tuple[list[PageLine], View]], hidden: Sequence[str]
) -> tuple[list[tuple[list[PageLine], View]], list[str]]:
    """Remove lines off the page, and lines too small to read if others are readable.

    Returns:
        The pages with the remaining lines, and `hidden` with the texts of the removed ones.
    """
    least = _least_size(pages)
    kept: list[tuple[list[PageLine], View]] = []
    texts = list(hidden)
    for lines, view in pages:
        visible: list[PageLine] = []
        for line in lines:
            if line.size <= least or view.off(line.bbox):
                texts.append(line.text)
            else:
                visible.append(line)
        kept.append((visible, view))
    return kept, texts


def _least_size(pages: Sequence[tuple[list[PageLine], View]]) -> float:
    """Return the font size up to which lines are unreadable: 0 if no line of the document is readable."""
    for lines, _ in pages:
        if any(line.size >= _READABLE for line in lines):
            return _TINY
    return 0.0
