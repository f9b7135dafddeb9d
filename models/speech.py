"""What an engine of speech recognition is, and what it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from ragweave.models.vad import Sound


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its time in the stretch that was heard, in seconds, and its confidence from 0 to 1."""

    start: float
    end: float
    text: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said in one stretch of sound: "" where nothing was understood, no words where none have times."""

    text: str = ""
    words: tuple[Word, ...] = ()
    confidence: float = 0.0
    language: str = ""
    """ISO 639-1 code, or "" where the recogniser does not tell."""


class Asr(ABC):
    """Writes down speech. Blocking; safe among threads."""

    name: str
    """What is written down by engines of the same name is the same."""
    label: str
    """Kind of engine, as the meta of a clip names it: pocketsphinx, whisper, endpoint."""
    longest: float
    """Seconds of the longest stretch it takes."""
    width: int
    """Stretches that it takes at the same time."""

    def check(self) -> None:
        """Find out that it works, before any work is done.

        Raises:
            RagweaveError: it cannot: a package, its weights, its server or its key is missing or wrong.
        """
        return

    @abstractmethod
    def transcribe(self, sound: Sound, speech: float = 1.0) -> Transcript:
        """Write down one stretch of speech.

        The sound is 16 kHz, one channel; `speech` is how likely it is speech at all, as the voice activity detector
        says.

        Raises:
            ModelError: it failed for good.
        """

    def close(self) -> None:
        """Let go of processes, where there are any; the next call starts them again."""
        return
