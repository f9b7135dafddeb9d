"""Send the files of sources, and say how to open a citation.

Clients get addresses of this server, never paths of its disk. Files are named by id and cannot run in the
browser.
"""

from __future__ import annotations

import asyncio
import re
import stat
from collections.abc import Collection, Mapping, Sequence
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
from ragweave.corpora.types import Item
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
"""Media types of the file name suffixes that a browser may display."""
_TEXT = frozenset("txt md markdown rst csv tsv json jsonl srt eml mbox html htm xhtml xml svg py".split())
"""Suffixes of files sent as plain text, so that no script in them runs."""
_SAVED = {"pdf": "application/pdf"}
"""Media types of suffixes that a browser downloads: its PDF viewer would run scripts."""
_UNKNOWN = "application/octet-stream"
_POLICY = "sandbox; default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"
ITEM_GONE = "it may have been removed, or indexed again, since it was cited"
"""Why an item or a recording that was cited is not found."""


@router.api_route("/media/{library}/source/{source}", methods=["GET", "HEAD"])
def source_file(row: LibraryOfId, request: Request, source: str) -> Response:
    """Send the file of a source."""
    for found in stores().catalog.sources(row.id, [source]):
        for path in map(Path, found.paths):
            response = _file(path, request) or _object(path, found.sha256, request)
            if response is not None:
                return unless_held(request, response)
    raise NotFound("There is no such file", "it may have been moved or deleted since it was indexed").named(
        "file_not_found"
    )


@router.api_route("/media/{library}/picture/{source}/{name}", methods=["GET", "HEAD"])
def picture(row: LibraryOfId, request: Request, source: str, name: str) -> Response:
    """Send a stored image: a picture, a page or a video frame."""
    response = None
    with suppress(RagweaveError):
        response = _file(Media.of(row.id).path(f"{source}/{name}"), request)
    if response is None:
        raise NotFound("There is no such picture", "it may have gone with its source").named(
            "picture_not_found"
        )
    return unless_held(request, response)


def _file(path: Path, request: Request) -> FileResponse | None:
    """Return a response that sends a file of the disk; None if there is no such file."""
    try:
        seen = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(seen.st_mode):
        return None
    without_vain_range(request)
    kind, disposition, headers = _presentation(path)
    return FileResponse(
        path,
        media_type=kind,
        filename=path.name,
        content_disposition_type=disposition,
        stat_result=seen,
        headers=headers,
    )


def _presentation(path: Path) -> tuple[str, str, dict[str, str]]:
    """Return the media type, the content disposition and the headers for a file."""
    suffix = path.suffix.lower().lstrip(".")
    disposition = "inline"
    if suffix in _SHOWN:
        kind = _SHOWN[suffix]
    elif suffix in _TEXT:
        kind = "text/plain; charset=utf-8"
    else:
        kind = _SAVED.get(suffix, _UNKNOWN)
        disposition = "attachment"
    headers = {"Cache-Control": "private, no-cache", "Content-Security-Policy": _POLICY}
    return kind, disposition, headers


_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def _object(path: Path, sha256: str, request: Request) -> Response | None:
    """Return a response that sends an upload from the object store, whole or one range of it.

    None if the store does not have it.
    """
    store = objects()
    size = store.size(path) if store else None
    if store is None or size is None:
        return None
    kind, disposition, headers = _presentation(path)
    headers["Accept-Ranges"] = "bytes"
    headers["Content-Disposition"] = f"{disposition}; filename*=utf-8''{quote(path.name)}"
    if sha256:
        headers["ETag"] = f'"{sha256}"'
    start, end, status = 0, size, 200
    wanted = _wanted_range(request, headers.get("ETag"), size)
    if wanted is not None:
        start, end = wanted
        if start >= end:
            return Response(status_code=416, headers={"Content-Range": f"bytes */{size}"})
        status = 206
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    headers["Content-Length"] = str(end - start)
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=kind)
    return StreamingResponse(
        store.pieces(path, start, end), status_code=status, headers=headers, media_type=kind
    )


def _wanted_range(request: Request, etag: str | None, size: int) -> tuple[int, int] | None:
    """Return the start and end (exclusive) of the bytes that a request wants; None for all of them."""
    given = request.headers.get("range", "")
    if request.headers.get("if-range", etag) != etag or not is_range(given):
        return None
    match = _RANGE.fullmatch(given)
    if match is None:
        return None
    first, last = match.groups()
    if not first:  # the last so many bytes
        return max(0, size - int(last)), size
    return int(first), min(int(last or size) + 1, size)


NEIGHBOURS = 4
"""Items shown before a passage, and after it."""


@router.get("/api/open/{library}/{id}/around")
def around(
    row: LibraryOfId, id: str, most: Annotated[int, Query(ge=1, le=1000)] = NEIGHBOURS
) -> dict[str, Any]:
    """Return an item with its neighbours in the source, up to `most` before and after it."""
    found = stores().catalog.beside(row.id, id, most)
    if not found:
        raise NotFound("There is no such item", ITEM_GONE).named("item_not_found")
    rows = [{"id": i.id, "here": i.id == id, "text": i.text, "heading": list(i.heading)} for i in found]
    return {"title": found[0].title, "around": rows}


