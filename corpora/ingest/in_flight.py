"""How much of a run is on its way at a time."""

from __future__ import annotations

import threading
from collections.abc import Mapping


class Budget:
    """Bytes of files on their way; the scan waits here while the stages behind it are busy."""

    def __init__(self, limit: int, stop: threading.Event) -> None:
        self._limit = limit
        self._stop = stop
        self._held: dict[str, int] = {}
        self._changed = threading.Condition()

    def take(self, sizes: Mapping[str, int]) -> None:
        """Wait until files fit, or are alone, by their paths."""
        cost = {}
        for path, size in sizes.items():
            cost[path] = max(size, 2**14)  # so that very many tiny files are bounded
        needed = sum(cost.values())
        with self._changed:
            while self._held and sum(self._held.values()) + needed > self._limit and not self._stop.is_set():
                self._changed.wait(timeout=0.2)
            self._held |= cost

    def give(self, path: str) -> None:
        """A file has left the pipeline."""
        with self._changed:
            self._held.pop(path, None)
            self._changed.notify()
