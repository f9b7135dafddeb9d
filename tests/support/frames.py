"""Frames for clips that were indexed from a transcript, so that a look at them can be tested without a video."""

from __future__ import annotations

import base64
import json
from contextlib import suppress

from sqlalchemy import select, update

from ragweave.corpora.store.media import Media
from ragweave.corpora.store.schema import items
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import LibraryError

PIXEL = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////"
    "////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AN//Z"
)
"""A JPEG file of one grey pixel."""


def add_frames(name: str = "default", count: int = 15) -> int:
    """Give every clip of a library `count` frames, all of them one grey pixel; return the number of clips."""
    held = stores()
    library = held.catalog.library(name)
    media = Media.of(library.id)
    mine = items.c.corpus == "clip"
    with held.catalog.reading(library.id) as connection:
        rows = connection.execute(select(items.c.n, items.c.source, items.c.locator, items.c.meta).where(mine)).all()
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
