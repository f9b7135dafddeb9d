"""Speech recognition (ASR) behind one protocol. pocketsphinx ships with the extra `video`; the others by setting."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec

from ragweave.models.errors import InputError
from ragweave.models.settings import ModelSettings, model_settings
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


def asr(name: str | None = None) -> Asr | None:
    """Return what hears speech, opened once per process; None where it is off or the extra `video` is missing.

    The name is one that RAGWEAVE_ASR takes; the setting's when not given.

    Raises:
        InputError: the name is of no known form.
    """
    settings = model_settings()
    wanted = settings.asr if name is None else name
    if wanted == "off" or (wanted == "auto" and not embedded()):
        return None
    with _loading:
        return _load(wanted, settings)


def embedded() -> bool:
    """Say whether the packages of the embedded engine are there, without importing them."""
    return all(find_spec(name) is not None for name in ("pocketsphinx", "faster_whisper", "onnxruntime"))


_loading = threading.Lock()


@lru_cache(maxsize=2)
def _load(name: str, settings: ModelSettings) -> Asr:
    kind, _, model = name.partition(":")
    if name in ("auto", "pocketsphinx"):
        from ragweave.models.asr_sphinx import Sphinx

        return Sphinx()
    if kind == "whisper" and model:
        from ragweave.models.asr_whisper import Whisper

        return Whisper(model)
    if kind == "api" and model:
        from ragweave.models.asr_api import TranscriptionServer

        _, url, key = settings.endpoint("asr")
        return TranscriptionServer(model, url, key.get_secret_value())
    raise InputError(
        f"RAGWEAVE_ASR cannot be used: {name!r}", "set it to auto, off, pocketsphinx, whisper:NAME or api:MODEL"
    )
