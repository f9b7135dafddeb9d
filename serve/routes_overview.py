"""Show the overview of a library and its entities."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from pydantic import Field

from ragweave.corpora.knowledge.graph import around, entity_graph
from ragweave.corpora.knowledge.graph import overview as communities
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Item
from ragweave.models.text import clip, sentences
from ragweave.serve.access import NamedLibrary, WriterNow, library_named
from ragweave.serve.app_state import AppStateNow, Body
from ragweave.serve.direct import unless_left
from ragweave.serve.media import with_openings
from ragweave.serve.problems import NotFound

router = APIRouter(prefix="/api")

_PLACES = 8
"""Most places that are listed for an entity."""
_LONGEST = 240
"""Most characters of a quoted sentence."""


@router.get("/overview")
async def front_page(row: NamedLibrary, app_state: AppStateNow) -> dict[str, Any]:
    """Return the files of a library by kind, its newest files, and what a chat model wrote about it."""
    return {"library": row.name, **await app_state.overviews.read(row)}


class Wanted(Body):
    """The library about which a chat model writes."""

    library: str = Field(max_length=200)


@router.post("/overview")
async def write_overview(
    request: Request, caller: WriterNow, app_state: AppStateNow, body: Wanted
) -> dict[str, Any]:
    """Let the chat model write about a library in one call; it receives titles and passages.

    The writing continues if the client disconnects.
    """
    row = await library_named(caller, body.library)
    await unless_left(request, app_state.overviews.write(row))
    return {"library": row.name, **await app_state.overviews.read(row)}


@router.delete("/overview", status_code=204)
async def stop_overview(caller: WriterNow, row: NamedLibrary, app_state: AppStateNow) -> None:
    """Stop the chat model that writes about a library."""
    app_state.overviews.stop(row)


@router.get("/entities")
def list_entities(row: NamedLibrary) -> dict[str, Any]:
    """Return the largest communities of entities in recordings; none if no graph was built."""
    groups = []
    for community in communities(entity_graph(stores().catalog, row.id)):
        groups.append([asdict(node) for node in community])
    return {"groups": groups}


@router.get("/entities/{key}")
async def entity(row: NamedLibrary, key: str) -> dict[str, Any]:
    """Return an entity, its neighbours and relations with coordinates, and places that name it."""
    found = await asyncio.to_thread(lambda: around(entity_graph(stores().catalog, row.id), key))
    if found is None:
        raise NotFound(
            "There is no such entity", "list the entities of the library, and name one of them"
        ).named("entity_not_found")
    ids = found.items[:_PLACES]
    items = await asyncio.to_thread(stores().catalog.items, row.id, ids)
    rows = []
    for id in ids:
        item = items.get(id)
        if item is not None:
            quote = _sentence(item, found.middle.name)
            rows.append({"id": id, "title": item.title, "locator": item.locator, "quote": quote})
    drawing = asdict(found)
    return {
        "entity": drawing["middle"],
        "around": drawing["beside"],
        "lines": drawing["lines"],
        "places": await with_openings(row, rows),
    }


def _sentence(item: Item, name: str) -> str:
    """Return the first sentence of an item that names an entity, or its first sentence if none does."""
    found = [item.text[start:end] for start, end in sentences(item.text)]
    best = found[0] if found else item.text
    for sentence in found:
        if name.lower() in sentence.lower():
            best = sentence
            break
    return clip(" ".join(best.split()), _LONGEST)
