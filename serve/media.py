"""What a citation opens, in addresses of this server and never in paths of its disk.

Files by id only, inert in the browser; a passage among its neighbours.
"""

from __future__ import annotations

import asyncio
import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Annotated, Any, cast
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse, StreamingResponse

from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.objects import objects
from ragweave.corpora.store.rows import Source
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import RagweaveError
from ragweave.serve.access import LibraryOfId
from ragweave.serve.chapters import chapters_of
from ragweave.serve.http_cache import is_range, unless_held, without_vain_range
from ragweave.serve.problems import NotFound

router = APIRouter()

_SHOWN = {
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
_TEXT = frozenset("txt md markdown rst csv tsv json jsonl srt eml mbox html htm xhtml xml svg py".split())
"""Endings shown as plain text: what a page in them would do, it does not do here."""
_SAVED, _UNKNOWN = {"pdf": "application/pdf"}, "application/octet-stream"
"""What a browser saves: its viewer of PDF files would run their scripts."""
_POLICY = "sandbox; default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"


@router.api_route("/media/{library}/source/{source}", methods=["GET", "HEAD"])
def source_file(row: LibraryOfId, request: Request, source: str) -> Response:
    """Send the file of a source."""
    found = stores().catalog.sources(row.id, [source])
    for path in map(Path, found[0].paths if found else ()):
        if response := _file(path, request) or _object(path, found[0].sha256, request):
            return unless_held(request, response)
    raise NotFound("There is no such file", "it may have been moved or deleted since it was indexed").named(
        "no_such_file"
    )


@router.api_route("/media/{library}/picture/{source}/{name}", methods=["GET", "HEAD"])
def picture(row: LibraryOfId, request: Request, source: str, name: str) -> Response:
    """Send a stored picture, page or frame."""
    response = None
    with suppress(RagweaveError):
        response = _file(Media.of(row.id).path(f"{source}/{name}"), request)
    if response is None:
        raise NotFound("There is no such picture", "it may have gone with its source").named(
            "no_such_picture"
        )
    return unless_held(request, response)


def _file(path: Path, request: Request) -> FileResponse | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(seen.st_mode):
        return None
    without_vain_range(request)
    kind, shown, headers = _shown(path)
    return FileResponse(
        path,
        media_type=kind,
        filename=path.name,
        content_disposition_type=shown,
        stat_result=seen,
        headers=headers,
    )


def _shown(path: Path) -> tuple[str, str, dict[str, str]]:
    """Return the type that a browser is told of a file, whether it shows it, and what the file may do there."""
    ending = path.suffix.lower().lstrip(".")
    kind = _SHOWN.get(ending) or (
        "text/plain; charset=utf-8" if ending in _TEXT else _SAVED.get(ending, _UNKNOWN)
    )
    shown = "inline" if ending in _SHOWN or ending in _TEXT else "attachment"
    return kind, shown, {"Cache-Control": "private, no-cache", "Content-Security-Policy": _POLICY}


_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def _object(path: Path, sha256: str, request: Request) -> Response | None:
    """Pass an upload on from the object store: all of it, or the one range that is asked for."""
    store = objects()
    size = store.size(path) if store else None
    if store is None or size is None:
        return None
    kind, shown, headers = _shown(path)
    headers |= {
        "Accept-Ranges": "bytes",
        "Content-Disposition": f"{shown}; filename*=utf-8''{quote(path.name)}",
    }
    headers |= {"ETag": f'"{sha256}"'} if sha256 else {}
    start, end, status = 0, size, 200
    given, only_if = request.headers.get("range", ""), request.headers.get("if-range", headers.get("ETag"))
    if only_if == headers.get("ETag") and is_range(given) and (asked := _RANGE.fullmatch(given)):
        first, last = asked.groups()
        start, end = (
            (int(first), min(int(last or size) + 1, size)) if first else (max(0, size - int(last)), size)
        )
        if start >= end:
            return Response(status_code=416, headers={"Content-Range": f"bytes */{size}"})
        status, headers["Content-Range"] = 206, f"bytes {start}-{end - 1}/{size}"
    headers["Content-Length"] = str(end - start)
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=kind)
    return StreamingResponse(
        store.pieces(path, start, end), status_code=status, headers=headers, media_type=kind
    )


NEIGHBOURS = 4
"""Items shown before a passage, and after it."""


@router.get("/api/open/{library}/{id}/around")
def around(
    row: LibraryOfId, id: str, most: Annotated[int, Query(ge=1, le=1000)] = NEIGHBOURS
) -> dict[str, Any]:
    """Return an item with those that stand before and after it in its source, at most so many on either side."""
    found = stores().catalog.beside(row.id, id, most)
    if not found:
        raise NotFound(
            "There is no such item", "it may have been removed, or indexed anew, since it was cited"
        ).named("no_such_item")
    told = [{"id": i.id, "here": i.id == id, "text": i.text, "heading": list(i.heading)} for i in found]
    return {"title": found[0].title, "around": told}


