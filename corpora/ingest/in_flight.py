"""How much of a run is on its way at a time."""

from __future__ import annotations

import threading


class Budget:
    """Bytes of files on their way; the scan waits here while the stages behind it are busy."""

    def __init__(self, limit: int, stop: threading.Event) -> None:
        self._limit = limit
        self._stop = stop
        self._held: dict[str, int] = {}
        self._changed = threading.Condition()

    def take(self, path: str, size: int) -> None:
        """Wait until the file fits, or is alone."""
        cost = max(size, 2**14)  # so that very many tiny files are bounded as well
        with self._changed:
            while self._held and sum(self._held.values()) + cost > self._limit and not self._stop.is_set():
                self._changed.wait(timeout=0.2)
            self._held[path] = cost

    def give(self, path: str) -> None:
        """A file has left the pipeline."""
        with self._changed:
            self._held.pop(path, None)
            self._changed.notify()
