"""Read the words in a picture (OCR) with their boxes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from ragweave.models.pictures import Pixels
from ragweave.models.settings import model_settings

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in pixels, the origin at the top left."""

SURE = 0.5
"""Confidence below which most lines are noise."""
_SMALLEST = 8
"""Fewest rows and columns of a picture with readable words, in pixels."""
_GUTTER = 1.5
"""Width of the gap between two columns, in heights of a line."""
_COLUMN_LINES = 3
"""Fewest lines on either side of such a gap."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of text in a picture, with the recogniser's confidence in [0, 1]."""

    text: str
    box: Box
    confidence: float


class Ocr:
    """Read the words in pictures by PP-OCR in onnxruntime (rapidocr), whose package contains the models.

    Blocking. Thread-safe: one picture at a time. A picture uses one thread, because there is a reading
    process for each core but one, and a second thread took almost twice the computing time for little gain
    (docs/images.md). Each line is recognised alone in its own width, because the time grows with the width
    and the default pads short lines to 320 pixels (benchmarks/ocr.py).
    """

    name = "rapidocr"

    def __init__(self) -> None:
        from rapidocr import RapidOCR

        self._engine: Any = RapidOCR(
            params={
                "Global.log_level": "critical",
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
                "Rec.rec_batch_num": 1,
                "Rec.rec_img_shape": [3, 48, 32],
            }
        )
        self._lock = threading.Lock()

    def lines(self, image: Pixels) -> list[TextLine]:
        """Return the lines of a picture in reading order."""
        if min(image.shape[:2]) < _SMALLEST:
            return []
        with self._lock:
            # The engine expects the colour order of OpenCV.
            found = self._engine(np.ascontiguousarray(image[:, :, ::-1]))
        if found.boxes is None or found.txts is None:
            return []
        lines: list[TextLine] = []
        for text, box, score in zip(found.txts, found.boxes, found.scores, strict=True):
            if text.strip() and score >= SURE:
                lines.append(TextLine(" ".join(text.split()), _upright(box), round(float(score), 3)))
        order = reading_order([line.box for line in lines])
        return [lines[n] for n in order]


def _upright(box: Any) -> Box:
    (x0, y0), (x1, y1) = np.min(box, axis=0), np.max(box, axis=0)
    return round(float(x0), 1), round(float(y0), 1), round(float(x1), 1), round(float(y1), 1)


def reading_order(boxes: Sequence[Box]) -> list[int]:
    """Return the indices of lines in reading order.

    Columns go from left to right, rows from top to bottom, and the lines of a row from left to right. As in
    the recursive XY-cut, the page is cut at a gap between columns first, else between rows.
    """
    if not boxes:
        return []
    height = float(np.median([y1 - y0 for _, y0, _, y1 in boxes]))
    return _ordered(boxes, list(range(len(boxes))), max(height, 1.0))


def _ordered(boxes: Sequence[Box], some: list[int], height: float) -> list[int]:
    """Return some indices in reading order; `height` is the height of a line."""
    if len(some) < 2:
        return some
    bands = _cut(boxes, some, 1, 0.0)
    if len(bands) > 1:
        # Bands of the page that share their columns are read together, column by column.
        groups = _with_columns(boxes, bands, height)
        if len(groups) > 1:
            return _ordered_groups(boxes, groups, height)
    columns = _cut(boxes, some, 0, _GUTTER * height)
    if len(columns) > 1 and min(map(len, columns)) >= _COLUMN_LINES:
        return _ordered_groups(boxes, columns, height)
    # Each band is a single row now.
    order: list[int] = []
    for band in bands:
        order += sorted(band, key=lambda n: (boxes[n][0], boxes[n][1]))
    return order


def _ordered_groups(boxes: Sequence[Box], groups: list[list[int]], height: float) -> list[int]:
    """Return the indices of groups in reading order, one group after the other."""
    order: list[int] = []
    for group in groups:
        order += _ordered(boxes, group, height)
    return order


def _with_columns(boxes: Sequence[Box], bands: list[list[int]], height: float) -> list[list[int]]:
    """Join neighbouring bands as long as a gap between columns runs through all of them."""
    groups: list[list[int]] = [bands[0]]
    for band in bands[1:]:
        joined = groups[-1] + band
        apart = len(groups[-1]) > 1 or len(band) > 1
        if apart and len(_cut(boxes, joined, 0, _GUTTER * height)) > 1:
            groups[-1] = joined
        else:
            groups.append(band)
    return groups


def _cut(boxes: Sequence[Box], some: list[int], axis: int, gap: float) -> list[list[int]]:
    """Split lines at gaps of more than `gap` pixels along an axis (0 for x, 1 for y)."""
    # Rows overlap by a few pixels, so only their middle halves count.
    spans = []
    for n in some:
        low, high = boxes[n][axis], boxes[n][axis + 2]
        inset = (high - low) * 0.25 if axis else 0.0
        spans.append((low + inset, high - inset, n))
    spans.sort()
    parts: list[list[int]] = []
    reach = -np.inf
    for low, high, n in spans:
        if low > reach + gap or not parts:
            parts.append([])
        parts[-1].append(n)
        reach = max(reach, high)
    return parts


logger = logging.getLogger(__name__)
_loading = threading.Lock()


def ocr() -> Ocr | None:
    """Return the OCR engine, loaded once per process; None if it is off or the extra `images` is missing."""
    if model_settings().ocr == "off" or not installed():
        return None
    with _loading:
        return _load()


def installed() -> bool:
    """Return whether the packages of the extra `images` are installed, without importing them."""
    return all(map(find_spec, ("rapidocr", "onnxruntime", "PIL")))


@lru_cache(maxsize=1)
def _load() -> Ocr | None:
    try:
        return Ocr()
    except Exception as error:  # A broken package may raise anything at its import.
        logger.warning("pictures are not read: %s: %s", type(error).__name__, error)
        return None
