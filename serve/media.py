"""Files that a citation opens: by id only, with range requests, and inert in the browser."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path, PurePath

from fastapi import APIRouter
from fastapi.responses import FileResponse

from ragweave.corpora.store.media import Media
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import RagweaveError
from ragweave.serve.access import CallerNow, library_by_id
from ragweave.serve.problems import NotFound

router = APIRouter()

_SHOWN = {
    "pdf": "application/pdf",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
    "bmp": "image/bmp",
    "mp4": "video/mp4",
    "m4v": "video/mp4",
    "mov": "video/mp4",
    "webm": "video/webm",
    "mkv": "video/x-matroska",
    "ogv": "video/ogg",
    "mp3": "audio/mpeg",
    "m4a": "audio/mp4",
    "wav": "audio/wav",
    "ogg": "audio/ogg",
    "oga": "audio/ogg",
    "flac": "audio/flac",
    "vtt": "text/vtt",
}
"""Endings that a browser may show by itself, and the type that it is told."""
_TEXT = frozenset("txt md markdown rst csv tsv json jsonl srt eml html htm xhtml xml svg py".split())
"""Endings shown as plain text: what a page in them would do, it does not do here."""
_POLICY = "sandbox; default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"


@router.api_route("/media/{library}/source/{source}", methods=["GET", "HEAD"])
async def source_file(caller: CallerNow, library: str, source: str) -> FileResponse:
    """Send the file of a source."""
    row = await library_by_id(caller, library)
    found = await asyncio.to_thread(lambda: stores().catalog.sources(row.id, [source]))
    for path in found[0].paths if found else ():
        if response := await asyncio.to_thread(_file, Path(path)):
            return response
    raise NotFound("There is no such file", "it may have been moved or deleted since it was indexed")


@router.api_route("/media/{library}/picture/{source}/{name}", methods=["GET", "HEAD"])
async def picture(caller: CallerNow, library: str, source: str, name: str) -> FileResponse:
    """Send a stored picture, page or frame."""
    row = await library_by_id(caller, library)
    try:
        path = await asyncio.to_thread(Media.of(row.id).path, f"{source}/{name}")
    except RagweaveError:
        path = None
    if path is None or (response := await asyncio.to_thread(_file, path)) is None:
        raise NotFound("There is no such picture", "it may have gone with its source")
    return response


def _file(path: Path, name: str = "") -> FileResponse | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(seen.st_mode):
        return None
    name = name or path.name
    ending = PurePath(name).suffix.lower().lstrip(".")
    kind = _SHOWN.get(ending) or ("text/plain; charset=utf-8" if ending in _TEXT else "application/octet-stream")
    shown = "inline" if ending in _SHOWN or ending in _TEXT else "attachment"
    # The viewer of a browser for PDF files does not work in a sandbox; such a file runs nothing of this origin.
    policy = "frame-ancestors 'self'" if ending == "pdf" else _POLICY
    headers = {"Cache-Control": "private, no-cache", "Content-Security-Policy": policy}
    return FileResponse(
        path, media_type=kind, filename=name, content_disposition_type=shown, stat_result=seen, headers=headers
    )
