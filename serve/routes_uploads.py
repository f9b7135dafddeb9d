"""Upload files to a library, fetch web pages into it, and follow the jobs that index them."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path, PurePath
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from pydantic import Field

from ragweave.corpora.loaders import check_loader
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.web.fetch import fetched
from ragweave.models.errors import InputError
from ragweave.serve import journal, uploads
from ragweave.serve.access import Caller, CallerNow, WriterNow, library_by_id, library_named, visible
from ragweave.serve.app_state import AppState, AppStateNow, Body
from ragweave.serve.problems import NotFound, Refused
from ragweave.serve.routes_library import create

router = APIRouter(prefix="/api")


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
                row = await create(caller, library)
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
        row = await create(caller, body.library)
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
            "library_required"
        )
    try:
        row = await (library_by_id(caller, id) if id else library_named(caller, name))
    except NotFound:
        if id:
            raise NotFound(
                "This library is not there any more", "choose another one, or make a new one"
            ).named("library_deleted") from None
        if not caller.owns_all:
            raise
        return None
    await app_state.jobs.check(row)
    return row


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
