"""Speech recognition by faster-whisper: Whisper and its distilled kin, in any language, by CTranslate2."""

from __future__ import annotations

import math
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.models.device import device_of
from ragweave.models.errors import InputError, MissingExtra, ModelError, WeightsError
from ragweave.models.hub import fetch, held, verify
from ragweave.models.offers import OFFERS, Offer
from ragweave.models.settings import model_settings
from ragweave.models.speech import Asr, Transcript, Word, confidence_of
from ragweave.models.text import clip
from ragweave.models.vad import Sound

NEEDED = ("config.json", "model.bin", "tokenizer.json")
"""Without one of them faster-whisper would ask the network for it."""
ENGLISH = "en"
_NOT_SPEECH = 0.6
"""Probability of no speech from which an unsure segment is left out (Radford et al. 2022, section 4.5)."""
_UNSURE = -0.8
"""Mean log probability of a segment below which it is unsure."""
_CONFIDENT = 0.7
"""Mean confidence of the words of a window from which its language is not in doubt."""
_TELLS = 0.8
"""Probability from which one window says that it is in another language than the recording before it."""
_TEMPERATURES = (0.0, 0.4, 0.8)
"""Tried in turn on a segment that repeats itself or is unlikely; the package's own six cost twice the time."""


class Whisper(Asr):
    """One Whisper model in the format of CTranslate2, or two: an English one, `+`, and one for every other language.

    A model is named by a folder, a size such as `small` or `distil-small.en`, or OWNER/NAME[@REVISION] of the
    hub. An English model is smaller for the same quality, and writes English words for any other language.
    """

    label = "whisper"
    longest = 28.0
    width = 1

    def __init__(self, wanted: str) -> None:
        self.name = f"whisper {wanted}"
        named = [wanted] if Path(wanted).expanduser().is_dir() else wanted.split("+")
        if len(named) > 2 or not all(named):
            remedy = "name one model, or an English one and another with + between them"
            raise InputError(f"RAGWEAVE_ASR cannot be used: {wanted!r}", remedy)
        self._named = named
        self._models: list[Any] = []
        self._lock = threading.Lock()

    def check(self) -> None:
        """Load the models, downloading what has to be."""
        with self._lock:
            self._models = self._models or [_loaded(name) for name in self._named]

    def transcribe(self, sound: Sound, language: str = "") -> Transcript:
        """Write down one window of speech by the model for its language."""
        self.check()
        samples = sound.astype(np.float32) / 32768.0
        try:
            with self._lock:
                return self._heard(samples, language)
        except Exception as error:
            raise ModelError(f"whisper failed: {clip(str(error), 200)}", "check RAGWEAVE_ASR") from error

    def _heard(self, samples: NDArray[np.float32], language: str) -> Transcript:
        english = next((m for m in self._models if m.supported_languages == [ENGLISH]), None)
        others = next((m for m in self._models if m is not english), None)
        if others is None:
            return _transcript(english, samples, ENGLISH)
        if english is not None and language == ENGLISH:
            found = _transcript(english, samples, ENGLISH)
            if found.confidence >= _CONFIDENT:
                return found
        spoken = _language(others, samples, language)
        if english is None or spoken != ENGLISH:
            return _transcript(others, samples, spoken)
        return found if language == ENGLISH else _transcript(english, samples, ENGLISH)


def _language(model: Any, samples: NDArray[np.float32], before: str) -> str:
    """Return the language of a window: what the recording was in `before`, unless the window clearly says another."""
    spoken, sure, _ = model.detect_language(samples)
    return str(spoken) if not before or sure >= _TELLS else before


def _transcript(model: Any, samples: NDArray[np.float32], language: str) -> Transcript:
    from ctranslate2 import set_random_seed

    set_random_seed(0)  # higher temperatures draw words by chance
    found, _ = model.transcribe(
        samples,
        language=language,
        temperature=_TEMPERATURES,
        word_timestamps=True,
        condition_on_previous_text=False,
        vad_filter=False,
    )
    # Whisper tells stories to music.
    segments = [s for s in found if s.no_speech_prob < _NOT_SPEECH or s.avg_logprob > _UNSURE]
    text = " ".join(" ".join(s.text for s in segments).split())
    words = tuple(_word(w, s.avg_logprob) for s in segments for w in s.words or () if w.word.strip())
    if not text or not words:
        return Transcript()
    sure = sum(w.confidence for w in words) / len(words)
    return Transcript(text, words, round(sure, 3), language)


def _word(found: Any, logprob: float) -> Word:
    """Return a word as sure as it is itself, and no surer than its segment."""
    sure = min(confidence_of(logprob), confidence_of(math.log(max(found.probability, 1e-9))))
    return Word(float(found.start), float(found.end), found.word.strip(), round(sure, 3))


def _loaded(wanted: str) -> Any:
    try:
        from ctranslate2 import get_cuda_device_count
        from faster_whisper import WhisperModel
    except ImportError as error:
        raise MissingExtra(f"transcribing by whisper:{wanted}", "video") from error
    settings = model_settings()
    device, _, number = device_of(get_cuda_device_count(), "ctranslate2").partition(":")
    name, revision = _found(wanted)
    try:
        return WhisperModel(
            name,
            revision=revision or None,
            download_root=str(settings.weights / "hub"),
            local_files_only=settings.offline,
            device=device,
            device_index=int(number or 0),
            # On a CPU a third of the time, and no more words wrong (docs/video.md).
            compute_type="int8" if device == "cpu" else "default",
            cpu_threads=max(1, (os.cpu_count() or 2) // 2),
        )
    except Exception as error:
        advice = "unset RAGWEAVE_OFFLINE once" if settings.offline else "check the name and the network"
        raise WeightsError(
            f"the whisper model {wanted} cannot be loaded: {type(error).__name__}: {clip(str(error), 200)}",
            "`ragweave setup speech` fetches one, or give a folder in the format of CTranslate2, or"
            f" {advice}",
        ) from error


def _found(wanted: str) -> tuple[str, str]:
    """Return what faster-whisper is to open: a folder, or a name of the hub with its revision.

    Of a model that `ragweave setup` offers the files have to be the ones that it states.

    Raises:
        WeightsError: they are not, or cannot be had.
    """
    folder = Path(wanted).expanduser()
    if folder.is_dir():
        return str(folder), ""
    name, _, revision = wanted.partition("@")
    pinned = next((o for o in OFFERS if _names(o, name, revision)), None)
    if pinned is not None:
        files = tuple(pinned.sha256)
        kept = held(pinned.name, pinned.commit, files)
        if kept is None:
            kept = fetch(pinned.name, pinned.commit, files, sha256=pinned.sha256)
        else:
            verify(pinned.name, kept, pinned.sha256, "`ragweave setup speech` fetches it again")
        return str(kept), ""
    kept = held(name, revision, NEEDED)  # nobody need be asked whether it is still the same
    return (str(kept), "") if kept is not None else (name, revision)


def _names(offer: Offer, name: str, revision: str) -> bool:
    if offer.source != "whisper" or revision not in ("", offer.commit):
        return False
    return name in (offer.name, offer.name.removeprefix("Systran/faster-whisper-"))
