"""Read a picture file as a source: one item, and paragraphs if it is a page of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from ragweave.corpora.blocks import Figure, Parsed
from ragweave.corpora.grid import PageLine
from ragweave.corpora.images.items import Items
from ragweave.corpora.images.links import MOST_BYTES
from ragweave.corpora.images.reader import PictureReader, Shot
from ragweave.corpora.layout import blocks
from ragweave.corpora.meta import guess_language
from ragweave.corpora.split import split
from ragweave.corpora.types import Box, Item, Locator, Span, union
from ragweave.models.errors import SourceError
from ragweave.models.ocr import TextLine
from ragweave.models.pictures import pages

PAGE_WORDS = 60
"""Words from which a picture is read as a page of text as well."""
MOST_PAGES = 500
"""Pages of one file that are read."""
_SAME = 2
"""Pixels; a picture of no more either way shows nothing."""


@dataclass(slots=True)
class PictureSeen:
    """The result of a picture file: items, warnings, date, and the language of its words."""

    items: list[Item] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    date: datetime | None = None
    language: str = ""


def picture_file(path: Path, source: str, reader: PictureReader) -> PictureSeen:
    """Look at a picture file; of a TIFF at all its pages, of an animation at its first frame.

    Raises:
        SourceError: it cannot be opened, or is too small to show anything.
        MissingExtra: the extra `images` is not installed.
    """
    if path.stat().st_size > MOST_BYTES:
        raise SourceError(
            f"{path.name} is a picture of more than {MOST_BYTES // 2**20} MB", "save it smaller"
        )
    shots: list[Shot] = []
    frames, kind = 1, ""
    for n, picture in enumerate(pages(path.read_bytes())):
        frames, kind = picture.frames, picture.format
        if max(picture.width, picture.height) <= _SAME:
            raise SourceError(
                f"{path.name} is a picture of {picture.width} x {picture.height} pixels, which shows nothing",
                "leave it out",
            )
        shot = reader.shoot(picture, small=True)
        if shot is not None:
            shots.append(shot)
        if kind != "TIFF" or n + 1 == MOST_PAGES:
            break
    made = PictureSeen(date=shots[0].date)
    if frames > 1 and kind != "TIFF":
        made.warnings.append(f"only the first of {frames} frames of the animation was looked at")
    if frames > MOST_PAGES and kind == "TIFF":
        made.warnings.append(f"only the first {MOST_PAGES} of {frames} pages were read")
    made.language = guess_language(_text(shots))
    several = len(shots) > 1
    items = Items(source, path, Parsed(path.stem, language=made.language))
    for n, shot in enumerate(shots, 1):
        items.add(shot, Figure("", 0, page=n if several else 0, whole=True), path.name)
    made.items = [*_text_items(path, source, shots, made.language), *items.found]
    made.warnings += reader.warnings()
    return made


def _text(shots: Sequence[Shot]) -> str:
    texts: list[str] = []
    for shot in shots:
        texts += [line.text for line in shot.lines]
    return "\n".join(texts)


def _text_items(path: Path, source: str, shots: Sequence[Shot], language: str) -> list[Item]:
    """Return paragraphs and documents of pages of text, with boxes in the stored copies."""
    words = 0
    lines: list[PageLine] = []
    for n, shot in enumerate(shots, 1):
        for line in shot.lines:
            words += len(line.text.split())
            lines.append(page_line(line, n, shot.stored[1]))
    if words < PAGE_WORDS:
        return []
    parsed = Parsed(path.stem, tuple(blocks(lines)), shots[0].date, language=language)
    return [_placed(item, source, shots) for item in split(source, str(path), parsed)]


def page_line(line: TextLine, page: int, height: float, scale: float = 1.0) -> PageLine:
    """Return a line that was read as a line of a page in points, whose heights are counted from below.

    `scale` is points for one pixel, `height` that of the picture.
    """
    x0, y0, x1, y1 = line.box
    box = (x0 * scale, (height - y1) * scale, x1 * scale, (height - y0) * scale)
    # Boxes of lines without long letters are lower: sizes are rounded to what differs as headings do.
    tall = round((box[3] - box[1]) * 0.4) * 2.0
    rounded = (round(box[0], 1), round(box[1], 1), round(box[2], 1), round(box[3], 1))
    return PageLine(line.text, page, rounded, rounded[1], rounded[1], max(tall, 2.0), False, False)


def _placed(item: Item, source: str, shots: Sequence[Shot]) -> Item:
    spans = [_span(s, shots) for s in item.spans]
    first = item.spans[0] if item.spans else None
    shot = shots[first.page - 1] if first else shots[0]
    locator: Locator = {"kind": "image", "file": item.locator["file"]}
    if shot.name:
        locator["image"] = f"{source}/{shot.name}"
    if len(shots) > 1 and first:
        locator["page"] = first.page
    boxes: list[Box] = []
    for span, old in zip(spans, item.spans, strict=True):
        if span.bbox and first and old.page == first.page:
            boxes.append(span.bbox)
    if boxes:
        locator["bbox"] = list(union(boxes))
    meta = item.meta
    if len(shots) > 1:
        meta = {**meta, "pages": [f"{source}/{s.name}" for s in shots]}
    return replace(item, locator=locator, spans=tuple(spans), meta=meta)


def _span(span: Span, shots: Sequence[Shot]) -> Span:
    if span.bbox is None:
        return span
    height = shots[span.page - 1].stored[1]
    left, bottom, right, top = span.bbox
    page = span.page if len(shots) > 1 else 0
    return replace(span, page=page, bbox=(left, round(height - top, 1), right, round(height - bottom, 1)))
