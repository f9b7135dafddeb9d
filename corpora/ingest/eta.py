"""How long a run will still take, told from how fast it has been so far."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ragweave.corpora.ingest.events import Event
from ragweave.corpora.video.estimate import HEARING, LOOKING

_FILES = 3
"""Files that must be over before they tell how long one takes."""
_STEPS = 500
"""Last steps of a stage that tell its speed."""
_SKIPPED = 20
"""A step that is so many times faster than the others was no work: it was perceived by an earlier run, or silence."""
_OVER = ("done", "linked", "failed", "unchanged")


@dataclass(slots=True)
class _Stage:
    """One stage of perceiving: (done, total) of each recording that is not over, in seconds of it or clips."""

    usual: float
    far: dict[str, tuple[float, float]] = field(default_factory=dict)
    steps: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=_STEPS))
    at: float = 0.0

    def note(self, path: str, done: float, total: float, now: float) -> None:
        before, _ = self.far.get(path, (0.0, 0.0))
        self.far[path] = (done, total)
        if done > before:
            self.steps.append((max(now - self.at, 1e-6), done - before))
        if done or not self.at:
            self.at = now

    def left(self) -> float:
        """Return the seconds by the clock that the recordings still take in this stage."""
        return self._rate() * sum(max(0.0, total - done) for done, total in self.far.values())

    def _rate(self) -> float:
        if not self.steps:
            return self.usual
        half, middle = sum(took for took, _ in self.steps) / 2, 0.0
        for took, done in sorted(self.steps, key=lambda step: step[0] / step[1]):
            half, middle = half - took, took / done
            if half <= 0:
                break
        work = [(took, done) for took, done in self.steps if took / done * _SKIPPED >= middle]
        return sum(took for took, _ in work) / sum(done for _, done in work)


class Rest:
    """Tells each event of a run with the seconds that are left by the clock. Safe among threads.

    Texts take as long as those before them. Of recordings it is told how much there is to look at and to hear as soon
    as they are found; the slowest stage of them, at the speed that it has shown, sets the time.
    """

    def __init__(self, tell: Callable[[Event], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._clock = tell, clock
        self._lock = threading.Lock()
        self._began, self._total, self._texts = clock(), 0, 0
        self._recordings: set[str] = set()
        self._stages = {"look": _Stage(LOOKING), "asr": _Stage(HEARING["pocketsphinx"][0])}

    def event(self, event: Event) -> None:
        """Tell an event, and how much is left after it."""
        with self._lock:
            self._note(event)
            left = self._left()
        self._tell(replace(event, left=round(left, 1)))

    def _note(self, event: Event) -> None:
        if event.kind == "started":
            self._began, self._total = self._clock(), int(event.total)
        elif event.kind == "perceived":
            self._recordings.add(event.path)
            stage = self._stages.setdefault(event.stage, _Stage(0.0))
            stage.note(event.path, event.done, event.total, self._clock())
        elif event.kind in _OVER:
            self._texts += event.path not in self._recordings
            for stage in self._stages.values():
                stage.far.pop(event.path, None)

    def _left(self) -> float:
        """Return the seconds that are left; 0 where nobody can tell yet."""
        texts = 0.0
        if self._texts >= _FILES:
            waiting = self._total - len(self._recordings) - self._texts
            texts = max(0, waiting) * (self._clock() - self._began) / self._texts
        return max(texts, *(stage.left() for stage in self._stages.values()))
