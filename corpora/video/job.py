"""Hold everything that the stages of perceiving one recording share."""

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
"""Frames of a clip that are compared and stored (VideoRAG)."""
SHORT = 32
"""Frames of a whole recording that is shorter than this many frames at the usual interval."""
_SHORTEST = 0.2
"""Lowest number of seconds between two frames."""
Tell = Callable[[str, float, float], None]
"""A callback for progress: stage, amount done, total amount; in seconds or clips."""
_Piece = TypeVar("_Piece")


class JobStopped(Exception):
    """The run was stopped; the outcomes so far are kept."""


@dataclass(frozen=True, slots=True)
class Work:
    """One recording to perceive, with everything that its stages share.

    The recordings of a run share the locks: one recording is in the picture stage while another is in the
    sound stage and a third one is captioned. Each stage takes as many cores as it can use, so two recordings
    in one stage would only wait for each other.

    Attributes:
        path: file of the recording.
        demuxer: ffmpeg's demuxer for it.
        sha256: digest of its bytes.
        container: its streams.
        title: title in the container, "" if there is none.
        kept: outcomes of its stages.
        tell: callback for progress.
        asr: engine for its speech.
        unheard: why there is no engine.
        ocr: reader of text on the screen.
        written: subtitles from a file next to it.
        stop: once set, each stage ends at its next step.
        looking: lock of the picture stage.
        listening: lock of the sound stage.
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
        usual = CLIP_SECONDS / FINE
        duration = self.container.duration
        if duration <= 0:
            return usual
        return round(max(_SHORTEST, min(usual, duration / SHORT)), 3)

    def raise_if_stopped(self) -> None:
        """Raise `JobStopped` if the run was stopped."""
        if self.stop.is_set():
            raise JobStopped

    def unless_stopped(self, pieces: Iterator[_Piece]) -> Iterator[_Piece]:
        """Yield pieces; raise `JobStopped` as soon as the run is stopped."""
        self.raise_if_stopped()
        for piece in pieces:
            yield piece
            self.raise_if_stopped()
