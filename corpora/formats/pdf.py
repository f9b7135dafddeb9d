"""PDF: lines with their boxes, put together to paragraphs and headings again."""

from __future__ import annotations

import ctypes
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ragweave.corpora.blocks import Parsed
from ragweave.corpora.layout import LARGER, Line, PageLook, blocks
from ragweave.corpora.meta import pdf_date
from ragweave.corpora.types import Box, union
from ragweave.models.errors import SourceError

MAX_PAGES = 5_000
MAX_PAGE_CHARACTERS = 200_000
_EDGE = 0.12
"""Share of a page's height at its top and bottom where running headers, footers and page numbers stand."""
_REPEATED = 0.5
"""A line in that zone on at least this share of the pages is a running header or footer."""
_PAGE_NUMBER = re.compile(
    r"\W*(?:(?:page|seite|p\.|第)\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:of|von|de|/)\s*\d{1,4})?\W*页?\W*", re.I
)
_JUNK_TITLE = re.compile(r"microsoft (?:word|powerpoint)|untitled|\.(?:docx?|tex|dvi|indd|pptx?|xlsx?|qxd|pdf)\b", re.I)
_HYPHENS = (0x02, 0xAD, 0xFFFE)
"""What PDFium gives for a hyphen at a line end."""
_OTHER_BASELINE = 2.0
"""Points between two baselines that are not the same."""
_SAMPLES = 6
"""Characters of a line whose font is looked at: the first may be a bullet, a number or code."""
_BOLD = re.compile(r"bold|black|heavy|semibold|demi", re.I)

_LOCK = threading.Lock()
"""PDFium keeps global state and must not be entered by two threads at once."""


def parse(path: Path, pictures: PageLook | None = None) -> Parsed:
    """Read a PDF page by page; pages that are only a picture, and were not read, are named in the warnings."""
    with _LOCK:
        return _parse(path, pictures)


def _parse(path: Path, pictures: PageLook | None) -> Parsed:
    import pypdfium2

    document = _open(path)
    try:
        count = len(document)
        pages = []
        warnings = []
        for n in range(min(count, MAX_PAGES)):
            try:
                lines, height = _page(document, n, pictures)
            except pypdfium2.PdfiumError:
                warnings.append(f"page {n + 1} is damaged")
                continue
            if not lines:
                warnings.append(f"page {n + 1} has no text (a scan?)")
            pages.append((lines, height))
        if count > MAX_PAGES:
            warnings.append(f"only the first {MAX_PAGES} of {count} pages were read")
        meta = document.get_metadata_dict(skip_empty=True)
    finally:
        document.close()
    found = blocks(_without_running_lines(pages))
    stated = str(meta.get("Title", "")).strip()
    # Headings are ranked by size: the largest of the first page, if it stands alone on top, is the title.
    first = next((b for b in found if b.kind == "heading"), None)
    guessed = first.text if first is not None and first.level == 1 and first.page == 1 else ""
    return Parsed(
        title=guessed if not stated or _JUNK_TITLE.search(stated) else stated,
        blocks=tuple(found),
        date=pdf_date(str(meta.get("CreationDate", ""))) or pdf_date(str(meta.get("ModDate", ""))),
        author=str(meta.get("Author", "")).strip(),
        warnings=_shortened(warnings),
        meta={"pages": count},
        figures=pictures.figures(found) if pictures is not None else (),
    )


