"""Serve `/v1/files`: files that a client sends once and names by id in later questions."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, File, Form, Query, Response, UploadFile

from ragweave.models.errors import InputError
from ragweave.serve.access import CallerNow
from ragweave.serve.app_state import AppStateNow
from ragweave.serve.kept_files import FILE_MB, KeptFile

router = APIRouter(prefix="/v1/files")

_UNSUPPORTED = ("batch", "fine-tune")
"""Purposes that this server does not support."""
_SHORTEST, _LONGEST = 3_600, 2_592_000
"""Bounds of the seconds after which a file may expire, as in the API of OpenAI."""


@router.post("")
async def keep_file(
    caller: CallerNow,
    app_state: AppStateNow,
    file: Annotated[UploadFile, File()],
    purpose: Annotated[str, Form(max_length=40)] = "user_data",
    seconds: Annotated[int | None, Form(alias="expires_after[seconds]", ge=_SHORTEST, le=_LONGEST)] = None,
) -> dict[str, Any]:
    """Store a file for a week, or for the seconds of `expires_after`."""
    if purpose in _UNSUPPORTED:
        raise InputError(f"files of the purpose {purpose!r} have no use here", "send the purpose user_data")
    data = await file.read((FILE_MB << 20) + 1)
    name = file.filename or ""
    kept = await asyncio.to_thread(app_state.kept.add, caller.id, name, data, purpose, seconds or 0)
    return _described(kept)


@router.get("")
async def list_files(
    caller: CallerNow,
    app_state: AppStateNow,
    purpose: str | None = None,
    after: str | None = None,
    order: Literal["asc", "desc"] = "desc",
    limit: Annotated[int, Query(ge=1, le=10_000)] = 10_000,
) -> dict[str, Any]:
    """List the stored files of the caller, the newest first."""
    found = []
    for file in await asyncio.to_thread(app_state.kept.all, caller.id):
        if purpose in (None, file.purpose):
            found.append(file)
    if order == "desc":
        found.reverse()
    ids = [file.id for file in found]
    if after in ids:
        found = found[ids.index(after) + 1 :]
    page = found[:limit]
    return {
        "object": "list",
        "data": [_described(file) for file in page],
        "has_more": len(found) > limit,
        "first_id": page[0].id if page else None,
        "last_id": page[-1].id if page else None,
    }


@router.get("/{id}")
async def describe_file(caller: CallerNow, app_state: AppStateNow, id: str) -> dict[str, Any]:
    """Return the description of a stored file of the caller."""
    return _described(await asyncio.to_thread(app_state.kept.get, caller.id, id))


@router.get("/{id}/content")
async def send_file(caller: CallerNow, app_state: AppStateNow, id: str) -> Response:
    """Return the content of a stored file of the caller."""
    kept, data = await asyncio.to_thread(app_state.kept.with_data, caller.id, id)
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(kept.name)}"}
    return Response(data, media_type="application/octet-stream", headers=headers)


@router.delete("/{id}")
async def delete_file(caller: CallerNow, app_state: AppStateNow, id: str) -> dict[str, Any]:
    """Delete a stored file of the caller; its conversation does not use it any more."""
    await asyncio.to_thread(app_state.kept.delete, caller.id, id)
    return {"id": id, "object": "file", "deleted": True}


def _described(file: KeptFile) -> dict[str, Any]:
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.size,
        "created_at": int(file.created),
        "expires_at": None if file.ends is None else int(file.ends),
        "filename": file.name,
        "purpose": file.purpose,
        "status": "processed",
        "status_details": None,
    }
