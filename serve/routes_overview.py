"""The front page of a library, its entities, and what may be read next."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from ragweave.corpora.knowledge.neighbours import around, most_joined
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Item
from ragweave.models.text import clip, sentences
from ragweave.serve import overview
from ragweave.serve.access import CallerNow, NamedLibrary, library_named
from ragweave.serve.app_state import AppStateNow, Body
from ragweave.serve.media import with_openings
from ragweave.serve.problems import NotFound

router = APIRouter(prefix="/api")

_PLACES = 8
"""Places of an entity that are named."""
_LONGEST = 240
"""Characters of a sentence."""


@router.get("/overview")
async def front_page(row: NamedLibrary) -> dict[str, Any]:
    """Return the newest documents of a library, and the questions that a chat model wrote of it."""
    return {"library": row.name, **await overview.overview(row)}


class Wanted(Body):
    """The library whose questions a chat model is to write."""

    library: str = Field(max_length=200)


@router.post("/overview/questions")
async def write_questions(caller: CallerNow, app_state: AppStateNow, body: Wanted) -> dict[str, Any]:
    """Have the chat model write the questions of a front page, in one call; sent to it are passages of the library."""
    row = await library_named(caller, body.library)
    with app_state.slots.held():
        return {"library": row.name, **await overview.rewritten(row)}


@router.get("/entities")
def list_entities(row: NamedLibrary) -> dict[str, Any]:
    """Return the entities of the recordings that are joined to the most others; none where no graph was built."""
    return {"entities": [asdict(node) for node in most_joined(stores().catalog, row.id)]}


@router.get("/entities/{key}")
async def entity(row: NamedLibrary, key: str) -> dict[str, Any]:
    """Return an entity, its neighbours with what joins them, and the places that name it."""
    found = await asyncio.to_thread(around, stores().catalog, row.id, key)
    if found is None:
        raise NotFound("There is no such entity", "list the entities of the library, and name one of them")
    middle, beside, ids = found
    items = await asyncio.to_thread(stores().catalog.items, row.id, ids[:_PLACES])
    rows = [
        {"id": id, "title": items[id].title, "locator": items[id].locator, "quote": _sentence(items[id], middle.name)}
        for id in ids[:_PLACES]
        if id in items
    ]
    places = await with_openings(row, rows)
    return {"entity": asdict(middle), "around": [asdict(node) for node in beside], "places": places}


def _sentence(item: Item, name: str) -> str:
    """Return the first sentence of an item that names an entity, else its first."""
    said = [item.text[start:end] for start, end in sentences(item.text)] or [item.text]
    return clip(" ".join(next((s for s in said if name.lower() in s.lower()), said[0]).split()), _LONGEST)


@router.get("/next")
async def what_next(row: NamedLibrary, item: Annotated[list[str], Query(max_length=20)]) -> dict[str, Any]:
    """Return the sections that lie next to the items of an answer."""
    return {"places": await overview.further(row, [id.partition("#")[0] for id in item])}
