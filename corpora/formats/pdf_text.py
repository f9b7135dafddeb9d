"""Read the text of one PDF page: its lines with their places, fonts and cells."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pypdfium2.raw as raw

from ragweave.corpora.columns import Cell
from ragweave.corpora.formats.buttons import SetLine
from ragweave.corpora.formats.ground import WHITE
from ragweave.corpora.formats.pictured import pictured
from ragweave.corpora.grid import GAP, PageLine
from ragweave.corpora.pages import View
from ragweave.corpora.types import Box, union

MAX_PAGE_CHARACTERS = 200_000
_HYPHENS = (0x02, 0xAD, 0xFFFE)
"""Codes that PDFium gives for a hyphen at the end of a line."""
_OTHER_BASELINE = 2.0
"""Points between two baselines that are not the same."""
_SAMPLES = 6
"""Characters of a line whose font is read: the first may be a bullet, a number or code."""
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f]")
_LEADER = re.compile(r"(?:[.…_]\s?){4,}")
"""Dots that lead from a label to its figure; they belong to neither."""
_BOLD = re.compile(r"bold|black|heavy|semibold|demi", re.I)
_FIXED, _FIXED_PITCH = re.compile(r"courier|mono|consol", re.I), 1
"""Names of fonts whose characters have one width, and the flag that says so: standard fonts have no flags."""
_BLANK = (9, 10, 13, 32)
_BREAKS = (10, 13)
_PRIVATE = 0xF000
"""First character of fonts whose letters are pictures."""
_LOST = "\0"
"""Replaces a character whose font does not say what it is."""


class PageText:
    """The text of one page, read line by line."""

    def __init__(self, text: Any, page: int, view: View) -> None:
        self._text = text
        self._page = page
        self._view = view
        self._count = min(text.count_chars(), MAX_PAGE_CHARACTERS)
        self.lost = 0
        """Number of characters whose font does not say what they are."""

    def lines(self, placed: bool) -> Iterator[tuple[SetLine, bool]]:
        """Yield the lines of the page in the order of the file, each with whether it is white.

        `placed` asks for the places of their characters. PDFium ends most lines with a line break, but not
        after a hyphen at the end of a line, and sometimes not after a space.
        """
        characters: list[str] = []
        first = 0
        for n in range(self._count + 1):
            code = raw.FPDFText_GetUnicode(self._text, n) if n < self._count else 10
            if not self._ends_line(n, code):
                at_start = not characters or characters[-1] in " \t"
                characters.append(self._character(n, code, at_start))
                continue
            line = self._set_line(characters, first, code in _HYPHENS, placed)
            if line is not None:
                yield line
            characters, first = [], n + 1

    def _ends_line(self, at: int, code: int) -> bool:
        return code in _HYPHENS or code in _BREAKS or (code == 32 and self._turns(at))

    def _character(self, at: int, code: int, at_start: bool) -> str:
        # Broken fonts give lone surrogates and numbers beyond Unicode.
        known = code in (9, 32) or 32 < code < 0xD800 or 0xE000 <= code < 0x110000
        if known:
            return self._shown(at, code, at_start)
        self.lost += 1
        return _LOST

    def _set_line(
        self, characters: Sequence[str], first: int, hyphen: bool, placed: bool
    ) -> tuple[SetLine, bool] | None:
        """Return a line with whether it is white, None if nothing of it is printed."""
        inked = []
        for n, character in enumerate(characters, first):
            if character.strip() and character != _LOST:
                inked.append(n)
        if not inked:
            return None
        count = self._text.count_rects(first, len(characters))
        boxes = [self._text.get_rect(n) for n in range(count)]
        if not boxes:
            return None
        is_white = self._is_white(inked[0]) and self._is_white(inked[-1])
        line = self._line("".join(characters), self._view.seen(union(boxes)), inked, hyphen, first)
        ends = tuple(self._side(n, 1) for n in inked) if placed else ()
        return SetLine(line, ends), is_white

    def _shown(self, at: int, code: int, at_start: bool) -> str:
        """Return a character as its font draws it if it is a word by itself, as a ticked box is."""
        if code in _BLANK:
            return chr(code)
        is_word = at_start and (
            at + 1 == self._count or raw.FPDFText_GetUnicode(self._text, at + 1) in _BLANK
        )
        if is_word or _PRIVATE <= code < _PRIVATE + 0x100:
            return pictured(self._font(at)[0], chr(code))
        return chr(code)

    def _turns(self, space: int) -> bool:
        """Return whether the text moves back to the left and to another baseline after a space."""
        if not 0 < space < self._count - 1:
            return False
        x, y = self._origin(space - 1)
        to_x, to_y = self._origin(space + 1)
        return to_x < x and abs(to_y - y) > _OTHER_BASELINE

    def _line(self, text: str, box: Box, inked: Sequence[int], hyphen: bool, first: int) -> PageLine:
        """Return a line with the font size and weight of most of it.

        `inked` are its characters without white space; `first` is the number of the first one of `text`.
        """
        left, bottom, right, top = box
        samples = inked[:: -(-len(inked) // _SAMPLES)]
        size = Counter(map(self._size, samples)).most_common(1)[0][0]
        return PageLine(
            text=_clean(text),
            page=self._page,
            bbox=(round(left, 1), round(bottom, 1), round(right, 1), round(top, 1)),
            base=self._origin(inked[0])[1],
            end=self._origin(inked[-1])[1],
            size=size,
            bold=sum(map(self._is_bold, samples)) * 2 > len(samples),
            hyphen=hyphen,
            cells=self._cells(text, inked, size, first),
            fixed=all(map(self._is_fixed, samples)),
        )

    def _cells(self, text: str, inked: Sequence[int], size: float, first: int) -> tuple[Cell, ...]:
        """Return the cells of a line between wide gaps, or none if it has no such gap."""
        inked = _without_leaders(text, inked, first)
        cells: list[Cell] = []
        start = inked[0]
        for before, after in pairwise(inked):
            if after - before > 1 and self._is_gap(before, after, size):
                cells.append(self._cell(text, first, start, before))
                start = after
        if not cells:
            return ()
        cells.append(self._cell(text, first, start, inked[-1]))
        return tuple(cells)

    def _cell(self, text: str, first: int, start: int, last: int) -> Cell:
        return Cell(self._side(start, 0), self._side(last, 1), _clean(text[start - first : last - first + 1]))

    def _is_gap(self, a: int, b: int, size: float) -> bool:
        """Return whether two characters are far enough apart to be in different cells.

        The space of a typewriter is wide, so that a single written space needs twice the distance.
        """
        generated = b - a > 2 or raw.FPDFText_IsGenerated(self._text, a + 1) == 1
        least = GAP if generated else 2 * GAP
        return self._side(b, 0) - self._side(a, 1) > least * max(1.0, size)

    def _side(self, at: int, right: int) -> float:
        """Return where a character begins on its line, or where it ends if `right` is 1."""
        left, end, bottom, top = ctypes.c_double(), ctypes.c_double(), ctypes.c_double(), ctypes.c_double()
        raw.FPDFText_GetCharBox(self._text, at, left, end, bottom, top)
        box = self._view.seen((left.value, bottom.value, end.value, top.value))
        return round(box[2] if right else box[0], 1)

    def _origin(self, at: int) -> tuple[float, float]:
        """Return the point on the baseline where a character begins."""
        x, y = ctypes.c_double(), ctypes.c_double()
        raw.FPDFText_GetCharOrigin(self._text, at, ctypes.byref(x), ctypes.byref(y))
        seen = self._view.point(x.value, y.value)
        return round(seen[0], 1), round(seen[1], 1)

    def _size(self, at: int) -> float:
        """Return the font size at a character in points: the font's own, scaled by the text matrix."""
        matrix = raw.FS_MATRIX()
        turned = raw.FPDFText_GetMatrix(self._text, at, matrix)
        scale: float = (matrix.b**2 + matrix.d**2) ** 0.5 if turned else 1.0
        size: float = raw.FPDFText_GetFontSize(self._text, at)
        return round(size * (scale or 1.0), 1)

    def _is_white(self, at: int) -> bool:
        red, green, blue, opacity = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
        if not raw.FPDFText_GetFillColor(self._text, at, red, green, blue, opacity):
            return False
        return min(red.value, green.value, blue.value) >= WHITE

    def _is_bold(self, at: int) -> bool:
        if raw.FPDFText_GetFontWeight(self._text, at) >= 600:
            return True
        return bool(_BOLD.search(self._font(at)[0]))

    def _is_fixed(self, at: int) -> bool:
        name, flags = self._font(at)
        return bool(flags & _FIXED_PITCH or _FIXED.search(name))

    def _font(self, at: int) -> tuple[str, int]:
        """Return the name of the font of a character, and its flags (ISO 32000-1, table 123)."""
        name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
        raw.FPDFText_GetFontInfo(self._text, at, name, 128, ctypes.byref(flags))
        return name.value.decode("utf-8", "replace"), flags.value


def _without_leaders(text: str, inked: Sequence[int], first: int) -> Sequence[int]:
    """Return the printed characters without dot leaders, or all of them if nothing else is printed."""
    dotted: set[int] = set()
    for match in _LEADER.finditer(text):
        dotted.update(range(first + match.start(), first + match.end()))
    if not dotted:
        return inked
    others = [n for n in inked if n not in dotted]
    return others or inked


def _clean(text: str) -> str:
    """Return a text without control characters, its white space joined."""
    return " ".join(_CONTROL.sub("", text).split())
