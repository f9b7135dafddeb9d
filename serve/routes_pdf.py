"""A PDF for a reader: a page as a picture, its text by lines with the cited ones marked, and a search in the file."""

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
"""A browser may keep what was drawn for a while, for the key that it was drawn for."""


def pdf(row: LibraryOfId, source: str) -> Path:
    """Return where the file of a source lies, which has to be a PDF."""
    found = stores().catalog.sources(row.id, [source])
    if not found or found[0].kind != "pdf":
        raise NotFound("There is no such PDF file", "list the sources, and name one of them").named(
            "no_such_pdf_file"
        )
    return first_file(found[0].paths)


def corners(box: Annotated[str, Query(max_length=100)] = "") -> list[float]:
    """Read a box; an empty list where there is none."""
    if not box:
        return []
    try:
        found = [float(v) for v in box.split(",")]
    except ValueError:
        found = []
    if len(found) != 4 or not all(math.isfinite(v) and abs(v) < 1e6 for v in found):
        raise InputError("the box is not four numbers", "send left,bottom,right,top in points").named(
            "box_not_four_numbers"
        )
    return found


Pdf = Annotated[Path, Depends(pdf)]
Corners = Annotated[list[float], Depends(corners)]
Quote = Annotated[str, Query(max_length=4_000)]


@router.get("/media/{library}/source/{source}/page/{page}")
async def page_picture(
    file: Pdf, page: int, width: Annotated[int, Query(ge=100, le=2400)] = 1200
) -> Response:
    """Draw a page; the header `X-Page-Count` says how many there are."""
    told, png = await drawn(file, do="picture", page=page, width=width)
    return Response(png, media_type="image/png", headers={**_KEPT, "X-Page-Count": str(told["count"])})


@router.get("/media/{library}/source/{source}/page/{page}/text")
async def page_text(
    file: Pdf, response: Response, page: int, box: Corners, quote: Quote = ""
) -> dict[str, Any]:
    """Return the lines of a page with their boxes, and the boxes of the lines of a quote."""
    told, _ = await drawn(file, do="text", page=page, box=box, quote=quote)
    response.headers.update(_KEPT)
    return told


@router.get("/media/{library}/source/{source}/find")
async def find_words(file: Pdf, words: Annotated[str, Query(min_length=1, max_length=200)]) -> dict[str, Any]:
    """Return where words stand in the file."""
    told, _ = await drawn(file, do="find", words=words)
    return told
