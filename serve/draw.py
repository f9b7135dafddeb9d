"""Open a PDF or a picture for a reader, in a separate process because a damaged file may crash it.

`python -m ragweave.serve.draw MEMORY_MB` reads one JSON object, `{"file": path, "do": picture|text|find,
...}` with the arguments of that function, and writes one line of JSON, then the bytes of a picture.
"""

from __future__ import annotations

import io
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from ragweave.corpora.ingest.limits import limit
from ragweave.corpora.types import Box
from ragweave.serve.page_lines import flat, letters, quoted, shares, stretches

_TALLEST = 6_000
"""Maximum height of a picture, in pixels; taller pages are scaled down."""
_HITS = 100
"""Maximum number of hits that a search returns."""
_AROUND = 40
"""Characters shown before and after a hit."""
_SECONDS = 10.0
"""Time limit of a search in one file; `find` returns how many pages were searched."""


def picture(file: str, page: int, width: int) -> tuple[dict[str, Any], bytes]:
    """Return the number of pages, and a page (1-based) as a PNG of a width in pixels."""
    document = _document(file)
    leaf = _leaf(document, page)
    drawn = io.BytesIO()
    _sheet(leaf, width).save(drawn, "PNG", compress_level=4)
    return {"count": len(document)}, drawn.getvalue()


def text(file: str, page: int, box: Sequence[float] = (), quote: str = "") -> tuple[dict[str, Any], bytes]:
    """Return the lines of a page, and the boxes of a quote; `box` is [left, bottom, right, top] in points.

    Returns:
        `count` of pages, `lines` of `{text, box}`, `marks` of boxes; each box in fractions of the page.
    """
    document = _document(file)
    leaf = _leaf(document, page)
    row = letters(leaf)
    around = _corners(box)
    lines = [{"text": said, "box": shares(leaf, at)} for said, at in stretches(row)]
    marks = []
    if quote or around:
        marks = [shares(leaf, at) for at in quoted(row, quote, around)]
    return {"count": len(document), "lines": lines, "marks": marks}, b""


def find(file: str, words: str) -> tuple[dict[str, Any], bytes]:
    """Return the places of words, regardless of case, punctuation and line breaks.

    Returns:
        `hits` of `{page, before, text, after, marks}`, and `searched`, the number of searched pages.
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
        for hit in _hits(leaf, wanted, _HITS - len(hits)):
            hits.append({"page": n + 1, **hit})
        leaf.close()
    return {"count": len(document), "searched": searched, "hits": hits}, b""


def _hits(leaf: Any, wanted: str, most: int) -> Iterator[dict[str, Any]]:
    """Yield up to `most` hits of flattened words on a page."""
    row = letters(leaf)
    text, places = flat([letter.text for letter in row])
    for found in islice(re.finditer(re.escape(wanted), text), most):
        first, end = places[found.start()], places[found.end() - 1] + 1
        marks = [shares(leaf, box) for _, box in stretches(row, range(first, end))]
        yield {
            "before": _plain(row[max(0, first - _AROUND) : first]),
            "text": _plain(row[first:end]),
            "after": _plain(row[end : end + _AROUND]),
            "marks": marks,
        }


def _sheet(leaf: Any, width: int) -> Any:
    across, up = leaf.get_size()
    return leaf.render(
        scale=min(width / across, _TALLEST / up), rev_byteorder=True, maybe_alpha=False
    ).to_pil()


def _corners(box: Sequence[float]) -> Box | None:
    return (box[0], box[1], box[2], box[3]) if len(box) == 4 else None


def _plain(row: Sequence[Any]) -> str:
    """Return the printable text of letters, with a space for each white space."""
    text = ""
    for letter in row:
        if letter.text.isspace():
            text += " "
        elif letter.text.isprintable():
            text += letter.text
    return text


def _document(file: str) -> Any:
    import pypdfium2

    return pypdfium2.PdfDocument(file)


def _leaf(document: Any, page: int) -> Any:
    count = len(document)
    if not 1 <= page <= count:
        raise IndexError(f"it has {count} page{'s' if count != 1 else ''}")
    return document[page - 1]


_FUNCTIONS: dict[str, Any] = {"picture": picture, "text": text, "find": find}


def main(arguments: list[str]) -> int:
    """Run the function that the request on standard input names, and write its result."""
    limit(int(arguments[0]), file_mb=0)
    request = json.load(sys.stdin)
    function = _FUNCTIONS[request.pop("do")]
    try:
        found, png = function(request.pop("file"), **request)
    except Exception as error:  # a damaged file may raise anything, and the reader needs a message
        found, png = {"wrong": str(error)[:200] or type(error).__name__}, b""
    sys.stdout.buffer.write(json.dumps(found).encode() + b"\n" + png)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
