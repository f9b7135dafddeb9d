"""The moments that an answer cites, as one film to keep."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse
from pydantic import Field
from starlette.background import BackgroundTask

from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Locator
from ragweave.corpora.video.film import MOMENTS, make_film, moments_of
from ragweave.corpora.video.intake import RECORDINGS
from ragweave.serve.access import LibraryOfId
from ragweave.serve.app_state import AppStateNow, Body
from ragweave.serve.problems import NotFound

router = APIRouter()


class FilmMoment(Body):
    """Seconds of the recording that an item stands in."""

    id: str = Field(max_length=200)
    start: float = Field(ge=0, le=1e6)
    end: float = Field(ge=0, le=1e6)


class FilmWanted(Body):
    """The moments of a film, in their order."""

    moments: list[FilmMoment] = Field(min_length=1, max_length=MOMENTS)


@router.post("/media/{library}/film")
async def cited_film(row: LibraryOfId, app_state: AppStateNow, body: FilmWanted) -> FileResponse:
    """Make one MP4 of moments of recordings, each under a card with its file and seconds, and send it."""
    catalog, ids = stores().catalog, [m.id for m in body.moments]
    held = await asyncio.to_thread(lambda: catalog.sources_of(row.id, ids))
    places: list[Locator] = [
        {"kind": "time", "file": held[m.id].path, "start": m.start, "end": m.end}
        for m in body.moments
        if m.id in held and held[m.id].kind in RECORDINGS
    ]
    if not places:
        raise NotFound(
            "There is no such recording", "it may have been removed, or indexed anew, since it was cited"
        ).named("no_such_recording")
    folder = Path(tempfile.mkdtemp(prefix="ragweave-"))
    try:
        with app_state.slots.held():
            await asyncio.to_thread(make_film, moments_of(places), folder / "film.mp4")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    done = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    kept = {"Cache-Control": "no-store"}
    return FileResponse(
        folder / "film.mp4", media_type="video/mp4", filename="film.mp4", headers=kept, background=done
    )
