"""Frames for clips of a transcript, so that tests of looking at frames need no video."""

from __future__ import annotations

import asyncio
import base64
import json
from contextlib import suppress
from pathlib import Path

from sqlalchemy import select, update

from ragweave.components import look as looking
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.schema import items
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import LibraryError
from ragweave.tests.support.library import build_library

PIXEL = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP////////////////////////////////////////////////////////"
    "//////////////////////"
    "////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AN//Z"
)
"""A JPEG file of one grey pixel."""


TALK = """WEBVTT

00:00:00.000 --> 00:00:05.000
The red bridge was built in 1931.

00:00:35.000 --> 00:00:40.000
The river under the red bridge is deep.
"""


async def filmed(folder: Path) -> None:
    """Index a recording of two clips that have frames; its file is gone, and no model is known as blind."""
    await build_library(folder / "talks", {"tour.vtt": TALK})
    await asyncio.to_thread(add_frames)
    (folder / "talks" / "tour.vtt").unlink()
    looking._blind.clear()


def add_frames(name: str = "default", count: int = 15) -> int:
    """Give every clip of a library `count` frames, all of them one grey pixel; return the number of clips."""
    held = stores()
    library = held.catalog.library(name)
    media = Media.of(library.id)
    mine = items.c.corpus == "clip"
    with held.catalog.reading(library.id) as connection:
        rows = connection.execute(
            select(items.c.n, items.c.source, items.c.locator, items.c.meta).where(mine)
        ).all()
    with held.catalog.writing(library.id) as connection:
        for n, source, locator, meta in rows:
            start, end = float(locator["start"]), float(locator["end"])
            frames = [[start + (end - start) * at / count, f"{source}/{n}-{at}.jpg"] for at in range(count)]
            for _, media_id in frames:
                with suppress(LibraryError):  # the file is there already
                    media.write(str(media_id), [PIXEL])
            changed = {**meta, "frames": json.loads(json.dumps(frames))}
            connection.execute(update(items).where(items.c.n == n).values(meta=changed))
    return len(rows)
