"""Speech recognition by faster-whisper: Whisper and its distilled kin, in any language, by CTranslate2."""

from __future__ import annotations

import math
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np

from ragweave.models.device import device_of
from ragweave.models.errors import MissingExtra, ModelError, WeightsError
from ragweave.models.hub import held
from ragweave.models.settings import model_settings
from ragweave.models.speech import Asr, Transcript, Word
from ragweave.models.text import clip
from ragweave.models.vad import Sound

NEEDED = ("config.json", "model.bin", "tokenizer.json")
"""Without one of them faster-whisper would ask the network for it."""
_NOT_SPEECH = 0.8
"""Probability of no speech from which an unsure segment is left out: Whisper tells stories to music."""
_UNSURE = -0.8
"""Mean log probability of a segment below which it is unsure."""


class Whisper(Asr):
    """A Whisper model in the format of CTranslate2.

    It is named by a folder, a size such as `small` or `distil-small.en`, or OWNER/NAME[@REVISION] of the hub.
    """

    label = "whisper"
    longest = 28.0
    width = 1

    def __init__(self, model: str) -> None:
        self.name = f"whisper {model}"
        self._wanted = model
        self._model: Any = None
        self._lock = threading.Lock()

    def check(self) -> None:
        """Load the model, downloading it where it has to be."""
        with self._lock:
            self._model = self._model or _loaded(self._wanted)

    def transcribe(self, sound: Sound, speech: float = 1.0) -> Transcript:
        """Write down one stretch of speech."""
        self.check()
        try:
            with self._lock:
                found, told = self._model.transcribe(
                    sound.astype(np.float32) / 32768.0,
                    word_timestamps=True,
                    condition_on_previous_text=False,
                    vad_filter=False,
                )
                segments = [s for s in found if s.no_speech_prob < _NOT_SPEECH or s.avg_logprob > _UNSURE]
        except Exception as error:
            raise ModelError(f"whisper failed: {clip(str(error), 200)}", "check RAGWEAVE_ASR") from error
        text = " ".join(" ".join(s.text for s in segments).split())
        if not text:
            return Transcript()
        words = tuple(
            Word(float(w.start), float(w.end), w.word.strip(), round(float(w.probability), 3))
            for s in segments
            for w in s.words or ()
            if w.word.strip()
        )
        sure = sum(math.exp(s.avg_logprob) * (s.end - s.start) for s in segments)
        lasted = sum(s.end - s.start for s in segments)
        language = str(getattr(told, "language", "") or "")
        return Transcript(text, words, round(sure / lasted, 3) if lasted else 0.0, language)


def _loaded(wanted: str) -> Any:
    try:
        from ctranslate2 import get_cuda_device_count
        from faster_whisper import WhisperModel
    except ImportError as error:
        raise MissingExtra(f"transcribing by whisper:{wanted}", "video") from error
    settings = model_settings()
    folder = Path(wanted).expanduser()
    device, _, number = device_of(get_cuda_device_count(), "ctranslate2").partition(":")
    name, _, revision = (str(folder), "", "") if folder.is_dir() else wanted.partition("@")
    if (kept := held(name, revision, NEEDED)) is not None:  # nobody need be asked whether it is still the same
        name, revision = str(kept), ""
    try:
        return WhisperModel(
            name,
            revision=revision or None,
            download_root=str(settings.weights / "hub"),
            local_files_only=settings.offline,
            device=device,
            device_index=int(number or 0),
            cpu_threads=max(1, (os.cpu_count() or 2) // 2),
        )
    except Exception as error:
        advice = "unset RAGWEAVE_OFFLINE once" if settings.offline else "check the name and the network"
        raise WeightsError(
            f"the whisper model {wanted} cannot be loaded: {type(error).__name__}: {clip(str(error), 200)}",
            f"give a folder in the format of CTranslate2, or {advice}",
        ) from error
