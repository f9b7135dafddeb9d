"""Watch folders by polling, and index them after a change once they are stable.

Polling works on every file system. Network file systems do not send notifications.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragweave.corpora.ingest.events import Event, Report
from ragweave.corpora.ingest.run import Models, index
from ragweave.corpora.ingest.walk import walk
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import LibraryNotFound, RagweaveError

INTERVAL = 2.0
"""Seconds between two polls."""
LONGEST_UNREST = 30.0
"""Seconds after which folders that keep changing are indexed as they are."""


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

    A change is indexed when two polls in a row see the same state. An error of a run is reported once while
    it stays the same, and every poll tries again: a full disk may have room by then, a drive may be back. A
    renamed library is watched under its new name.

    Raises:
        LibraryNotFound: the library was deleted; it is not created again.
        RagweaveError: the first run failed.
    """
    watcher = _Watcher(paths, library, on_report, on_error, on_event, models, loader, _Changes())
    while True:
        await watcher.poll()
        await asyncio.sleep(interval)


@dataclass
class _Watcher:
    """The state of `watch`: the library under its present name, its id, and the last error."""

    paths: Sequence[Path]
    library: str
    on_report: Callable[[Report], None] | None
    on_error: Callable[[RagweaveError], None] | None
    on_event: Callable[[Event], None] | None
    models: Models | None
    loader: str
    changes: _Changes
    id: str = ""
    reported: str = ""

    async def poll(self) -> None:
        """Look at the folders, and index them if they changed and are stable."""
        self.changes.look(await asyncio.to_thread(_look, self.paths))
        try:
            if self.id:
                self.library = (await asyncio.to_thread(stores().catalog.row, self.id)).name
            if self.changes.are_stable():
                await self._index()
            if self.changes.seen == self.changes.indexed:
                self.reported = ""
        except LibraryNotFound as error:
            raise _deleted(self.library) from error
        except RagweaveError as error:
            if not self.changes.indexed:
                raise
            if str(error) != self.reported and self.on_error is not None:
                self.on_error(error)
            self.reported = str(error)

    async def _index(self) -> None:
        report = await index(
            self.paths,
            self.library,
            on_event=self.on_event,
            models=self.models,
            loader=self.loader,
            id=self.id,
        )
        self.id = report.id
        self.changes.indexed_now()
        if self.on_report is not None:
            self.on_report(report)


def _deleted(library: str) -> LibraryNotFound:
    again = f"to make it again: ragweave index FOLDER --library {library!r} --watch"
    return LibraryNotFound(f"The library {library!r}, which was watched, was deleted or moved", again)


@dataclass
class _Changes:
    """Digests of the folders: as seen at this poll, at the last one, and at the last indexing."""

    seen: str = ""
    before: str = ""
    indexed: str = ""
    changing_since: float = 0.0

    def look(self, digest: str) -> None:
        self.before, self.seen = self.seen, digest
        if self.seen == self.indexed or not self.changing_since:
            self.changing_since = time.monotonic()

    def are_stable(self) -> bool:
        """Tell whether there are changes, and nothing changed since the last poll or it took too long."""
        if self.seen == self.indexed:
            return False
        if not self.indexed or self.seen == self.before:
            return True
        return time.monotonic() - self.changing_since > LONGEST_UNREST

    def indexed_now(self) -> None:
        # A change made during the run differs from `seen`, so the next poll finds it.
        self.indexed = self.seen
        self.changing_since = 0.0


def _look(paths: Sequence[Path]) -> str:
    """Return a digest of the sizes and times of all files, which differs after every change."""
    found = walk(paths)
    digest = hashlib.sha256()
    missing = []
    for path, _ in found.skipped:
        if not os.path.lexists(path):
            missing.append(path)
    for path in [*found.files, *missing]:
        try:
            at = os.stat(path)
            state = f"{at.st_size} {at.st_mtime_ns} {at.st_ctime_ns} {at.st_ino}"
        except OSError as error:
            state = str(error.strerror)
        digest.update(os.fsencode(path) + b"\0" + state.encode() + b"\0")
    return digest.hexdigest()
