"""Render the pictures on PDF pages, and pages that are pictures, and read their words."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ragweave.corpora.blocks import CAPTION, Block, Figure, captioned
from ragweave.corpora.grid import PageLine
from ragweave.corpora.images.files import page_line
from ragweave.corpora.images.reader import PictureReader, Shot
from ragweave.corpora.pages import View
from ragweave.models.ocr import Box, TextLine
from ragweave.models.pictures import WORKING, Picture, Pixels

logger = logging.getLogger(__name__)

MOSTLY = 0.5
"""A page counts as a picture if pictures cover this share of it."""
FEW_CHARACTERS = 100
"""A page that is a picture is read by OCR if it has fewer characters of text: they are only a stamp."""
LEAST = 0.02
"""A picture on a smaller share of a page is an ornament."""
_SHORT = 40.0
"""A picture whose shorter side has fewer points is an ornament."""
_NEAR = 60.0
"""Points between a picture and its caption."""
_CAPTION_LINES = 10
_PER_PAGE = 20
_DOTS = 200 / 72
"""Most pixels for one point of a page: 200 to the inch."""
_BLANK = 3.0
"""Standard deviation of the values of a page below which nothing is on it."""


class PdfPictures:
    """Collects the pictures of a document, page by page."""

    def __init__(self, reader: PictureReader) -> None:
        self._reader = reader
        self._found: list[Figure] = []
        self.shots: dict[str, Shot] = {}
        """What was seen of each figure, by its `ref`."""

    def another(self) -> PdfPictures:
        """Return what collects the pictures of a further document of the same file."""
        further = PdfPictures(self._reader)
        further.shots = self.shots
        return further

    def page(self, page: Any, number: int, lines: list[PageLine]) -> list[PageLine]:
        """Collect the pictures of a PDFium page; return its lines, or what OCR read if it is a scan."""
        width, height = page.get_size()
        boxes = _boxes(page, width, height)
        covered = min(1.0, sum(map(_area, boxes)) / max(width * height, 1.0))
        is_picture = covered >= MOSTLY
        is_scan = not lines or (is_picture and _characters(lines) < FEW_CHARACTERS)
        if not (is_scan or boxes) or min(width, height) <= 0:
            return lines
        if self._reader.later:
            self._reader.waiting += 1 if is_scan or is_picture else len(boxes[:_PER_PAGE])
            return lines
        scale = min(_DOTS, WORKING / max(width, height))
        pixels = _rendered(page, scale)
        if pixels is None or (is_scan and float(pixels[::4, ::4].std()) < _BLANK):
            return lines
        if is_scan:
            return self._scan(pixels, number, height, scale, lines)
        if is_picture:
            self._whole(pixels, number, height, scale, lines)
        else:
            self._parts(pixels, number, height, scale, lines, boxes)
        return lines

    def _parts(
        self,
        pixels: Pixels,
        number: int,
        height: float,
        scale: float,
        lines: Sequence[PageLine],
        boxes: Sequence[Box],
    ) -> None:
        """Take the single pictures of a page, from top to bottom."""
        for box in sorted(boxes, key=lambda b: (-b[3], b[0]))[:_PER_PAGE]:
            left, right = round(box[0] * scale), round(box[2] * scale)
            top, bottom = round((height - box[3]) * scale), round((height - box[1]) * scale)
            part = np.ascontiguousarray(pixels[max(top, 0) : bottom, max(left, 0) : right])
            if min(part.shape[:2], default=0) > 0 and float(part.std()) >= _BLANK:
                self._take(self._shoot(part), number, box, caption_of(lines, box))

    def _scan(
        self, pixels: Pixels, number: int, height: float, scale: float, lines: list[PageLine]
    ) -> list[PageLine]:
        """Take a page as one picture; return the lines that OCR read if they say more than the page's own."""
        shot = self._shoot(pixels)
        if shot is None:
            return lines
        self._take(shot, number, None)
        if not shot.lines:
            return lines
        points = shot.size[1] / shot.stored[1] / scale
        read = [page_line(line, number, shot.stored[1], points) for line in shot.lines]
        return read if _characters(read) > _characters(lines) else lines

    def _whole(
        self, pixels: Pixels, number: int, height: float, scale: float, lines: Sequence[PageLine]
    ) -> None:
        """Take a page that is mostly picture and has text of its own, which needs no OCR."""
        shot = self._shoot(pixels, words=False)
        if shot is None:
            return
        ratio = scale * shot.stored[1] / shot.size[1]
        placed = []
        for line in lines:
            left, bottom, right, top = line.bbox
            box = (
                round(left * ratio, 1),
                round((height - top) * ratio, 1),
                round(right * ratio, 1),
                round((height - bottom) * ratio, 1),
            )
            placed.append(TextLine(line.text, box, 1.0))
        self._take(replace(shot, lines=tuple(placed)), number, None)

    def _shoot(self, pixels: Pixels, *, words: bool = True) -> Shot | None:
        height, width = pixels.shape[:2]
        return self._reader.shoot(Picture(pixels, width, height, None, 1, "PDF"), words=words)

    def _take(self, shot: Shot | None, number: int, box: Box | None, caption: str = "") -> None:
        if shot is not None:
            ref = f"{number} {len(self.shots)}"
            self.shots[ref] = shot
            self._found.append(Figure(ref, 0, caption, page=number, bbox=box, whole=box is None))

    def figures(self, blocks: Sequence[Block]) -> tuple[Figure, ...]:
        """Return the figures at their places among the blocks of the document, with their captions."""
        placed = []
        for figure in self._found:
            top = figure.bbox[3] if figure.bbox else float("inf")
            above = 0
            for block in blocks:
                high = block.bbox[3] if block.bbox else 0.0
                above += block.page < figure.page or (block.page == figure.page and high >= top)
            placed.append(replace(figure, at=above))
        return tuple(captioned(placed, blocks))


