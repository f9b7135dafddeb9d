"""Hearing by moonshine-voice: small models for plain CPUs. Its package brings no model, it downloads one."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np

from ragweave.models.asr import Heard, Word
from ragweave.models.errors import InputError, ModelError, WeightsError
from ragweave.models.settings import model_settings
from ragweave.models.text import clip
from ragweave.models.vad import RATE, Sound

_SURE = 0.9
"""Confidence of words for which it states none."""


class Moonshine:
    """A Moonshine model.

    Args:
        model: architecture, such as `tiny` or `base`; or ARCHITECTURE@FOLDER for a copy on this machine.
        language: ISO 639-1 code; other models than the English ones have a licence of their own.
    """

    label = "moonshine"
    longest = 20.0
    width = 1

    def __init__(self, model: str, language: str = "en") -> None:
        self.name = f"moonshine {model} {language}"
        self._wanted = model
        self._language = language
        self._model: Any = None
        self._lock = threading.Lock()

    def check(self) -> None:
        """Load the model, downloading it where it has to be."""
        with self._lock:
            self._model = self._model or _loaded(self._wanted, self._language)

    def hear(self, sound: Sound, speech: float = 1.0) -> Heard:
        """Write down one stretch of speech."""
        self.check()
        try:
            with self._lock:
                told = self._model.transcribe_without_streaming((sound.astype(np.float32) / 32768.0).tolist(), RATE)
        except Exception as error:
            raise ModelError(f"moonshine failed: {clip(str(error), 200)}", "check RAGWEAVE_ASR") from error
        lines = [line for line in told.lines if line.text.strip()]
        words = tuple(w for line in lines for w in _words(line))
        text = " ".join(" ".join(line.text for line in lines).split())
        sure = sum(w.confidence for w in words) / len(words) if words else 0.0
        return Heard(text, words, round(sure, 3), self._language) if text else Heard()

    def close(self) -> None:
        """Keep the model: loading it costs seconds."""


def _words(line: Any) -> list[Word]:
    """Return the words of a line, or the line as one, where the model tells no times of words."""
    if line.words:
        return [Word(float(w.start), float(w.end), w.word.strip(), float(w.confidence)) for w in line.words]
    return [Word(float(line.start_time), float(line.start_time + line.duration), line.text.strip(), _SURE)]


def _loaded(wanted: str, language: str) -> Any:
    try:
        from moonshine_voice import get_model_for_language, string_to_model_arch
        from moonshine_voice.transcriber import Transcriber
    except (ImportError, OSError) as error:  # its import also opens a shared library
        raise InputError(
            f"hearing by moonshine:{wanted} needs the package moonshine-voice",
            "install it: pip install moonshine-voice",
        ) from error
    settings = model_settings()
    architecture, _, folder = wanted.partition("@")
    try:
        arch = string_to_model_arch(architecture)
    except Exception as error:
        raise InputError(f"moonshine has no model {architecture!r}", "name one such as moonshine:base") from error
    options: dict[str, str] = {}
    if not folder:
        if settings.offline:
            raise WeightsError("RAGWEAVE_OFFLINE forbids fetching a moonshine model", "give moonshine:ARCH@FOLDER")
        cache = settings.weights / "moonshine"
        try:
            folder, arch = get_model_for_language(
                language, arch, cache_root=cache, on_progress=lambda *_: None, include_word_timestamps=True
            )
            options = {"word_timestamps": "true"}
        except Exception as error:
            raise WeightsError(
                f"the moonshine model {architecture} cannot be fetched: {clip(str(error), 200)}",
                "check the name, the language and the network",
            ) from error
    try:
        return Transcriber(Path(folder), arch, options=options)
    except Exception as error:
        raise WeightsError(
            f"the moonshine model in {folder} cannot be loaded: {clip(str(error), 200)}", "fetch it again"
        ) from error
