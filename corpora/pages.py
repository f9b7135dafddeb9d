"""Pages of a PDF as they are read: turned and cropped, without what lies off them or is too small.

Places are kept as the file counts them, in points from its own corner; lines are put together, and pictures
cut out, as the page is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ragweave.corpora.grid import PageLine
from ragweave.corpora.types import Box

PAGE_NUMBER = re.compile(
    r"\W*(?:(?:page|seite|p\.|第)\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:of|von|de|/)\s*\d{1,4})?\W*+页?\W*+",
    re.I,
)
"""A line, or a paragraph of a header or footer of Word, that is only the number of its page."""
_TINY, _READABLE = 1.5, 5.0
"""Points of a font that nobody reads, and of one that can be read."""


@dataclass(frozen=True, slots=True)
class View:
    """A page that is turned clockwise by `turn` degrees, and of which `box`, in the points of the file, is shown."""

    box: Box
    turn: int = 0

    @property
    def plain(self) -> bool:
        """Tell whether places are the same in the file and on the page."""
        return not self.turn and self.box[:2] == (0, 0)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height as it is read."""
        width, height = self.box[2] - self.box[0], self.box[3] - self.box[1]
        return (height, width) if self.turn in (90, 270) else (width, height)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point of the file lies."""
        left, bottom, right, top = self.box
        if self.turn == 90:
            return y - bottom, right - x
        if self.turn == 180:
            return right - x, top - y
        if self.turn == 270:
            return top - y, x - left
        return x - left, y - bottom

    def seen(self, box: Box) -> Box:
        """Return where a box of the file lies."""
        return box if self.plain else _sorted(self.point(box[0], box[1]), self.point(box[2], box[3]))

    def kept(self, box: Box) -> Box:
        """Return the box in the file of one that was read."""
        if self.plain:
            return box
        back = View((0.0, 0.0, *self.size), (360 - self.turn) % 360)
        (x0, y0), (x1, y1) = back.point(box[0], box[1]), back.point(box[2], box[3])
        left, bottom = self.box[:2]
        found = _sorted((x0 + left, y0 + bottom), (x1 + left, y1 + bottom))
        return (round(found[0], 1), round(found[1], 1), round(found[2], 1), round(found[3], 1))

    def off(self, box: Box) -> bool:
        """Tell whether a box that was read lies off the page as it is shown."""
        width, height = self.size
        return box[0] > width or box[1] > height or box[2] < 0 or box[3] < 0


def _sorted(a: tuple[float, float], b: tuple[float, float]) -> Box:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])


def without_unseen_lines(
    pages: Sequence[tuple[list[PageLine], View]], hidden: Sequence[str]
) -> tuple[list[tuple[list[PageLine], View]], list[str]]:
    """Leave out lines too small to be read where others can be read, and those off the page."""
    sizes = Counter(x.size for lines, _ in pages for x in lines)
    least = _TINY if any(size >= _READABLE for size in sizes) else 0.0
    unseen = [x for lines, view in pages for x in lines if x.size <= least or view.off(x.bbox)]
    gone = {id(x) for x in unseen}
    kept = [([x for x in lines if id(x) not in gone], view) for lines, view in pages]
    return kept, [*hidden, *(x.text for x in unseen)]
