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
from ragweave.corpora.types import Corpus, Item
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
    return await _library(await _create(caller, body.name))


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
            raise Refused(403, what, remedy).named("not_added_with_key", name=name)
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
    """Store files and begin to index them; a loader reads exports of chats or notes."""
    check_loader(loader)
    row = await _library_for_upload(caller, app_state, library, library_id)
    kept: list[Path | None] = []
    refused = []
    for file in files:
        name = file.filename or ""
        try:
            uploads.check(name, file.file)
            if row is None:
                row = await _create(caller, library)
            kept.append(await asyncio.to_thread(uploads.keep, name, file.file, row.id, loader))
        except InputError as error:
            kept.append(None)
            refused.append({"file": PurePath(name).name[:200], "reason": str(error)})
    if row is None:
        raise Refused(
            422, "No library was made, because nothing that was sent can be kept", refused[0]["reason"]
        )
    return await _start_job(caller, app_state, row, kept, refused)


class AddressBody(Body):
    """An address to fetch, and the name or id of the library that receives it."""

    library: str = Field("", max_length=200)
    library_id: str = Field("", max_length=200)
    url: str = Field(min_length=1, max_length=2_000)


@router.post("/fetch", status_code=202)
async def fetch_address(caller: WriterNow, app_state: AppStateNow, body: AddressBody) -> dict[str, Any]:
    """Fetch a web page or file once, and begin to index it."""
    row = await _library_for_upload(caller, app_state, body.library, body.library_id)
    name, data = await fetched(body.url)
    content = io.BytesIO(data)
    uploads.check(name, content)
    if row is None:
        row = await _create(caller, body.library)
    kept = await asyncio.to_thread(uploads.keep, name, content, row.id)
    return await _start_job(caller, app_state, row, [kept], [])


async def _library_for_upload(caller: Caller, app_state: AppState, name: str, id: str) -> LibraryRow | None:
    """Return the library that receives files; None if its name is new.

    An id names a library that exists. If it was deleted, no new one is created in its place.

    Raises:
        Refused: neither a name nor an id is given, or too many uploads into the library wait.
        NotFound: there is no library of that id, or the caller may not create one.
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


async def _create(caller: Caller, name: str) -> LibraryRow:
    """Create an empty library."""
    await libraries.create_library(name)
    return await library_named(caller, name)


async def _start_job(
    caller: Caller,
    app_state: AppState,
    row: LibraryRow,
    sent: list[Path | None],
    refused: list[dict[str, str]],
) -> dict[str, Any]:
    """Begin to index the stored files, and return the body of the response.

    `sent` has the path of each file that was sent, None for those that were refused.
    """
    kept: list[Path] = []
    kept_as: list[str | None] = []
    for path in sent:
        if path is None:
            kept_as.append(None)
        else:
            kept.append(path)
            kept_as.append(path.name)
    names = [path.name for path in kept]
    await asyncio.to_thread(app_state.store.keep_added, row.id, names, caller.id)
    job = await app_state.jobs.start(caller, row, kept, refused)
    return {"job": job.id, "library": row.name, "files": names, "kept_as": kept_as, "refused": refused}


@router.get("/jobs")
async def list_jobs(caller: CallerNow, app_state: AppStateNow) -> dict[str, Any]:
    """List the caller's uploads that are being indexed or wait for it."""
    names = {row.id: row.name for row in await visible(caller)}
    jobs = []
    for record in await app_state.jobs.mine(caller):
        if record.library in names:
            files = [PurePath(path).name for path in record.about["paths"]]
            jobs.append({"job": record.id, "library": names[record.library], "files": files})
    return {"jobs": jobs}


@router.get("/jobs/{id}/events")
async def job_events(caller: CallerNow, app_state: AppStateNow, request: Request, id: str) -> Response:
    """Stream the outcome of each file of an upload."""
    record = await app_state.jobs.get(caller, id)
    return journal.stream(await app_state.jobs.journal(record), request)


@router.post("/jobs/{id}/cancel", status_code=204)
async def cancel_job(caller: CallerNow, app_state: AppStateNow, id: str) -> None:
    """Stop indexing uploaded files; files that were indexed already stay."""
    await app_state.jobs.cancel(await app_state.jobs.get(caller, id))


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
        raise NotFound("There is no such item", ITEM_GONE).named("no_such_item")
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
