"""PDF: lines with their boxes, put together to paragraphs and headings again."""

from __future__ import annotations

import ctypes
import math
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as raw

from ragweave.corpora.blocks import COMMENT, Block, Parsed
from ragweave.corpora.columns import Cell
from ragweave.corpora.formats.annotations import among, buttons, form_of, written
from ragweave.corpora.formats.buttons import SetLine, with_buttons
from ragweave.corpora.formats.ground import WHITE, on_ground
from ragweave.corpora.formats.pictured import pictured
from ragweave.corpora.grid import GAP, PageLine
from ragweave.corpora.layout import PageLook, blocks
from ragweave.corpora.meta import pdf_date
from ragweave.corpora.pages import View, without_unseen_lines
from ragweave.corpora.running import without_running_lines
from ragweave.corpora.titles import title_of
from ragweave.corpora.types import Box, union
from ragweave.models.errors import SourceError

MAX_PAGES = 5_000
MAX_PAGE_CHARACTERS = 200_000
_HYPHENS = (0x02, 0xAD, 0xFFFE)
"""What PDFium gives for a hyphen at a line end."""
_OTHER_BASELINE = 2.0
"""Points between two baselines that are not the same."""
_SAMPLES = 6
"""Characters of a line whose font is looked at: the first may be a bullet, a number or code."""
_ANGLES = 200
"""Characters of a page whose direction is looked at."""
_LEADER = re.compile(r"(?:[.…_]\s?){4,}")
"""Signs that lead from a label to its figure, and belong to neither."""
_BOLD = re.compile(r"bold|black|heavy|semibold|demi", re.I)
_FIXED, _FIXED_PITCH = re.compile(r"courier|mono|consol", re.I), 1
"""Names of fonts whose characters are all as wide, and the flag that says so: a standard font comes without flags."""

_BLANK = (9, 10, 13, 32)
_PRIVATE = 0xF000
"""From here on lie the characters of fonts whose letters are pictures."""
_LOST = "\0"
"""Holds the place of a character whose font does not say what it is."""

_LOCK = threading.Lock()
"""PDFium keeps global state and must not be entered by two threads at once."""


@dataclass(slots=True)
class _Beside:
    """What is found on pages beside their lines."""

    hidden: list[str] = field(default_factory=list)
    """Texts that nobody sees."""
    notes: list[Block] = field(default_factory=list)
    """What is written upon the pages."""
    lost: int = 0
    """Characters whose fonts do not say what they are."""
    cut: list[str] = field(default_factory=list)
    """Pages that were read in part."""

    def warnings(self, document: Any) -> list[str]:
        """Return what was left out, in words."""
        said = (
            [
                f"of page{'s' if len(self.cut) > 1 else ''} {', '.join(self.cut[:10])} only the first "
                f"{MAX_PAGE_CHARACTERS} characters were read"
            ]
            if self.cut
            else []
        )
        if self.lost:
            what = "1 character was" if self.lost == 1 else f"{self.lost} characters were"
            said.append(f"{what} left out: the fonts of the file do not say what they mean")
        if (count := raw.FPDFDoc_GetAttachmentCount(document)) > 0:
            said.append(
                "1 attached file was not read" if count == 1 else f"{count} attached files were not read"
            )
        return said


def parse(path: Path, pictures: PageLook | None = None) -> Parsed:
    """Read a PDF page by page; pages that are only a picture, and were not read, are named in the warnings."""
    with _LOCK, closing(_open(path)) as document, form_of(document) as form:
        count = len(document)
        pages: list[tuple[list[PageLine], View]] = []
        views: dict[int, View] = {}
        shown: dict[int, View] = {}
        warnings: list[str] = []
        beside = _Beside()
        for n in range(min(count, MAX_PAGES)):
            try:
                before = len(beside.notes)
                lines, view, shown[n + 1] = _page(document, n, pictures, beside, form)
            except pypdfium2.PdfiumError:
                warnings.append(f"page {n + 1} is damaged")
                continue
            if not lines and all(b.text.startswith(COMMENT) for b in beside.notes[before:]):
                warnings.append(f"page {n + 1} has no text (a scan?)")
            pages.append((lines, view))
            views[n + 1] = view
        if count > MAX_PAGES:
            warnings.append(f"only the first {MAX_PAGES} of {count} pages were read")
        meta = document.get_metadata_dict(skip_empty=True)
        more = beside.warnings(document)
    pages, hidden = without_unseen_lines(pages, beside.hidden)
    kept, once = without_running_lines(pages)
    running = [Block(x.text, "text", page=x.page, bbox=x.bbox) for x in once]
    found = among([*running, *beside.notes], blocks(kept))
    figures = pictures.figures(found) if pictures is not None else ()
    if not all(view.plain for view in (*views.values(), *shown.values())):
        found = [_kept(b, views) for b in found]
        figures = tuple(replace(f, bbox=shown[f.page].kept(f.bbox)) if f.bbox else f for f in figures)
    return Parsed(
        title=title_of(str(meta.get("Title", "")), found, path.name),
        blocks=tuple(found),
        date=pdf_date(str(meta.get("CreationDate", ""))) or pdf_date(str(meta.get("ModDate", ""))),
        author=str(meta.get("Author", "")).strip(),
        warnings=(
            *warnings[:10],
            *([f"and {len(warnings) - 10} more pages"] if len(warnings) > 10 else []),
            *more,
        ),
        figures=figures,
        hidden=tuple(hidden),
    )


