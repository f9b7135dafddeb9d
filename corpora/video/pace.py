"""How fast the stages of a recording go, and how long they will take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_EVERY = 0.25
"""Seconds between two events of one stage."""


class Pace:
    """Adds to what a stage has done the time left.

    What was kept from an earlier run passes in no time, so that the pace is that of the last minute or so.

    Args:
        tell: told stage, done, total and the seconds left, from several threads.
    """

    def __init__(self, tell: Callable[[str, float, float, float], None]) -> None:
        self._tell = tell
        self._began: dict[str, tuple[float, float]] = {}
        self._told: dict[str, float] = {}
        self._lock = threading.Lock()

    def __call__(self, stage: str, done: float, total: float) -> None:
        """Take note that a stage has come so far."""
        now = time.monotonic()
        with self._lock:
            if done < total and now - self._told.get(stage, -1.0) < _EVERY:
                return
            self._told[stage] = now
            since, first = self._began.setdefault(stage, (now, done))
            if now - since > 60:
                self._began[stage] = (now, done)
        left = (now - since) / (done - first) * max(0.0, total - done) if done > first else 0.0
        self._tell(stage, done, max(done, total), left)
