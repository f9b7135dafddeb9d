"""Read PDF files: their lines with boxes, joined into paragraphs and headings."""

from __future__ import annotations

import math
import threading
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as raw

from ragweave.corpora.blocks import COMMENT, Block, Figure, Parsed
from ragweave.corpora.formats.annotations import among, buttons, form_of, written
from ragweave.corpora.formats.buttons import SetLine, with_buttons
from ragweave.corpora.formats.ground import on_ground
from ragweave.corpora.formats.pdf_text import MAX_PAGE_CHARACTERS, PageText
from ragweave.corpora.grid import PageLine
from ragweave.corpora.layout import PageLook, blocks
from ragweave.corpora.meta import pdf_date
from ragweave.corpora.pages import View, without_unseen_lines
from ragweave.corpora.running import without_running_lines
from ragweave.corpora.titles import title_of
from ragweave.models.errors import SourceError

MAX_PAGES = 5_000
_ANGLES = 200
"""Characters of a page whose direction is read."""
_MOST_WARNINGS = 10

_LOCK = threading.Lock()
"""PDFium keeps global state and must not be entered by two threads at once."""


@dataclass(slots=True)
class _Pages:
    """The pages of a file, and the other things found on them.

    Attributes:
        lines: the lines of each page, and how the page was turned to read them.
        views: by page number, how the page was turned to read it.
        shown: by page number, how the page is displayed.
        hidden: texts that a reader cannot see.
        notes: comments, form fields and buttons.
        lost: number of characters whose fonts do not say what they are.
        cut: numbers of pages that were read in part.
        damaged: warnings about single pages.
    """

    lines: list[tuple[list[PageLine], View]] = field(default_factory=list)
    views: dict[int, View] = field(default_factory=dict)
    shown: dict[int, View] = field(default_factory=dict)
    hidden: list[str] = field(default_factory=list)
    notes: list[Block] = field(default_factory=list)
    lost: int = 0
    cut: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    def warnings(self, document: Any) -> list[str]:
        """Return what was left out, as sentences."""
        warnings = self.damaged[:_MOST_WARNINGS]
        if len(self.damaged) > _MOST_WARNINGS:
            warnings.append(f"and {len(self.damaged) - _MOST_WARNINGS} more pages")
        if self.cut:
            pages = "pages" if len(self.cut) > 1 else "page"
            warnings.append(
                f"of {pages} {', '.join(self.cut[:10])} only the first "
                f"{MAX_PAGE_CHARACTERS} characters were read"
            )
        if self.lost:
            what = "1 character was" if self.lost == 1 else f"{self.lost} characters were"
            warnings.append(f"{what} left out: the fonts of the file do not say what they mean")
        attached = raw.FPDFDoc_GetAttachmentCount(document)
        if attached == 1:
            warnings.append("1 attached file was not read")
        elif attached > 1:
            warnings.append(f"{attached} attached files were not read")
        return warnings

    def plain(self) -> bool:
        """Return whether all pages are counted in points from their lower left corner, and not turned."""
        for view in (*self.views.values(), *self.shown.values()):
            if not view.plain:
                return False
        return True


def parse(path: Path, pictures: PageLook | None = None) -> Parsed:
    """Read a PDF; the warnings name the pages that are only a picture and were not read.

    `pictures` reads pages that are scans.
    """
    with _LOCK, closing(_open(path)) as document, form_of(document) as form:
        pages = _read_pages(document, pictures, form)
        meta = document.get_metadata_dict(skip_empty=True)
        warnings = pages.warnings(document)
    seen, hidden = without_unseen_lines(pages.lines, pages.hidden)
    kept, once = without_running_lines(seen)
    running = [Block(x.text, "text", page=x.page, bbox=x.bbox) for x in once]
    found = among([*running, *pages.notes], blocks(kept))
    figures = pictures.figures(found) if pictures is not None else ()
    if not pages.plain():
        found = [_as_stored(block, pages.views) for block in found]
        figures = tuple(_figure_as_stored(figure, pages.shown) for figure in figures)
    return Parsed(
        title=title_of(str(meta.get("Title", "")), found, path.name),
        blocks=tuple(found),
        date=pdf_date(str(meta.get("CreationDate", ""))) or pdf_date(str(meta.get("ModDate", ""))),
        author=str(meta.get("Author", "")).strip(),
        warnings=tuple(warnings),
        figures=figures,
        hidden=tuple(hidden),
    )