@router.get("/api/open/{library}/{id}/transcript")
def transcript(row: LibraryOfId, id: str) -> dict[str, Any]:
    """Return what is said and shown in the recording that an item stands in, with its seconds, and its chapters."""
    catalog = stores().catalog
    held, source = catalog.items(row.id, [id]).get(id), catalog.sources_of(row.id, [id]).get(id)
    if held is None or source is None or "start" not in held.locator:
        raise NotFound(
            "There is no such recording", "it may have been removed, or indexed anew, since it was cited"
        ).named("no_such_recording")
    # A source may hold several recordings, each under its title.
    of_it = [
        [i for i in catalog.items_of(row.id, source.id, c) if i.title == held.title]
        for c in ("clip", "video")
    ]
    metas = [cast(dict[str, Any], whole.meta) for whole in of_it[1]]
    chapters = [
        {"start": a, "end": b, "title": title} for w in of_it[1] for a, b, title in w.chapters if title
    ]
    lines: list[dict[str, Any]] = [
        {"start": s.time[0], "end": s.time[1], "text": " ".join(clip.text[s.start : s.end].split())}
        | ({"shown": True} if low <= s.start < high else {})
        for clip in of_it[0]
        for low, high in [clip.part("screen")]
        for s in clip.spans
        if s.time is not None and clip.text[s.start : s.end].strip()
    ]
    lines.sort(key=lambda line: line["start"])
    return {
        "title": held.title,
        "chapters": chapters or chapters_of(lines, sum(m.get("duration", 0.0) for m in metas)),
        "lines": lines,
    }


_VIEWS = {"page": "page", "heading": "text", "image": "picture", "time": "video", "url": "web"}
"""How a reader looks at the place, by the kind of its locator."""


def plain_locator(locator: Mapping[str, Any]) -> dict[str, Any]:
    """Return a locator with the name of the file in place of its path."""
    return {**locator, "file": PurePath(str(locator["file"])).name} if "file" in locator else dict(locator)


def opening(
    library: LibraryRow, id: str, locator: Mapping[str, Any], source: Source | None
) -> dict[str, Any]:
    """Say what to show for a place; a web page has no source.

    Returns:
        `view` (page, text, picture, video, web, none), then what applies: `href` (opens it in the page of
        this server), `item` (its text), `media` (the source file), `picture` (the stored picture), `kind` of
        the source, and page, bbox, heading, line, start, end, url of the locator.
    """
    if "url" in locator:
        url = str(locator["url"])
        return {"view": "web", "url": url} if url.startswith(("http://", "https://")) else {"view": "none"}
    if source is None:
        return {"view": "none"}
    found: dict[str, Any] = {
        "view": _VIEWS.get(str(locator.get("kind", "")), "text"),
        "href": href(library, id, locator),
        "item": f"/api/open/{library.id}/{quote(id, safe='')}",
        "media": f"/media/{library.id}/source/{quote(source.id, safe='')}",
        "source": source.id,
        "kind": source.kind,
    }
    if "image" in locator:
        found["picture"] = f"/media/{library.id}/picture/{quote(str(locator['image']), safe='/')}"
    told = ("page", "bbox", "heading", "line", "start", "end", "chars")
    return found | {key: locator[key] for key in told if key in locator}


def href(library: LibraryRow, id: str, locator: Mapping[str, Any]) -> str:
    """Return the address that opens a place of an item in the page."""
    chars = locator.get("chars")
    narrow = f"?chars={int(chars[0])}-{int(chars[1])}" if chars else ""
    return f"/open/{library.id}/{quote(id, safe='')}{narrow}"


async def with_openings(library: LibraryRow, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return citations or evidence rows with what each opens, and without paths."""
    ids = sorted({_opened(row) for row in rows if "url" not in row["locator"]})
    held = await asyncio.to_thread(lambda: stores().catalog.sources_of(library.id, ids)) if ids else {}
    return [
        {
            **row,
            "locator": plain_locator(row["locator"]),
            **({"also": [plain_locator(place) for place in row["also"]]} if "also" in row else {}),
            "open": opening(library, _opened(row), row["locator"], held.get(_opened(row))),
        }
        for row in rows
    ]


def _opened(row: Mapping[str, Any]) -> str:
    """Return the item that a row opens: of a result over a table the one that shows the table."""
    computed = row.get("computed") or {}
    return str(computed.get("item") or row["id"])


async def answer_with_openings(library: LibraryRow, answer: Any) -> dict[str, Any]:
    """Return an answer as JSON values, its citations with what they open."""
    told: dict[str, Any] = answer.model_dump(mode="json")
    told["citations"] = await with_openings(library, told["citations"])
    return told
