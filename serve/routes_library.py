"""List and change libraries, their sources and their items."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from pathlib import PurePath
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field

from ragweave.corpora.store import library as libraries
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.rows import Source
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Corpus, Item
from ragweave.serve import uploads
from ragweave.serve.access import (
    Caller,
    CallerNow,
    LibraryOfId,
    NamedLibrary,
    WriterNow,
    library_by_id,
    library_named,
    usual_for,
    visible,
)
from ragweave.serve.app_state import AppState, AppStateNow, Body
from ragweave.serve.media import ITEM_GONE, opening, plain_locator
from ragweave.serve.problems import NotFound, Refused

router = APIRouter(prefix="/api")


class Name(Body):
    """A name in a request."""

    name: str = Field(min_length=1, max_length=200)


@router.get("/libraries")
async def list_libraries(caller: CallerNow) -> dict[str, Any]:
    """List the libraries that the caller may see."""
    rows = await visible(caller)
    default = await usual_for(caller)
    if not default and rows:
        default = rows[0].name
    return {
        "libraries": [await _library(row) for row in rows],
        "default": default or "",
        "may_change": caller.owns_all,
    }


@router.post("/libraries", status_code=201)
async def create_library(caller: CallerNow, body: Name) -> dict[str, Any]:
    """Create an empty library."""
    caller.require_all()
    return await _library(await create(caller, body.name))


@router.patch("/libraries/{id}")
async def rename_library(caller: CallerNow, id: str, body: Name) -> dict[str, Any]:
    """Give a library another name."""
    caller.require_all()
    row = await library_by_id(caller, id)
    await asyncio.to_thread(stores().catalog.rename, row.name, body.name)
    return await _library(await library_by_id(caller, id))


@router.delete("/libraries/{id}", status_code=204)
async def delete_library(caller: CallerNow, app_state: AppStateNow, id: str) -> None:
    """Delete a library with its index, uploads and conversations.

    Files that were indexed from their own place on the disk stay there.
    """
    caller.require_all()
    row = await library_by_id(caller, id)
    app_state.overviews.stop(row)
    await libraries.delete_library(row.name)
    threads = await asyncio.to_thread(app_state.store.asked_of, row.id)  # those of every owner
    await forget_threads(app_state, threads)
    await asyncio.to_thread(app_state.store.forget_library, row.id)


async def forget_threads(app_state: AppState, ids: list[str]) -> None:
    """Stop the runs of conversations, then delete their turns and their state."""
    for id in ids:
        await app_state.runs.cancel_thread(id)
        await app_state.saver.adelete_thread(id)
    await asyncio.to_thread(app_state.store.delete_threads, ids)


@router.get("/sources")
def list_sources(caller: CallerNow, request: Request, row: NamedLibrary) -> dict[str, Any]:
    """List the sources of a library, also those that failed, with the reason."""
    may_remove = removable(caller, request, row)
    found = []
    for source in stores().catalog.sources(row.id):
        found.append({**_source(caller, row, source), "removable": may_remove(source)})
    return {"library": row.name, "sources": found}


_READ: tuple[Corpus, ...] = ("paragraph", "video", "image")
"""Corpora that may hold the first item of a source, in this order."""


@router.get("/sources/{id}")
def read_source(caller: CallerNow, row: NamedLibrary, id: str) -> dict[str, Any]:
    """Return a source with its first item and how to open that item."""
    source = _source_of(row, id)
    answer = _source(caller, row, source)
    first = _first_item(row, id)
    if first is None:
        return {**answer, "item": None, "locator": {}, "open": {"view": "none"}}
    return {
        **answer,
        "item": first.id,
        "locator": plain_locator(first.locator),
        "open": opening(row, first.id, first.locator, source),
    }


def _first_item(row: LibraryRow, source: str) -> Item | None:
    """Return the item at which a source begins."""
    for corpus in _READ:
        for item in stores().catalog.items_of(row.id, source, corpus):
            return item
    return None


@router.delete("/sources", status_code=204)
async def delete_sources(
    caller: WriterNow,
    app_state: AppStateNow,
    request: Request,
    row: NamedLibrary,
    ids: Annotated[list[str], Query(min_length=1, max_length=100)],
) -> None:
    """Remove all these sources from a library; a file is deleted only if it was uploaded."""
    found = await asyncio.to_thread(_sources_of, row, ids)
    may_remove = await asyncio.to_thread(removable, caller, request, row)
    for source in found:
        if not may_remove(source):
            name = PurePath(source.path).name
            what = f"{name!r} was not added with this key"
            remedy = "a key with the role 'own' may remove it; see `ragweave keys edit`"
            raise Refused(403, what, remedy).named("source_of_another_key", name=name)
    library = await libraries.open_library(row.name)
    await library.remove(*dict.fromkeys(ids))
    names: list[str] = []
    for source in found:
        names += _upload_names(row, source)
    await asyncio.to_thread(app_state.store.forget_added, row.id, names)


def removable(caller: Caller, request: Request, row: LibraryRow) -> Callable[[Source], bool]:
    """Return a function that decides whether a caller may remove a source.

    An owner may remove any source, a writer those that it added, a reader none.
    """
    if caller.role == "own" or not caller.may("write"):
        return lambda _: caller.role == "own"
    mine = request.app.state.app_state.store.added_by(caller.id, row.id)

    def added_all(source: Source) -> bool:
        for path in source.paths:
            if not _is_upload(row, path) or PurePath(path).name not in mine:
                return False
        return True

    return added_all


def _is_upload(row: LibraryRow, path: str) -> bool:
    return PurePath(path).parent == uploads.folder_of(row.id)


def _upload_names(row: LibraryRow, source: Source) -> list[str]:
    """Return the names of the uploaded files of a source."""
    return [PurePath(path).name for path in source.paths if _is_upload(row, path)]


def _sources_of(row: LibraryRow, ids: list[str]) -> list[Source]:
    return [_source_of(row, id) for id in ids]


def _source_of(row: LibraryRow, id: str) -> Source:
    for source in stores().catalog.sources(row.id, [id]):
        return source
    raise NotFound("There is no such source", "list the sources, and name one of them").named(
        "source_not_found"
    )


async def create(caller: Caller, name: str) -> LibraryRow:
    """Create an empty library."""
    await libraries.create_library(name)
    return await library_named(caller, name)


@router.get("/open/{library}/{id}")
def item_to_open(row: LibraryOfId, id: str) -> dict[str, Any]:
    """Return an item by its id and the id of its library, as in the links of answers."""
    return item_of(row, id)


def item_of(row: LibraryRow, id: str) -> dict[str, Any]:
    """Return an item of a library and how to open it."""
    id = id.partition("#")[0]
    catalog = stores().catalog
    found = catalog.items(row.id, [id]).get(id)
    if found is None:
        raise NotFound("There is no such item", ITEM_GONE).named("item_not_found")
    return {
        "id": found.id,
        "corpus": found.corpus,
        "title": found.title,
        "text": found.text,
        "heading": found.heading,
        "language": found.language,
        "library": row.name,
        "locator": plain_locator(found.locator),
        "spans": [asdict(span) for span in found.spans],
        "date": found.date.isoformat() if found.date else None,
        "open": opening(row, id, found.locator, catalog.sources_of(row.id, [id]).get(id)),
    }


async def _library(row: LibraryRow) -> dict[str, Any]:
    catalog = stores().catalog
    counts, files = await asyncio.to_thread(lambda: (catalog.counts(row.id), catalog.files(row.id)))
    return {"id": row.id, "name": row.name, "items": counts, "files": files}


def _source(caller: Caller, row: LibraryRow, source: Source) -> dict[str, Any]:
    """Return a source as JSON; only the owner of the server sees the paths on its disk."""
    values = {
        "id": source.id,
        "kind": source.kind,
        "title": source.title,
        "status": source.status,
        "reason": source.reason,
        "warnings": source.warnings,
        "bytes": source.bytes,
        "items": source.items,
        "name": PurePath(source.path).name,
        "indexed": source.indexed_at,
        "date": source.date.isoformat() if source.date else None,
        "uploaded": bool(_upload_names(row, source)),
        "media": f"/media/{row.id}/source/{source.id}",
    }
    if caller.owns_all:
        values["paths"] = list(source.paths)
    return values
