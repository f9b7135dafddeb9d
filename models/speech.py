"""Define speech recognisers and their transcripts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from ragweave.models.vad import Sound

_SCALE = 0.6
"""Maps segments with half of the words wrong to less than .7, the limit of certain speech (docs/video.md)."""


def confidence_of(logprob: float) -> float:
    """Return the confidence in [0, 1] for the mean log probability of a segment by Whisper."""
    return math.exp(_SCALE * min(0.0, max(logprob, -100.0)))


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its time in the window in seconds, and its confidence in [0, 1]."""

    start: float
    end: float
    text: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """The speech in one window: text "" if nothing was understood, no words if they have no times."""

    text: str = ""
    words: tuple[Word, ...] = ()
    confidence: float = 0.0
    """The mean confidence of the words, in [0, 1]."""
    language: str = ""
    """ISO 639-1 code, or "" if the recogniser names none."""


class Asr(ABC):
    """Transcribe speech. Blocking; thread-safe."""

    name: str
    """Engine and model; recognisers of the same name give the same transcripts."""
    label: str
    """Kind of engine in the meta of a clip: whisper, endpoint."""
    longest: float
    """Seconds of the longest window."""
    width: int
    """Windows that it transcribes at the same time."""

    def check(self) -> None:
        """Check that the recogniser works before any work is done.

        Raises:
            RagweaveError: if a package, the weights, the server or the key is missing or wrong.
        """
        return

    @abstractmethod
    def transcribe(self, sound: Sound, language: str = "") -> Transcript:
        """Transcribe one window of speech.

        The sound has 16 kHz and one channel. `language` is the main language of the recording so far, "" at
        its beginning.

        Raises:
            ModelError: if the recogniser failed for good.
        """
