"""The text of a PDF page by the boxes of its characters: lines to select, the lines of a quote, and hits of a search.

All boxes are [left, top, width, height] as shares of the page as it is shown, turned and cropped.
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ragweave.corpora.types import Box, union

Share = tuple[float, float, float, float]
"""[left, top, width, height] as shares of the picture of a page."""
_MOST = 100_000
"""Characters of a page that are looked at."""
_GAP = 1.5
"""Heights of a character between two that are not of one stretch: a column or a cell begins."""
_HYPHENS = frozenset("\x02\u00ad\ufffe")
"""What PDFium gives for a hyphen at a line end."""
_GRID = 100_000
"""Steps of a share."""


class Letter(NamedTuple):
    """A character of a page with its box in points, or none where it leaves no ink."""

    text: str
    box: Box | None


def letters(page: Any) -> list[Letter]:
    """Return the characters of a page in the order of the file; a line ends with a line break."""
    import pypdfium2.raw as raw

    text = page.get_textpage()
    try:
        found = []
        for n in range(min(text.count_chars(), _MOST)):
            code = raw.FPDFText_GetUnicode(text, n)
            # Lone surrogates and what lies beyond Unicode come from broken fonts.
            sign = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
            box = text.get_charbox(n, loose=True) if sign.strip() else None
            found.append(Letter("\n" if sign == "\r" else sign, box))
        return found
    finally:
        text.close()


def stretches(row: Sequence[Letter], chosen: Sequence[int] | None = None) -> Iterator[tuple[str, Box]]:
    """Yield the text and the box of each run of letters on one line, of the chosen letters where some are named."""
    part: list[Letter] = []
    last = -2
    for n in range(len(row)) if chosen is None else chosen:
        letter = row[n]
        held = [p.box for p in part if p.box]
        if held and (letter.text == "\n" or n != last + 1 or (letter.box and _parted(held[-1], letter.box))):
            yield _joined(part)
            part = []
        last = n
        if letter.text != "\n":
            part.append(letter)
    if any(p.box for p in part):
        yield _joined(part)


def _parted(before: Box, after: Box) -> bool:
    height = max(before[3] - before[1], after[3] - after[1], 1.0)
    middle = (after[1] + after[3]) / 2
    return not before[1] <= middle <= before[3] or not -_GAP * height < after[0] - before[2] < _GAP * height


def _joined(part: Sequence[Letter]) -> tuple[str, Box]:
    text = "".join("-" if p.text in _HYPHENS else p.text for p in part).strip()
    return text, union([p.box for p in part if p.box])


def flat(row: Sequence[str]) -> tuple[str, list[int]]:
    """Return the letters and digits alone, in one case, and from which character each of them comes."""
    found, places = [], []
    for n, text in enumerate(row):
        for sign in unicodedata.normalize("NFKC", text).casefold():
            if sign.isalnum():
                found.append(sign)
                places.append(n)
    return "".join(found), places


def quoted(row: Sequence[Letter], quote: str, box: Box | None) -> list[Box]:
    """Return the boxes of the lines of a quote, the one inside a box first.

    Where the page sets it otherwise, as in a table, the lines in the box whose words it has; then all that
    are in the box, and at last the box.
    """
    text, places = flat([letter.text for letter in row])
    wanted, _ = flat(quote)
    starts = [m.start() for m in re.finditer(f"(?={re.escape(wanted)})", text)] if wanted else []
    if starts:
        start = next((s for s in starts if box and _inside(row[places[s]].box, box)), starts[0])
        run = range(places[start], places[start + len(wanted) - 1] + 1)
        return [b for _, b in stretches(row, run)]
    if box is None:
        return []
    lines = [(said, b) for said, b in stretches(row) if _inside(b, box)]
    shared = [b for said, b in lines if _has(wanted, said)]
    return shared or [b for _, b in lines] or [box]


def _has(wanted: str, said: str) -> bool:
    words = [flat(word)[0] for word in said.split()]
    return any(words) and all(word in wanted for word in words)


def _inside(box: Box | None, around: Box) -> bool:
    if box is None:
        return False
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return around[0] - 1 <= x <= around[2] + 1 and around[1] - 1 <= y <= around[3] + 1


def shares(page: Any, box: Sequence[float]) -> Share:
    """Return a box in points as shares of the picture of its page; the page may be turned or cropped."""
    import pypdfium2.raw as raw

    corners = []
    for x, y in ((box[0], box[1]), (box[2], box[3])):
        across, down = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(page, 0, 0, _GRID, _GRID, 0, x, y, across, down)
        corners.append((min(max(across.value / _GRID, 0), 1), min(max(down.value / _GRID, 0), 1)))
    (x0, x1), (y0, y1) = (sorted(values) for values in zip(*corners, strict=True))
    return (round(x0, 5), round(y0, 5), round(x1 - x0, 5), round(y1 - y0, 5))
