"""What a citation opens, in addresses of this server and never in paths of its disk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.rows import Source
from ragweave.corpora.store.stores import stores

_VIEWS = {"page": "page", "heading": "text", "image": "picture", "time": "video", "url": "web"}
"""How a reader looks at the place, by the kind of its locator."""


def plain_locator(locator: Mapping[str, Any]) -> dict[str, Any]:
    """Return a locator with the name of the file in place of its path."""
    found = dict(locator)
    if "file" in found:
        found["file"] = PurePath(str(found["file"])).name
    return found


def opening(library: LibraryRow, id: str, locator: Mapping[str, Any], source: Source | None) -> dict[str, Any]:
    """Say what to show for a place.

    Args:
        library: library it belongs to.
        id: item id.
        locator: the place.
        source: source of the item, or None for a web page.

    Returns:
        `view` (page, text, picture, video, web, none), then what applies: `href` (opens it in the page of this
        server), `item` (its text), `media` (the source file), `picture` (the stored picture), `kind` of the source,
        and page, bbox, heading, line, start, end, url of the locator.
    """
    if "url" in locator:
        url = str(locator["url"])
        return {"view": "web", "url": url} if url.startswith(("http://", "https://")) else {"view": "none"}
    if source is None:
        return {"view": "none"}
    found: dict[str, Any] = {
        "view": _VIEWS.get(str(locator.get("kind", "")), "text"),
        "href": href(library, id, locator),
        "item": f"/api/items/{quote(id, safe='')}?library={quote(library.name, safe='')}",
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
    """Return the address that opens a place of an item in the page."""
    chars = locator.get("chars")
    narrow = f"?chars={int(chars[0])}-{int(chars[1])}" if chars else ""
    return f"/open/{library.id}/{quote(id, safe='')}{narrow}"


async def sources_of(library: LibraryRow, ids: Iterable[str]) -> dict[str, Source]:
    """Return the source of each item id of a library; unknown ids are left out."""
    wanted = sorted(set(ids))
    return await asyncio.to_thread(lambda: stores().catalog.sources_of(library.id, wanted)) if wanted else {}


async def with_openings(library: LibraryRow, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return citations or evidence rows with what each opens, and without paths."""
    held = await sources_of(library, (str(row["id"]) for row in rows if "url" not in row["locator"]))
    return [
        {
            **row,
            "locator": plain_locator(row["locator"]),
            "open": opening(library, str(row["id"]), row["locator"], held.get(str(row["id"]))),
        }
        for row in rows
    ]


async def answer_with_openings(library: LibraryRow, answer: Any) -> dict[str, Any]:
    """Return an answer as JSON values, its citations with what they open."""
    told: dict[str, Any] = answer.model_dump(mode="json")
    told["citations"] = await with_openings(library, told["citations"])
    return told