@router.get("/api/open/{library}/{id}/transcript")
def transcript(row: LibraryOfId, id: str) -> dict[str, Any]:
    """Return the speech and the on-screen text of the recording of an item, with times and chapters."""
    catalog = stores().catalog
    item = catalog.items(row.id, [id]).get(id)
    source = catalog.sources_of(row.id, [id]).get(id)
    if item is None or source is None or "start" not in item.locator:
        raise NotFound("There is no such recording", ITEM_GONE).named("recording_not_found")
    # A source may hold several recordings, each under its title.
    clips = [i for i in catalog.items_of(row.id, source.id, "clip") if i.title == item.title]
    videos = [i for i in catalog.items_of(row.id, source.id, "video") if i.title == item.title]
    lines: list[dict[str, Any]] = []
    for clip in clips:
        lines += _lines_of(clip)
    lines.sort(key=lambda line: line["start"])
    chapters: list[dict[str, Any]] = []
    duration = 0.0
    for video in videos:
        duration += cast(dict[str, Any], video.meta).get("duration", 0.0)
        for start, end, title in video.chapters:
            if title:
                chapters.append({"start": start, "end": end, "title": title})
    return {"title": item.title, "chapters": chapters or chapters_of(lines, duration), "lines": lines}


def _lines_of(clip: Item) -> list[dict[str, Any]]:
    """Return the lines of a clip with their seconds; those read on the screen are marked `shown`."""
    lines = []
    screen_start, screen_end = clip.part("screen")
    for span in clip.spans:
        text = " ".join(clip.text[span.start : span.end].split())
        if span.time is None or not text:
            continue
        line: dict[str, Any] = {"start": span.time[0], "end": span.time[1], "text": text}
        if screen_start <= span.start < screen_end:
            line["shown"] = True
        lines.append(line)
    return lines


_VIEWS = {"page": "page", "heading": "text", "image": "picture", "time": "video", "url": "web"}
"""The view that displays a citation, by the kind of its locator."""


def plain_locator(locator: Mapping[str, Any]) -> dict[str, Any]:
    """Return a locator with the name of the file instead of its path."""
    plain = dict(locator)
    if "file" in plain:
        plain["file"] = PurePath(str(plain["file"])).name
    return plain


def opening(
    library: LibraryRow, id: str, locator: Mapping[str, Any], source: Source | None
) -> dict[str, Any]:
    """Return how to open the place of a citation; a web page has no source.

    Returns:
        `view` (page, text, picture, video, web, none), then the keys that apply: `href` (opens it in the web
        app), `item` (its text), `media` (the source file), `picture` (the stored picture), `kind` of the
        source, and page, bbox, heading, line, start, end, url of the locator.
    """
    if "url" in locator:
        url = str(locator["url"])
        if url.startswith(("http://", "https://")):
            return {"view": "web", "url": url}
        return {"view": "none"}
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
    for key in ("page", "bbox", "heading", "line", "start", "end", "chars"):
        if key in locator:
            found[key] = locator[key]
    return found


def href(library: LibraryRow, id: str, locator: Mapping[str, Any]) -> str:
    """Return the address that opens a place of an item in the web app."""
    chars = locator.get("chars")
    narrow = f"?chars={int(chars[0])}-{int(chars[1])}" if chars else ""
    return f"/open/{library.id}/{quote(id, safe='')}{narrow}"


async def with_openings(library: LibraryRow, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return citations or evidence rows without paths, each with how to open it."""
    ids = set()
    for row in rows:
        if "url" not in row["locator"]:
            ids.add(_item_to_open(row))
    sources = await _sources_of(library, ids)
    opened = []
    for row in rows:
        item = _item_to_open(row)
        plain = {**row, "locator": plain_locator(row["locator"])}
        if "also" in row:
            plain["also"] = [plain_locator(place) for place in row["also"]]
        plain["open"] = opening(library, item, row["locator"], sources.get(item))
        opened.append(plain)
    return opened


_known_sources: dict[tuple[str, int], dict[str, Source]] = {}
"""The sources of cited items, by library and generation."""
_MOST_KNOWN = 8
"""Generations of libraries whose sources are kept."""


async def _sources_of(library: LibraryRow, ids: Collection[str]) -> Mapping[str, Source]:
    """Return the sources of items; the events of a run cite the same ones several times."""
    generation = library.id, library.generation
    if generation not in _known_sources and len(_known_sources) >= _MOST_KNOWN:
        _known_sources.clear()
    known = _known_sources.setdefault(generation, {})
    missing = sorted(set(ids).difference(known))
    if missing:
        known |= await asyncio.to_thread(lambda: stores().catalog.sources_of(library.id, missing))
    return known


def _item_to_open(row: Mapping[str, Any]) -> str:
    """Return the item that a row opens: for a result computed from a table, the item of the table."""
    computed = row.get("computed") or {}
    return str(computed.get("item") or row["id"])


async def answer_with_openings(library: LibraryRow, answer: Any) -> dict[str, Any]:
    """Return an answer as JSON values, each citation with how to open it."""
    values: dict[str, Any] = answer.model_dump(mode="json")
    values["citations"] = await with_openings(library, values["citations"])
    return values