def _read_pages(document: Any, pictures: PageLook | None, form: Any) -> _Pages:
    pages = _Pages()
    count = len(document)
    for number in range(1, min(count, MAX_PAGES) + 1):
        notes_before = len(pages.notes)
        try:
            lines, view, shown = _page(document, number, pictures, pages, form)
        except pypdfium2.PdfiumError:
            pages.damaged.append(f"page {number} is damaged")
            continue
        notes = pages.notes[notes_before:]
        if not lines and _are_comments(notes):
            pages.damaged.append(f"page {number} has no text (a scan?)")
        pages.lines.append((lines, view))
        pages.views[number] = view
        pages.shown[number] = shown
    if count > MAX_PAGES:
        pages.damaged.append(f"only the first {MAX_PAGES} of {count} pages were read")
    return pages


def _open(path: Path) -> Any:
    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as exc:
        if getattr(exc, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise SourceError(f"{path.name} is protected by a password", "save it without password") from None
        what = f"{path.name} is a damaged or truncated PDF"
        raise SourceError(what, "open it in a viewer and save it again") from None


def _are_comments(notes: list[Block]) -> bool:
    for note in notes:
        if not note.text.startswith(COMMENT):
            return False
    return True


def _page(
    document: Any, number: int, pictures: PageLook | None, pages: _Pages, form: Any
) -> tuple[list[PageLine], View, View]:
    """Return the lines of a page in reading order, the view they were read in, and the view displayed.

    The two views differ if the page is turned and its text lies on its side. Hidden texts and notes are added
    to `pages`.
    """
    page = document[number - 1]
    try:
        turn = page.get_rotation()
        shown = View(page.get_bbox(), turn)
        lines, view = _lines(page, number, shown, pages, form)
        if pictures is None:
            return lines, view, shown
        if view is shown:
            return pictures.page(page, number, lines), view, shown
        page.set_rotation(turn)
        placed = [replace(line, bbox=shown.seen(view.kept(line.bbox))) for line in lines]
        read = pictures.page(page, number, placed)
        return (lines, view, shown) if read is placed else (read, shown, shown)
    finally:
        page.close()


def _lines(page: Any, number: int, shown: View, pages: _Pages, form: Any) -> tuple[list[PageLine], View]:
    """Return the lines of a page, and the view in which most of its text is upright."""
    view = shown
    text = page.get_textpage()
    try:
        upright = _upright(text) if shown.turn else 0
        if upright != shown.turn:
            view = replace(shown, turn=upright)
            text.close()
            page.set_rotation(upright)
            text = page.get_textpage()
        signs = list(buttons(page, view, form))
        page_text = PageText(text, number, view)
        found: list[SetLine] = []
        for line, is_white in page_text.lines(bool(signs)):
            if is_white and not on_ground(page, view.kept(line.line.bbox)):
                pages.hidden.append(line.line.text)
            else:
                found.append(line)
        pages.lost += page_text.lost
        if text.count_chars() > MAX_PAGE_CHARACTERS:
            pages.cut.append(str(number))
    finally:
        text.close()
    lines, apart = with_buttons(found, signs)
    pages.notes += [Block(button.said, "text", page=number, bbox=button.box) for button in apart]
    pages.notes += written(page, number, view, pages.hidden, form)
    return lines, view


def _upright(text: Any) -> int:
    """Return by how many degrees a page must be turned clockwise so that most of its text is upright."""
    count = text.count_chars()
    turns: Counter[int] = Counter()
    for n in range(0, count, max(1, count // _ANGLES)):
        angle = raw.FPDFText_GetCharAngle(text, n)
        if angle >= 0:
            turns[round(-angle / (math.pi / 2)) % 4 * 90] += 1
    return turns.most_common(1)[0][0] if turns else 0


def _as_stored(block: Block, views: dict[int, View]) -> Block:
    """Return a block with its boxes in the coordinates of the file."""
    spans = []
    for span in block.spans:
        if span.bbox:
            span = replace(span, bbox=views[span.page].kept(span.bbox))
        spans.append(span)
    bbox = views[block.page].kept(block.bbox) if block.bbox else None
    return replace(block, bbox=bbox, spans=tuple(spans))


def _figure_as_stored(figure: Figure, views: dict[int, View]) -> Figure:
    if not figure.bbox:
        return figure
    return replace(figure, bbox=views[figure.page].kept(figure.bbox))
