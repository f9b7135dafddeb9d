"""Opens a PDF or a picture for a reader: runs as a process of its own, because a damaged file may end it.

`python -m ragweave.serve.draw MEMORY_MB` reads one JSON object, `{"file": path, "do": picture|text|find,
...}` with the arguments of that function, and writes one line of JSON, then the bytes of a picture.
"""

from __future__ import annotations

import io
import json
import re
import sys
import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

from ragweave.corpora.ingest.limits import limit
from ragweave.corpora.types import Box
from ragweave.serve.page_lines import flat, letters, quoted, shares, stretches

_TALLEST = 6_000
"""Pixels; a strip of paper a kilometre long is drawn smaller."""
_HITS = 100
"""Places of a search that are told."""
_AROUND = 40
"""Characters shown before and after a hit."""
_SECONDS = 10.0
"""Longest time that a search in one file may take; what was not searched then is told."""


def picture(file: str, page: int, width: int) -> tuple[dict[str, Any], bytes]:
    """Return the count of pages, and a page (1-based) as a PNG of a width in pixels."""
    document = _document(file)
    leaf = _leaf(document, page)
    drawn = io.BytesIO()
    _sheet(leaf, width).save(drawn, "PNG", compress_level=4)
    return {"count": len(document)}, drawn.getvalue()


def text(file: str, page: int, box: Sequence[float] = (), quote: str = "") -> tuple[dict[str, Any], bytes]:
    """Return the lines of a page, and the boxes of a quote; `box` is [left, bottom, right, top] in points.

    Returns:
        `count` of pages, `lines` of `{text, box}`, `marks` of boxes; each box in shares of the page.
    """
    document = _document(file)
    leaf = _leaf(document, page)
    row = letters(leaf)
    around = _corners(box)
    lines = [{"text": said, "box": shares(leaf, at)} for said, at in stretches(row)]
    marks = [shares(leaf, at) for at in quoted(row, quote, around)] if quote or around else []
    return {"count": len(document), "lines": lines, "marks": marks}, b""


def find(file: str, words: str) -> tuple[dict[str, Any], bytes]:
    """Return where words stand, without regard to case, marks and line ends.

    Returns:
        `hits` of `{page, before, text, after, marks}`, and `searched`, the pages that were looked at.
    """
    document = _document(file)
    wanted, _ = flat(words)
    hits: list[dict[str, Any]] = []
    until, searched = time.monotonic() + _SECONDS, 0
    for n in range(len(document)):
        if not wanted or len(hits) >= _HITS or time.monotonic() > until:
            break
        searched = n + 1
        leaf = document[n]
        row = letters(leaf)
        said, places = flat([letter.text for letter in row])
        for found in islice(re.finditer(re.escape(wanted), said), _HITS - len(hits)):
            first, last = places[found.start()], places[found.end() - 1]
            marks = [shares(leaf, b) for _, b in stretches(row, range(first, last + 1))]
            shown = [_plain(row[a:b]) for a, b in ((max(0, first - _AROUND), first), (first, last + 1))]
            after = _plain(row[last + 1 : last + 1 + _AROUND])
            hits.append({"page": n + 1, "before": shown[0], "text": shown[1], "after": after, "marks": marks})
        leaf.close()
    return {"count": len(document), "searched": searched, "hits": hits}, b""


def _sheet(leaf: Any, width: int) -> Any:
    across, up = leaf.get_size()
    return leaf.render(
        scale=min(width / across, _TALLEST / up), rev_byteorder=True, maybe_alpha=False
    ).to_pil()


def _corners(box: Sequence[float]) -> Box | None:
    return (box[0], box[1], box[2], box[3]) if len(box) == 4 else None


def _plain(row: Sequence[Any]) -> str:
    return "".join(
        " " if letter.text.isspace() else letter.text
        for letter in row
        if letter.text.isprintable() or letter.text.isspace()
    )


def _document(file: str) -> Any:
    import pypdfium2

    return pypdfium2.PdfDocument(file)


def _leaf(document: Any, page: int) -> Any:
    count = len(document)
    if not 1 <= page <= count:
        raise IndexError(f"it has {count} page{'s' if count != 1 else ''}")
    return document[page - 1]


_DOES: dict[str, Any] = {f.__name__: f for f in (picture, text, find)}


def main(arguments: list[str]) -> int:
    """Do what the request asks."""
    limit(int(arguments[0]), file_mb=0)
    asked = json.load(sys.stdin)
    do = _DOES[asked.pop("do")]
    try:
        told, drawn = do(asked.pop("file"), **asked)
    except Exception as error:  # whatever the file does, the reader gets a sentence
        told, drawn = {"wrong": str(error)[:200] or type(error).__name__}, b""
    sys.stdout.buffer.write(json.dumps(told).encode() + b"\n" + drawn)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
