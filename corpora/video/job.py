"""A recording to perceive, with what, and what may happen meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from ragweave.corpora.video.items import CLIP_SECONDS
from ragweave.corpora.video.perceived import Perceived
from ragweave.corpora.video.recording import Cue
from ragweave.corpora.video.streams import Container
from ragweave.models.asr import Asr
from ragweave.models.ocr import Ocr

FINE = 15
"""Frames of a clip that are looked at and kept (VideoRAG)."""
SHORT = 32
"""Frames of a whole recording that is too short to have as many by the clock."""
_SHORTEST = 0.2
"""Seconds between two frames, at least."""
Tell = Callable[[str, float, float], None]
"""Told the stage, how much of it is done, and how much there is: seconds, or clips."""
_Piece = TypeVar("_Piece")


class JobStopped(Exception):
    """The run was stopped; what was done is kept."""


@dataclass(frozen=True, slots=True)
class Work:
    """One recording to perceive, with everything that its stages share; when `stop` is set, they end at the next step.

    The locks are shared by the recordings of a run: one is looked at while another is heard and a third one
    captioned. Each stage takes as many cores as it can use, so that two in one stage would only wait for one
    another. `written` are subtitles that lie beside it; without an engine, `unheard` says why nothing hears.
    """

    path: str
    demuxer: str
    sha256: str
    container: Container
    title: str
    kept: Perceived
    tell: Tell
    asr: Asr | None = None
    unheard: str = ""
    ocr: Ocr | None = None
    written: tuple[Cue, ...] = ()
    stop: threading.Event = field(default_factory=threading.Event)
    looking: threading.Lock = field(default_factory=threading.Lock)
    listening: threading.Lock = field(default_factory=threading.Lock)

    @property
    def every(self) -> float:
        """Seconds between two frames."""
        usual, claimed = CLIP_SECONDS / FINE, self.container.duration
        return round(max(_SHORTEST, min(usual, claimed / SHORT)), 3) if 0 < claimed else usual

    def go_on(self) -> None:
        """Raise where the run was stopped."""
        if self.stop.is_set():
            raise JobStopped

    def unless_stopped(self, pieces: Iterator[_Piece]) -> Iterator[_Piece]:
        """Yield what comes, and raise where the run was stopped meanwhile."""
        self.go_on()
        for piece in pieces:
            yield piece
            self.go_on()
