"""Keeping a library fresh: look at the folders again and again, index when something has changed and come to rest.

Looking again works on every file system, also on those over a network, where a system's notices are not sent.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ragweave.corpora.ingest.events import Event, Report
from ragweave.corpora.ingest.run import Models, index
from ragweave.corpora.ingest.walk import walk
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import LibraryNotFound, RagweaveError

INTERVAL = 2.0
"""Seconds between two looks."""
LONGEST_UNREST = 30.0
"""Seconds after which a folder that never comes to rest is indexed as it is."""


async def watch(
    paths: Sequence[Path],
    library: str = "default",
    *,
    interval: float = INTERVAL,
    on_report: Callable[[Report], None] | None = None,
    on_error: Callable[[RagweaveError], None] | None = None,
    on_event: Callable[[Event], None] | None = None,
    models: Models | None = None,
    loader: str = "",
) -> None:
    """Index files and folders now and after every change, until cancelled.

    A change counts when two looks in a row have seen the same. What goes wrong in a run is told, once for as
    long as it stays the same, and the run is tried again at every look: a full disk may have room again, a
    drive may be back. A library that is renamed is watched under its new name.

    Raises:
        LibraryNotFound: the library was deleted, and is not made again.
        RagweaveError: the first run could not be made.
    """
    indexed, before, restless, told, id = "", "", 0.0, "", ""
    while True:
        seen = await asyncio.to_thread(_look, paths)
        restless = restless if seen != indexed and restless else time.monotonic()
        rested = seen == before or not indexed or time.monotonic() - restless > LONGEST_UNREST
        try:
            if id:
                library = (await asyncio.to_thread(stores().catalog.row, id)).name
            if seen != indexed and rested:
                report = await index(paths, library, on_event=on_event, models=models, loader=loader, id=id)
                id = report.id
                # What changed while the run was at work differs from `seen`, and is found by the next look.
                indexed, restless = seen, 0.0
                if on_report is not None:
                    on_report(report)
            if seen == indexed:
                told = ""
        except LibraryNotFound as error:
            again = f"to make it anew: ragweave index FOLDER --library {library!r} --watch"
            raise LibraryNotFound(
                f"The library {library!r}, which was watched, was deleted or moved", again
            ) from error
        except RagweaveError as error:
            if not indexed:
                raise
            if str(error) != told and on_error is not None:
                on_error(error)
            told = str(error)
        before = seen
        await asyncio.sleep(interval)


def _look(paths: Sequence[Path]) -> str:
    """Return a digest of everything that tells from outside that a file has changed, come or gone."""
    found = walk(paths)
    digest = hashlib.sha256()
    for path in [*found.files, *(p for p, _ in found.skipped if not os.path.lexists(p))]:
        try:
            at = os.stat(path)
            state = f"{at.st_size} {at.st_mtime_ns} {at.st_ctime_ns} {at.st_ino}"
        except OSError as error:
            state = str(error.strerror)
        digest.update(os.fsencode(path) + b"\0" + state.encode() + b"\0")
    return digest.hexdigest()
