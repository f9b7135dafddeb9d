"""Serve the moments that an answer cites as one video."""

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
    """A span of a recording, in seconds; `id` is an item of the recording."""

    id: str = Field(max_length=200)
    start: float = Field(ge=0, le=1e6)
    end: float = Field(ge=0, le=1e6)


class FilmWanted(Body):
    """The moments of a video, in order."""

    moments: list[FilmMoment] = Field(min_length=1, max_length=MOMENTS)


@router.post("/media/{library}/film")
async def cited_film(row: LibraryOfId, app_state: AppStateNow, body: FilmWanted) -> FileResponse:
    """Return moments of recordings as one MP4, each after a title card with its file and seconds."""
    catalog, ids = stores().catalog, [moment.id for moment in body.moments]
    sources = await asyncio.to_thread(lambda: catalog.sources_of(row.id, ids))
    places: list[Locator] = []
    for moment in body.moments:
        source = sources.get(moment.id)
        if source is not None and source.kind in RECORDINGS:
            places.append({"kind": "time", "file": source.path, "start": moment.start, "end": moment.end})
    if not places:
        raise NotFound(
            "There is no such recording", "it may have been removed, or indexed anew, since it was cited"
        ).named("recording_not_found")
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
