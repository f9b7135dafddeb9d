"""The front page of a library, and its entities."""

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
"""Places of an entity that are named."""
_LONGEST = 240
"""Characters of a sentence."""


@router.get("/overview")
async def front_page(row: NamedLibrary, app_state: AppStateNow) -> dict[str, Any]:
    """Return the files of a library by kind, the newest of them, and what a chat model wrote of it, or is writing."""
    return {"library": row.name, **await app_state.overviews.read(row)}


class Wanted(Body):
    """The library that a chat model is to introduce."""

    library: str = Field(max_length=200)


@router.post("/overview")
async def write_overview(
    request: Request, caller: WriterNow, app_state: AppStateNow, body: Wanted
) -> dict[str, Any]:
    """Have the chat model introduce a library, in one call; titles and passages go to it.

    Leaving stops nothing.
    """
    row = await library_named(caller, body.library)
    await unless_left(request, app_state.overviews.write(row))
    return {"library": row.name, **await app_state.overviews.read(row)}


@router.delete("/overview", status_code=204)
async def stop_overview(caller: WriterNow, row: NamedLibrary, app_state: AppStateNow) -> None:
    """Stop the chat model that introduces a library."""
    app_state.overviews.stop(row)


@router.get("/entities")
def list_entities(row: NamedLibrary) -> dict[str, Any]:
    """Return the largest communities of the entities in recordings; none where no graph was built."""
    groups = communities(entity_graph(stores().catalog, row.id))
    return {"groups": [[asdict(node) for node in group] for group in groups]}


@router.get("/entities/{key}")
async def entity(row: NamedLibrary, key: str) -> dict[str, Any]:
    """Return an entity, its neighbours with what joins them, where each is drawn, and the places that name it."""
    found = await asyncio.to_thread(lambda: around(entity_graph(stores().catalog, row.id), key))
    if found is None:
        raise NotFound(
            "There is no such entity", "list the entities of the library, and name one of them"
        ).named("no_such_entity")
    ids = found.items[:_PLACES]
    items = await asyncio.to_thread(stores().catalog.items, row.id, ids)
    name = found.middle.name
    rows = [
        {
            "id": id,
            "title": items[id].title,
            "locator": items[id].locator,
            "quote": _sentence(items[id], name),
        }
        for id in ids
        if id in items
    ]
    told = asdict(found)
    return {
        "entity": told["middle"],
        "around": told["beside"],
        "lines": told["lines"],
        "places": await with_openings(row, rows),
    }


def _sentence(item: Item, name: str) -> str:
    """Return the first sentence of an item that names an entity, else its first."""
    said = [item.text[start:end] for start, end in sentences(item.text)] or [item.text]
    return clip(" ".join(next((s for s in said if name.lower() in s.lower()), said[0]).split()), _LONGEST)