def _open(path: Path) -> Any:
    import pypdfium2
    import pypdfium2.raw as raw

    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as exc:
        if getattr(exc, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise SourceError(f"{path.name} is protected by a password", "save it without password") from None
        raise SourceError(
            f"{path.name} is a damaged or truncated PDF", "open it in a viewer and save it again"
        ) from None


def _page(document: Any, number: int, pictures: PageLook | None) -> tuple[list[Line], float]:
    """Return the lines of a page in reading order, and its height in points."""
    page = document[number]
    try:
        text = page.get_textpage()
        try:
            lines = list(_Text(text, number + 1).lines())
        finally:
            text.close()
        return (pictures.page(page, number + 1, lines) if pictures is not None else lines), page.get_height()
    finally:
        page.close()


class _Text:
    """The text of one page."""

    def __init__(self, text: Any, page: int) -> None:
        import pypdfium2.raw as raw

        self._raw = raw
        self._text = text
        self._page = page
        self._count = min(text.count_chars(), MAX_PAGE_CHARACTERS)

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the page as they are set.

        PDFium ends most lines with a line break, but runs on after a hyphen at a line end, and at times after a space.
        """
        characters: list[str] = []
        first = 0
        for n in range(self._count + 1):
            code = self._raw.FPDFText_GetUnicode(self._text, n) if n < self._count else 10
            hyphen = code in _HYPHENS
            if not (hyphen or code in (10, 13) or (code == 32 and self._turns(n))):
                # Lone surrogates and what lies beyond Unicode come from broken fonts.
                characters.append(chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "")
                continue
            inked = [first + i for i, c in enumerate(characters) if c.strip()]
            boxes = [self._text.get_rect(i) for i in range(self._text.count_rects(first, n - first))] if inked else ()
            if boxes:
                yield self._line("".join(characters), union(boxes), inked, hyphen)
            characters, first = [], n + 1

    def _turns(self, space: int) -> bool:
        """Tell whether the text goes back to the left and to another baseline after a space."""
        if not 0 < space < self._count - 1:
            return False
        x, y = self._origin(space - 1)
        to_x, to_y = self._origin(space + 1)
        return to_x < x and abs(to_y - y) > _OTHER_BASELINE

    def _line(self, text: str, box: Box, inked: Sequence[int], hyphen: bool) -> Line:
        """Return a line with the font size and weight of most of it; `inked` are its characters but white space."""
        left, bottom, right, top = box
        samples = inked[:: -(-len(inked) // _SAMPLES)]
        clean = "".join(c for c in text if c >= " " or c == "\t")
        return Line(
            text=" ".join(clean.split()),
            page=self._page,
            bbox=(round(left, 1), round(bottom, 1), round(right, 1), round(top, 1)),
            base=self._origin(inked[0])[1],
            end=self._origin(inked[-1])[1],
            size=Counter(map(self._size, samples)).most_common(1)[0][0],
            bold=sum(map(self._is_bold, samples)) * 2 > len(samples),
            hyphen=hyphen,
        )

    def _origin(self, at: int) -> tuple[float, float]:
        """Return where a character stands on its baseline, in points."""
        x, y = ctypes.c_double(), ctypes.c_double()
        self._raw.FPDFText_GetCharOrigin(self._text, at, ctypes.byref(x), ctypes.byref(y))
        return round(x.value, 1), round(y.value, 1)

    def _size(self, at: int) -> float:
        """Return the font size at a character in points: the font's own, enlarged by the text matrix."""
        matrix = self._raw.FS_MATRIX()
        turned = self._raw.FPDFText_GetMatrix(self._text, at, matrix)
        scale: float = (matrix.b**2 + matrix.d**2) ** 0.5 if turned else 1.0
        size: float = self._raw.FPDFText_GetFontSize(self._text, at)
        return round(size * (scale or 1.0), 1)

    def _is_bold(self, at: int) -> bool:
        if self._raw.FPDFText_GetFontWeight(self._text, at) >= 600:
            return True
        name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
        self._raw.FPDFText_GetFontInfo(self._text, at, name, 128, ctypes.byref(flags))
        return bool(_BOLD.search(name.value.decode("utf-8", "replace")))


def _without_running_lines(pages: Sequence[tuple[list[Line], float]]) -> list[Line]:
    """Leave out page numbers, and the headers and footers that repeat on most pages."""
    sizes: Counter[float] = Counter()
    for line in (x for lines, _ in pages for x in lines):
        sizes[line.size] += len(line.text)
    body = sizes.most_common(1)[0][0] if sizes else 0.0

    def at_edge(line: Line, height: float) -> bool:
        # What is larger than the body is a heading at the top of its page.
        return line.size < body * LARGER and (line.bbox[3] > height * (1 - _EDGE) or line.bbox[1] < height * _EDGE)

    def key(line: Line) -> tuple[str, int]:
        return re.sub(r"\d+", "#", line.text.casefold()), round(line.base / 6)

    written = sum(bool(lines) for lines, _ in pages)
    counts = Counter(k for lines, height in pages for k in {key(x) for x in lines if at_edge(x, height)})
    running = {k for k, n in counts.items() if n >= 3 and n >= written * _REPEATED}
    offsets = Counter(
        o for lines, height in pages for o in {n - x.page for x in lines if at_edge(x, height) for n in _folios(x)}
    )
    offset, seen = offsets.most_common(1)[0] if offsets else (0, 0)
    numbered = seen >= 3 and seen >= written * _REPEATED

    def is_running(line: Line) -> bool:
        return (
            key(line) in running
            or bool(_PAGE_NUMBER.fullmatch(line.text))
            or (numbered and line.page + offset in _folios(line))
        )

    return [x for lines, height in pages for x in lines if not (at_edge(x, height) and is_running(x))]


def _folios(line: Line) -> list[int]:
    """Return the numbers that a short line begins or ends with: one may be the page's own, beside a chapter title."""
    if len(line.text) > 90:
        return []
    return [int(n) for n in re.findall(r"^\d{1,4}(?=\s|$)|(?<=\s)\d{1,4}$", line.text)]


def _shortened(warnings: list[str]) -> tuple[str, ...]:
    """Keep the first ten warnings and say how many more there are."""
    if len(warnings) <= 10:
        return tuple(warnings)
    return (*warnings[:10], f"and {len(warnings) - 10} more pages")
