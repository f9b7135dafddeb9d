"""Report the progress of a pipeline: events for the caller, numbers for the report."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from ragweave.corpora.ingest.events import Event, Report, Stage
from ragweave.corpora.store.commit import FileOutcome


class Progress:
    """Tells what becomes of each file; safe among threads."""

    def __init__(self, report: Report, tell: Callable[[Event], None]) -> None:
        self._report = report
        self._tell = tell
        self._lock = threading.Lock()
        self.later: list[str] = []
        """Files that the pass over the texts has left."""

    def staged(self, outcomes: Sequence[FileOutcome], stage: Stage) -> None:
        """Report that the files of a batch that were read enter a stage."""
        for outcome in outcomes:
            if outcome.prepared is not None:
                self._tell(Event("staged", outcome.file.path, stage))

    def unchanged(self, path: str) -> None:
        """Report a file that is as the catalog knows it."""
        self._report.unchanged += 1
        self._tell(Event("unchanged", path))

    def failed(self, path: str, reason: str) -> None:
        """Report a file that could not be read."""
        with self._lock:
            self._report.failed.append((path, reason))
        self._tell(Event("failed", path, reason=reason))

    def left(self, path: str, kind: str, count: int, items: int = 0) -> None:
        """Report a file that is left, whole or with its pictures, to the next pass."""
        with self._lock:
            self.later.append(path)
        self._tell(Event("later", path, kind, items=items, total=count))

    def spent(self, stage: Stage, began: float) -> None:
        """Add the time since `began`, a monotonic time, to the seconds of a stage."""
        with self._lock:
            self._report.busy[stage] += time.monotonic() - began

    def far(self, path: str, stage: str, done: float, total: float) -> None:
        """Report the progress of a stage of a recording, or of the pictures of a file."""
        self._tell(Event("perceived", path, stage, done=done, total=total))
