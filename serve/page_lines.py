"""Find lines, quotes and search hits on a PDF page from the boxes of its characters.

Boxes that leave this module for the reader are [left, top, width, height] as fractions of the page as it is
shown, rotated and cropped.
"""

from __future__ import annotations

import ctypes
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ragweave.corpora.types import Box, union

Share = tuple[float, float, float, float]
"""[left, top, width, height] as fractions of the picture of a page."""
_MOST = 100_000
"""Maximum number of characters read from a page."""
_GAP = 1.5
"""Gap at which a new column or cell begins, in heights of a character."""
_HYPHENS = frozenset("\x02\u00ad\ufffe")
"""Characters that PDFium returns for a hyphen at the end of a line."""
_GRID = 100_000
"""Resolution of a fraction, in steps."""


class Letter(NamedTuple):
    """A character of a page with its box in points; None if it leaves no ink."""

    text: str
    box: Box | None


def letters(page: Any) -> list[Letter]:
    """Return the characters of a page in file order, with a line break at the end of each line."""
    import pypdfium2.raw as raw

    text = page.get_textpage()
    try:
        found = []
        for n in range(min(text.count_chars(), _MOST)):
            code = raw.FPDFText_GetUnicode(text, n)
            # Broken fonts give lone surrogates and codes beyond Unicode.
            sign = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
            box = text.get_charbox(n, loose=True) if sign.strip() else None
            found.append(Letter("\n" if sign == "\r" else sign, box))
        return found
    finally:
        text.close()


def stretches(row: Sequence[Letter], chosen: Sequence[int] | None = None) -> Iterator[tuple[str, Box]]:
    """Yield the text and the box of each stretch of letters on one line.

    `chosen` limits the letters, by ascending index.
    """
    part: list[Letter] = []
    last_box: Box | None = None
    last = -2
    for n in range(len(row)) if chosen is None else chosen:
        letter = row[n]
        if last_box and (n != last + 1 or _begins_stretch(last_box, letter)):
            yield _joined(part)
            part, last_box = [], None
        last = n
        if letter.text != "\n":
            part.append(letter)
            last_box = letter.box or last_box
    if last_box:
        yield _joined(part)


def _begins_stretch(before: Box, letter: Letter) -> bool:
    """Return whether a letter ends the stretch before it: by a line break, another line, or a wide gap."""
    if letter.text == "\n":
        return True
    if letter.box is None:
        return False
    after = letter.box
    height = max(before[3] - before[1], after[3] - after[1], 1.0)
    middle = (after[1] + after[3]) / 2
    same_line = before[1] <= middle <= before[3]
    close = -_GAP * height < after[0] - before[2] < _GAP * height
    return not (same_line and close)


def _joined(part: Sequence[Letter]) -> tuple[str, Box]:
    """Return the text and the box of letters."""
    text = ""
    boxes = []
    for letter in part:
        text += "-" if letter.text in _HYPHENS else letter.text
        if letter.box:
            boxes.append(letter.box)
    return text.strip(), union(boxes)


def flat(row: Sequence[str]) -> tuple[str, list[int]]:
    """Return only the letters and digits, case-folded, and the index of the character of each one."""
    found, places = [], []
    for n, text in enumerate(row):
        for sign in unicodedata.normalize("NFKC", text).casefold():
            if sign.isalnum():
                found.append(sign)
                places.append(n)
    return "".join(found), places


def quoted(row: Sequence[Letter], quote: str, box: Box | None) -> list[Box]:
    """Return the boxes of the lines of a quote, preferably of its occurrence inside `box`.

    If the page arranges the text differently, as in a table, the result is the first of these that exists:
    the lines inside the box whose words are all in the quote, all lines inside the box, the box itself.
    """
    wanted, _ = flat(quote)
    letters_of_quote = _occurrence(row, wanted, box)
    if letters_of_quote is not None:
        return [line for _, line in stretches(row, letters_of_quote)]
    if box is None:
        return []
    inside: list[Box] = []
    matching: list[Box] = []
    for text, line in stretches(row):
        if _inside(line, box):
            inside.append(line)
            if _has_words(wanted, text):
                matching.append(line)
    return matching or inside or [box]


def _occurrence(row: Sequence[Letter], wanted: str, box: Box | None) -> range | None:
    """Return the letters of a flattened quote, preferably of an occurrence inside `box`."""
    if not wanted:
        return None
    text, places = flat([letter.text for letter in row])
    first = text.find(wanted)
    if first < 0:
        return None
    start = first
    while box and start >= 0 and not _inside(row[places[start]].box, box):
        start = text.find(wanted, start + 1)
    if start < 0:
        start = first
    return range(places[start], places[start + len(wanted) - 1] + 1)


def _has_words(wanted: str, text: str) -> bool:
    """Return whether a flattened quote contains each word of a text."""
    has_letters = False
    for word in text.split():
        letters_of_word, _ = flat(word)
        if letters_of_word not in wanted:
            return False
        has_letters = has_letters or bool(letters_of_word)
    return has_letters


def _inside(box: Box | None, around: Box) -> bool:
    """Return whether the centre of a box is inside another one, with a tolerance of a point."""
    if box is None:
        return False
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return around[0] - 1 <= x <= around[2] + 1 and around[1] - 1 <= y <= around[3] + 1


def shares(page: Any, box: Sequence[float]) -> Share:
    """Return a box in points as fractions of the picture of its page, which may be rotated or cropped."""
    import pypdfium2.raw as raw

    corners = []
    for x, y in ((box[0], box[1]), (box[2], box[3])):
        across, down = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(page, 0, 0, _GRID, _GRID, 0, x, y, across, down)
        corners.append((min(max(across.value / _GRID, 0), 1), min(max(down.value / _GRID, 0), 1)))
    (x0, x1), (y0, y1) = (sorted(values) for values in zip(*corners, strict=True))
    return (round(x0, 5), round(y0, 5), round(x1 - x0, 5), round(y1 - y0, 5))
