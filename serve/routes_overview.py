"""The front page of a library, and what may be asked next."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from ragweave.serve import overview
from ragweave.serve.access import CallerNow, library_named

router = APIRouter(prefix="/api")


@router.get("/overview")
async def front_page(caller: CallerNow, library: str) -> dict[str, Any]:
    """Return a timeline of a library and questions that it answers, each line with its place."""
    row = await library_named(caller, library)
    return {"library": row.name, **await overview.overview(row)}


@router.get("/next")
async def what_next(
    caller: CallerNow,
    library: str,
    item: Annotated[list[str], Query(max_length=20)],
    asked: Annotated[str, Query(max_length=2_000)] = "",
) -> dict[str, Any]:
    """Return questions and sections that lie next to the items of an answer."""
    row = await library_named(caller, library)
    return await overview.follow_ups(row, [id.partition("#")[0] for id in item], asked)