def _open(path: Path) -> Any:
    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as exc:
        if getattr(exc, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise SourceError(f"{path.name} is protected by a password", "save it without password") from None
        what = f"{path.name} is a damaged or truncated PDF"
        raise SourceError(what, "open it in a viewer and save it again") from None


def _page(
    document: Any, number: int, pictures: PageLook | None, beside: _Beside, form: Any
) -> tuple[list[PageLine], View, View]:
    """Return the lines of a page in reading order, how they are read, and how the page is shown.

    What nobody sees, and what is written upon the page, goes `beside`. Both views differ where a page is
    turned and its text stands on its side.
    """
    page = document[number]
    try:
        turn = page.get_rotation()
        shown = view = View(page.get_bbox(), turn)
        text = page.get_textpage()
        try:
            upright = _upright(text) if turn else 0
            if upright != turn:
                view = replace(shown, turn=upright)
                text.close()
                page.set_rotation(upright)
                text = page.get_textpage()
            found, signs = [], list(buttons(page, view, form))
            seen = _Text(text, number + 1, view)
            for line, white in seen.lines(bool(signs)):
                if white and not on_ground(page, view.kept(line.line.bbox)):
                    beside.hidden.append(line.line.text)
                else:
                    found.append(line)
            beside.lost += seen.lost
            beside.cut += [str(number + 1)] * (text.count_chars() > MAX_PAGE_CHARACTERS)
        finally:
            text.close()
        lines, apart = with_buttons(found, signs)
        beside.notes += [Block(b.said, "text", page=number + 1, bbox=b.box) for b in apart]
        beside.notes += written(page, number + 1, view, beside.hidden, form)
        if pictures is None:
            return lines, view, shown
        if view is shown:
            return pictures.page(page, number + 1, lines), view, shown
        page.set_rotation(turn)
        placed = [replace(x, bbox=shown.seen(view.kept(x.bbox))) for x in lines]
        read = pictures.page(page, number + 1, placed)
        return (lines, view, shown) if read is placed else (read, shown, shown)
    finally:
        page.close()


def _upright(text: Any) -> int:
    """Return by how many degrees a page has to be turned clockwise for most of its text to stand upright."""
    count = text.count_chars()
    angles = (raw.FPDFText_GetCharAngle(text, n) for n in range(0, count, max(1, count // _ANGLES)))
    turns = Counter(round(-angle / (math.pi / 2)) % 4 * 90 for angle in angles if angle >= 0)
    return turns.most_common(1)[0][0] if turns else 0


def _kept(block: Block, views: dict[int, View]) -> Block:
    """Return a block with its places as the file counts them."""
    spans = tuple(replace(s, bbox=views[s.page].kept(s.bbox)) if s.bbox else s for s in block.spans)
    return replace(block, bbox=views[block.page].kept(block.bbox) if block.bbox else None, spans=spans)


class _Text:
    """The text of one page."""

    def __init__(self, text: Any, page: int, view: View) -> None:
        self._text = text
        self._page = page
        self._view = view
        self._count = min(text.count_chars(), MAX_PAGE_CHARACTERS)
        self.lost = 0
        """Characters without a meaning: their font does not say what they are."""

    def lines(self, placed: bool) -> Iterator[tuple[SetLine, bool]]:
        """Yield the lines of the page as they are set, `placed` with their characters, each with whether it is white.

        PDFium ends most lines with a line break, but runs on after a hyphen at a line end, and at times after
        a space.
        """
        characters: list[str] = []
        first = 0
        for n in range(self._count + 1):
            code = raw.FPDFText_GetUnicode(self._text, n) if n < self._count else 10
            hyphen = code in _HYPHENS
            if not (hyphen or code in (10, 13) or (code == 32 and self._turns(n))):
                # Lone surrogates and what lies beyond Unicode come from broken fonts.
                known = code in (9, 32) or 32 < code < 0xD800 or 0xE000 <= code < 0x110000
                self.lost += not known
                begins = not characters or characters[-1] in " \t"
                characters.append(self._shown(n, code, begins) if known else _LOST)
                continue
            inked = [first + i for i, c in enumerate(characters) if c.strip() and c != _LOST]
            boxes = (
                [self._text.get_rect(i) for i in range(self._text.count_rects(first, n - first))]
                if inked
                else ()
            )
            if boxes:
                white = self._is_white(inked[0]) and self._is_white(inked[-1])
                line = self._line("".join(characters), self._view.seen(union(boxes)), inked, hyphen, first)
                yield SetLine(line, tuple(self._side(i, 1) for i in inked) if placed else ()), white
            characters, first = [], n + 1

    def _shown(self, at: int, code: int, begins: bool) -> str:
        """Return a character as its font shows it, where it is a word by itself, as a box that is ticked is."""
        ends = begins and (at + 1 == self._count or raw.FPDFText_GetUnicode(self._text, at + 1) in _BLANK)
        alone = code not in _BLANK and (ends or _PRIVATE <= code < _PRIVATE + 0x100)
        return pictured(self._font(at)[0], chr(code)) if alone else chr(code)

    def _turns(self, space: int) -> bool:
        """Tell whether the text goes back to the left and to another baseline after a space."""
        if not 0 < space < self._count - 1:
            return False
        x, y = self._origin(space - 1)
        to_x, to_y = self._origin(space + 1)
        return to_x < x and abs(to_y - y) > _OTHER_BASELINE

    def _line(self, text: str, box: Box, inked: Sequence[int], hyphen: bool, first: int) -> PageLine:
        """Return a line with the font size and weight of most of it; `inked` are its characters but white space.

        `first` is the place of the first character of `text`.
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
        """Return the cells of a line that wide gaps part, or none."""
        dotted = {n for m in _LEADER.finditer(text) for n in range(first + m.start(), first + m.end())}
        inked = [n for n in inked if n not in dotted] or inked if dotted else inked
        stops = [(a, b) for a, b in pairwise(inked) if b - a > 1]
        ends = [
            (a, b) for a, b in stops if self._side(b, 0) - self._side(a, 1) > self._gap(a, b) * max(1.0, size)
        ]
        if not ends:
            return ()
        starts, lasts = [inked[0], *(b for _, b in ends)], [*(a for a, _ in ends), inked[-1]]
        return tuple(
            Cell(self._side(a, 0), self._side(b, 1), _clean(text[a - first : b - first + 1]))
            for a, b in zip(starts, lasts, strict=True)
        )

    def _gap(self, a: int, b: int) -> float:
        """Return from which distance on two characters stand in different cells; the space of a typewriter is wide."""
        return GAP if b - a > 2 or raw.FPDFText_IsGenerated(self._text, a + 1) == 1 else 2 * GAP

    def _side(self, at: int, right: int) -> float:
        """Return where a character begins, or ends, on its line."""
        left, end, bottom, top = (ctypes.c_double() for _ in range(4))
        raw.FPDFText_GetCharBox(self._text, at, left, end, bottom, top)
        box = self._view.seen((left.value, bottom.value, end.value, top.value))
        return round(box[2] if right else box[0], 1)

    def _origin(self, at: int) -> tuple[float, float]:
        """Return where a character stands on its baseline, in points."""
        x, y = ctypes.c_double(), ctypes.c_double()
        raw.FPDFText_GetCharOrigin(self._text, at, ctypes.byref(x), ctypes.byref(y))
        seen = self._view.point(x.value, y.value)
        return round(seen[0], 1), round(seen[1], 1)

    def _size(self, at: int) -> float:
        """Return the font size at a character in points: the font's own, enlarged by the text matrix."""
        matrix = raw.FS_MATRIX()
        turned = raw.FPDFText_GetMatrix(self._text, at, matrix)
        scale: float = (matrix.b**2 + matrix.d**2) ** 0.5 if turned else 1.0
        size: float = raw.FPDFText_GetFontSize(self._text, at)
        return round(size * (scale or 1.0), 1)

    def _is_white(self, at: int) -> bool:
        channels = [ctypes.c_uint() for _ in range(4)]
        known = raw.FPDFText_GetFillColor(self._text, at, *channels)
        return bool(known) and all(c.value >= WHITE for c in channels[:3])

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


def _clean(text: str) -> str:
    return " ".join("".join(c for c in text if c >= " " or c == "\t").split())
