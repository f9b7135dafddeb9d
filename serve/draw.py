"""Draws one page of a PDF; runs as a process of its own, because a damaged file may end it.

`python -m ragweave.serve.draw MEMORY_MB FILE PAGE WIDTH [LEFT BOTTOM RIGHT TOP]` writes one line of JSON, then a PNG.
"""

from __future__ import annotations

import ctypes
import io
import json
import sys
from typing import Any

from ragweave.corpora.ingest.limits import limit

_TALLEST = 6_000
"""Pixels; a strip of paper a kilometre long is drawn smaller."""


def draw(path: str, number: int, width: int, box: list[float]) -> tuple[dict[str, Any], bytes]:
    """Return what is told of a page, and the page as a PNG.

    The page is 1-based, the width in pixels, the box [left, bottom, right, top] in points, or nothing.

    Returns:
        The count of pages, and with a box its [left, top, width, height] as shares of the picture; then the PNG.
    """
    import pypdfium2 as pdfium

    document = pdfium.PdfDocument(path)
    count = len(document)
    if not 1 <= number <= count:
        raise IndexError(f"it has {count} page{'s' if count != 1 else ''}")
    page = document[number - 1]
    across, up = page.get_size()
    bitmap = page.render(scale=min(width / across, _TALLEST / up), rev_byteorder=True, maybe_alpha=False)
    told: dict[str, Any] = {"count": count}
    if len(box) == 4:
        told["box"] = _share(page, bitmap.width, bitmap.height, box)
    picture = io.BytesIO()
    bitmap.to_pil().save(picture, "PNG", compress_level=4)
    return told, picture.getvalue()


def _share(page: Any, width: int, height: int, box: list[float]) -> list[float]:
    """Return a box of the page as shares of its picture; the page may be turned or cropped."""
    import pypdfium2.raw as raw

    corners = []
    for x, y in ((box[0], box[1]), (box[2], box[3])):
        across, down = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, across, down)
        corners.append((min(max(across.value / width, 0), 1), min(max(down.value / height, 0), 1)))
    (x0, x1), (y0, y1) = (sorted(values) for values in zip(*corners, strict=True))
    return [round(v, 5) for v in (x0, y0, x1 - x0, y1 - y0)]


def main(arguments: list[str]) -> int:
    """Draw the page that the arguments name."""
    limit(int(arguments[0]), file_mb=0)
    path, number, width, *box = arguments[1:]
    try:
        told, picture = draw(path, int(number), int(width), [float(v) for v in box])
    except Exception as error:  # whatever the file does, the reader gets a sentence
        told, picture = {"wrong": str(error)[:200] or type(error).__name__}, b""
    sys.stdout.buffer.write(json.dumps(told).encode() + b"\n" + picture)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