def _characters(lines: Sequence[PageLine]) -> int:
    count = 0
    for line in lines:
        count += len(line.text)
    return count


def caption_of(lines: Sequence[PageLine], box: Box) -> str:
    """Return the caption below a picture, or else above it, or ""; `box` is in points from below."""
    for low, high in ((box[1] - _NEAR, box[1]), (box[3], box[3] + _NEAR)):
        for n, line in enumerate(lines):
            left, bottom, right, _ = line.bbox
            overlaps = right > box[0] and left < box[2]
            is_near = low <= bottom + line.size and bottom <= high
            if overlaps and is_near and CAPTION.match(line.text):
                return " ".join(_continued(lines[n:]))
    return ""


def _continued(lines: Sequence[PageLine]) -> list[str]:
    """Return the text of the first line and of the lines that continue it in the same size and distance."""
    kept = [lines[0]]
    for line in lines[1:_CAPTION_LINES]:
        gap = kept[-1].end - line.base
        if not 0 < gap <= 1.6 * max(line.size, 1.0) or abs(line.size - kept[0].size) > 0.1 * kept[0].size:
            break
        kept.append(line)
    return [line.text for line in kept]


def _boxes(page: Any, width: float, height: float) -> list[Box]:
    """Return the boxes of the pictures of a page as it is shown, in points, without ornaments."""
    import pypdfium2
    import pypdfium2.raw as raw

    out: list[Box] = []
    view = View(page.get_bbox(), page.get_rotation())
    try:
        for one in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
            left, bottom, right, top = view.seen(one.get_bounds())
            box = (max(0.0, left), max(0.0, bottom), min(width, right), min(height, top))
            short = min(box[2] - box[0], box[3] - box[1])
            if short >= _SHORT and _area(box) >= LEAST * width * height and box not in out:
                out.append(box)
    except pypdfium2.PdfiumError as error:
        logger.debug("the objects of a page cannot be read: %s", error)
    return out


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _rendered(page: Any, scale: float) -> Pixels | None:
    import pypdfium2

    try:
        bitmap = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)
    except (pypdfium2.PdfiumError, ValueError, RuntimeError) as error:
        logger.debug("a page cannot be rendered: %s", error)
        return None
    values = bitmap.to_numpy()
    return np.ascontiguousarray(
        values[:, :, :3] if values.ndim == 3 else np.repeat(values[:, :, None], 3, axis=2)
    )
