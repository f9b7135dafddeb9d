"""Libraries, their sources, uploads, and items."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile
from pydantic import Field

from ragweave.corpora.loaders import check_loader
from ragweave.corpora.store import library as libraries
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.rows import Source
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Corpus
from ragweave.models.errors import InputError
from ragweave.serve import journal, uploads
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
from ragweave.serve.fetch import fetched
from ragweave.serve.media import opening, plain_locator
from ragweave.serve.problems import NotFound, Refused

router = APIRouter(prefix="/api")


class Name(Body):
    """A name in a request."""

    name: str = Field(min_length=1, max_length=200)


@router.get("/libraries")
async def list_libraries(caller: CallerNow) -> dict[str, Any]:
    """List the libraries that the caller may see."""
    rows = await visible(caller)
    return {
        "libraries": [await _library(row) for row in rows],
        "default": await usual_for(caller) or next((row.name for row in rows), ""),
        "may_change": caller.owns_all,
    }


@router.post("/libraries", status_code=201)
async def create_library(caller: CallerNow, body: Name) -> dict[str, Any]:
    """Make an empty library."""
    caller.require_all()
    return await _library(await _made(caller, body.name))


@router.patch("/libraries/{id}")
async def rename_library(caller: CallerNow, id: str, body: Name) -> dict[str, Any]:
    """Give a library another name."""
    caller.require_all()
    row = await library_by_id(caller, id)
    await asyncio.to_thread(stores().catalog.rename, row.name, body.name)
    return await _library(await library_by_id(caller, id))


@router.delete("/libraries/{id}", status_code=204)
async def delete_library(caller: CallerNow, app_state: AppStateNow, id: str) -> None:
    """Delete a library with all that it holds: uploads and conversations as well, a person's own files not."""
    caller.require_all()
    row = await library_by_id(caller, id)
    app_state.overviews.stop(row)
    await libraries.delete_library(row.name)
    await forget_threads(
        app_state, await asyncio.to_thread(app_state.store.asked_of, row.id)
    )  # whoever's they are
    await asyncio.to_thread(app_state.store.forget_library, row.id)


async def forget_threads(app_state: AppState, ids: list[str]) -> None:
    """Delete conversations: what answers them is stopped, their turns and their state go."""
    for id in ids:
        await app_state.runs.cancel_thread(id)
        await app_state.saver.adelete_thread(id)
    await asyncio.to_thread(app_state.store.delete_threads, ids)


@router.get("/sources")
def list_sources(caller: CallerNow, request: Request, row: NamedLibrary) -> dict[str, Any]:
    """List the sources of a library, also those that failed, with the reason."""
    may_remove = removable(caller, request, row)
    found = [_source(caller, row, s) | {"removable": may_remove(s)} for s in stores().catalog.sources(row.id)]
    return {"library": row.name, "sources": found}


_READ: tuple[Corpus, ...] = ("paragraph", "video", "image")
"""Corpora of which one holds the beginning of a source."""


@router.get("/sources/{id}")
def read_source(caller: CallerNow, row: NamedLibrary, id: str) -> dict[str, Any]:
    """Return a source with its first item and what that opens: where reading it begins."""
    source = _source_of(row, id)
    first = next((i for corpus in _READ for i in stores().catalog.items_of(row.id, id, corpus)), None)
    opened = opening(row, first.id, first.locator, source) if first else {"view": "none"}
    locator = plain_locator(first.locator) if first else {}
    return {
        **_source(caller, row, source),
        "item": first.id if first else None,
        "locator": locator,
        "open": opened,
    }


@router.delete("/sources", status_code=204)
async def delete_sources(
    caller: WriterNow,
    app_state: AppStateNow,
    request: Request,
    row: NamedLibrary,
    ids: Annotated[list[str], Query(min_length=1, max_length=100)],
) -> None:
    """Forget sources, all together; the file itself goes only where it was uploaded."""
    found = await asyncio.to_thread(lambda: [_source_of(row, id) for id in ids])
    may_remove = await asyncio.to_thread(removable, caller, request, row)
    if foreign := [source for source in found if not may_remove(source)]:
        what = f"{PurePath(foreign[0].path).name!r} was not added with this key"
        raise Refused(403, what, "a key with the role 'own' may remove it; see `ragweave keys edit`").named(
            "not_added_with_key", name=PurePath(foreign[0].path).name
        )
    await (await libraries.open_library(row.name)).remove(*dict.fromkeys(ids))
    names = [PurePath(path).name for source in found for path in source.paths if _is_upload(row, path)]
    await asyncio.to_thread(app_state.store.forget_added, row.id, names)


def removable(caller: Caller, request: Request, row: LibraryRow) -> Callable[[Source], bool]:
    """Return what tells whether a caller may remove a source: an owner any, a writer what it added, a reader none."""
    if caller.role == "own" or not caller.may("write"):
        return lambda _: caller.role == "own"
    mine = request.app.state.app_state.store.added_by(caller.id, row.id)
    return lambda source: all(_is_upload(row, path) and PurePath(path).name in mine for path in source.paths)


def _is_upload(row: LibraryRow, path: str) -> bool:
    return PurePath(path).parent == uploads.folder_of(row.id)


def _source_of(row: LibraryRow, id: str) -> Source:
    for source in stores().catalog.sources(row.id, [id]):
        return source
    raise NotFound("There is no such source", "list the sources, and name one of them").named(
        "no_such_source"
    )


