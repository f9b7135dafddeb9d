"""Show PDF files: a page as a picture, its lines with the cited ones marked, and a search in the file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from ragweave.corpora.store.stores import stores
from ragweave.models.errors import InputError
from ragweave.serve.access import LibraryOfId
from ragweave.serve.drawing import drawn, first_file
from ragweave.serve.problems import NotFound

router = APIRouter()

_KEPT = {"Cache-Control": "private, max-age=300", "Vary": "Authorization, Cookie"}
"""A browser may cache a page for five minutes, apart for each API key."""


def pdf(row: LibraryOfId, source: str) -> Path:
    """Return the path of the file of a source, which must be a PDF."""
    found = stores().catalog.sources(row.id, [source])
    if not found or found[0].kind != "pdf":
        raise NotFound("There is no such PDF file", "list the sources, and name one of them").named(
            "pdf_not_found"
        )
    return first_file(found[0].paths)


def corners(box: Annotated[str, Query(max_length=100)] = "") -> list[float]:
    """Parse a box into left, bottom, right and top; return an empty list if there is none.

    Raises:
        InputError: it is not four finite numbers.
    """
    if not box:
        return []
    error = InputError("the box is not four numbers", "send left,bottom,right,top in points")
    error = error.named("invalid_box")
    try:
        found = [float(v) for v in box.split(",")]
    except ValueError:
        raise error from None
    if len(found) != 4:
        raise error
    for number in found:
        if not math.isfinite(number) or abs(number) >= 1e6:
            raise error
    return found


Pdf = Annotated[Path, Depends(pdf)]
Corners = Annotated[list[float], Depends(corners)]
Quote = Annotated[str, Query(max_length=4_000)]


@router.get("/media/{library}/source/{source}/page/{page}")
async def page_picture(
    file: Pdf, page: int, width: Annotated[int, Query(ge=100, le=2400)] = 1200
) -> Response:
    """Return a page as a picture; the header `X-Page-Count` has the number of pages."""
    facts, png = await drawn(file, do="picture", page=page, width=width)
    return Response(png, media_type="image/png", headers={**_KEPT, "X-Page-Count": str(facts["count"])})


@router.get("/media/{library}/source/{source}/page/{page}/text")
async def page_text(
    file: Pdf, response: Response, page: int, box: Corners, quote: Quote = ""
) -> dict[str, Any]:
    """Return the lines of a page with their boxes, and the boxes of the lines of a quote."""
    lines, _ = await drawn(file, do="text", page=page, box=box, quote=quote)
    response.headers.update(_KEPT)
    return lines


@router.get("/media/{library}/source/{source}/find")
async def find_words(file: Pdf, words: Annotated[str, Query(min_length=1, max_length=200)]) -> dict[str, Any]:
    """Return the places of words in the file."""
    places, _ = await drawn(file, do="find", words=words)
    return places
