"""What an engine of speech recognition is, and what it returns."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from ragweave.models.vad import Sound

_SCALE = 0.6
"""Brings what half of the words are wrong of below the .7 from which speech counts as surely heard (docs/video.md)."""


def confidence_of(logprob: float) -> float:
    """Return the confidence, 0 to 1, that goes with the mean log probability of a segment, as Whisper states it."""
    return math.exp(_SCALE * min(0.0, max(logprob, -100.0)))


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its time in the window that was heard, in seconds, and its confidence from 0 to 1."""

    start: float
    end: float
    text: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said in one window of sound: "" if nothing was understood, no words if none have times."""

    text: str = ""
    words: tuple[Word, ...] = ()
    confidence: float = 0.0
    """From 0 to 1: the mean of its words'."""
    language: str = ""
    """ISO 639-1 code, or "" if the recogniser names none."""


class Asr(ABC):
    """Writes down speech. Blocking; safe among threads."""

    name: str
    """Engine and model: what engines of the same name write down is the same."""
    label: str
    """Kind of engine, as the meta of a clip names it: whisper, endpoint."""
    longest: float
    """Seconds of the longest window it takes."""
    width: int
    """Windows that it takes at the same time."""

    def check(self) -> None:
        """Find out that it works, before any work is done.

        Raises:
            RagweaveError: it cannot: a package, its weights, its server or its key is missing or wrong.
        """
        return

    @abstractmethod
    def transcribe(self, sound: Sound, language: str = "") -> Transcript:
        """Write down one window of speech.

        The sound is 16 kHz, one channel; `language` is the one that most of the recording was in so far, ""
        at its beginning.

        Raises:
            ModelError: it failed for good.
        """