@router.post("/upload", status_code=202)
async def upload(
    caller: WriterNow,
    app_state: AppStateNow,
    files: Annotated[list[UploadFile], File()],
    library: Annotated[str, Form()] = "",
    library_id: Annotated[str, Form()] = "",
    loader: Annotated[str, Form()] = "",
) -> dict[str, Any]:
    """Keep files and begin to index them, by a loader where they are exports of chats or notes."""
    check_loader(loader)
    row = await _library_for_upload(caller, app_state, library, library_id)
    kept: list[Path | None] = []
    refused = []
    for file in files:
        name = file.filename or ""
        try:
            uploads.check(name, file.file)
            row = row or await _made(caller, library)
            kept.append(await asyncio.to_thread(uploads.keep, name, file.file, row.id, loader))
        except InputError as error:
            kept.append(None)
            refused.append({"file": PurePath(name).name[:200], "reason": str(error)})
    if row is None:
        raise Refused(
            422, "No library was made, because nothing that was sent can be kept", refused[0]["reason"]
        )
    return await _begun(caller, app_state, row, kept, refused)


class AddressBody(Body):
    """An address to fetch, and the library for what lies there, by name or by id."""

    library: str = Field("", max_length=200)
    library_id: str = Field("", max_length=200)
    url: str = Field(min_length=1, max_length=2_000)


@router.post("/fetch", status_code=202)
async def fetch_address(caller: WriterNow, app_state: AppStateNow, body: AddressBody) -> dict[str, Any]:
    """Fetch a page or file of the web once, and begin to index it."""
    row = await _library_for_upload(caller, app_state, body.library, body.library_id)
    name, data = await fetched(body.url)
    uploads.check(name, content := io.BytesIO(data))
    row = row or await _made(caller, body.library)
    kept = await asyncio.to_thread(uploads.keep, name, content, row.id)
    return await _begun(caller, app_state, row, [kept], [])


async def _library_for_upload(caller: Caller, app_state: AppState, name: str, id: str) -> LibraryRow | None:
    """Return the library that files are to go to, once they could be indexed; None for a new name.

    An id is that of a library which somebody sees: it may have another name by now, and none is made in its
    place.
    """
    if not name and not id:
        raise Refused(422, "no library is named", "send `library`, its name, or `library_id`").named(
            "no_library_named_2"
        )
    try:
        row = await (library_by_id(caller, id) if id else library_named(caller, name))
    except NotFound:
        if id:
            raise NotFound(
                "This library is not there any more", "choose another one, or make a new one"
            ).named("library_not_any_more") from None
        if not caller.owns_all:
            raise
        return None
    await app_state.jobs.check(row)
    return row


async def _made(caller: Caller, name: str) -> LibraryRow:
    """Make an empty library."""
    await libraries.create_library(name)
    return await library_named(caller, name)


async def _begun(
    caller: Caller,
    app_state: AppState,
    row: LibraryRow,
    sent: list[Path | None],
    refused: list[dict[str, str]],
) -> dict[str, Any]:
    """Begin to index what was kept of the files that were sent, and return what is told of it."""
    kept = [path for path in sent if path]
    names = [path.name for path in kept]
    await asyncio.to_thread(app_state.store.keep_added, row.id, names, caller.id)
    job = await app_state.jobs.start(caller, row, kept, refused)
    return {
        "job": job.id,
        "library": row.name,
        "files": names,
        "kept_as": [path.name if path else None for path in sent],
        "refused": refused,
    }


@router.get("/jobs")
async def list_jobs(caller: CallerNow, app_state: AppStateNow) -> dict[str, Any]:
    """List the caller's uploads that are being indexed, or wait for that."""
    names = {row.id: row.name for row in await visible(caller)}
    return {
        "jobs": [
            {
                "job": r.id,
                "library": names[r.library],
                "files": [PurePath(path).name for path in r.about["paths"]],
            }
            for r in await app_state.jobs.mine(caller)
            if r.library in names
        ]
    }


@router.get("/jobs/{id}/events")
async def job_events(caller: CallerNow, app_state: AppStateNow, request: Request, id: str) -> Response:
    """Stream what becomes of each file."""
    return journal.stream(await app_state.jobs.journal(await app_state.jobs.get(caller, id)), request)


@router.post("/jobs/{id}/cancel", status_code=204)
async def cancel_job(caller: CallerNow, app_state: AppStateNow, id: str) -> None:
    """Stop indexing uploaded files; what was read stays."""
    await app_state.jobs.cancel(await app_state.jobs.get(caller, id))


@router.get("/open/{library}/{id}")
def item_to_open(row: LibraryOfId, id: str) -> dict[str, Any]:
    """Return an item by the id of its library, as the links in answers name it."""
    return item_of(row, id)


def item_of(row: LibraryRow, id: str) -> dict[str, Any]:
    """Return an item of a library with what it opens."""
    id, catalog = id.partition("#")[0], stores().catalog
    found = catalog.items(row.id, [id]).get(id)
    if found is None:
        raise NotFound(
            "There is no such item", "it may have been removed, or indexed anew, since it was cited"
        ).named("no_such_item")
    return {
        **{k: getattr(found, k) for k in ("id", "corpus", "title", "text", "heading", "language")},
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
    told = {
        k: getattr(source, k)
        for k in ("id", "kind", "title", "status", "reason", "warnings", "bytes", "items")
    }
    told |= {
        "name": PurePath(source.path).name,
        "indexed": source.indexed_at,
        "date": source.date.isoformat() if source.date else None,
        "uploaded": any(_is_upload(row, p) for p in source.paths),
        "media": f"/media/{row.id}/source/{source.id}",
    }
    # Where a file lies concerns the person whose disk it is.
    return told | ({"paths": list(source.paths)} if caller.owns_all else {})
