"""Recognise speech by faster-whisper: Whisper and its distilled models in CTranslate2."""

from __future__ import annotations

import logging
import math
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.models.device import device_of, lacks_library, remedy
from ragweave.models.errors import InputError, MissingExtra, ModelError, WeightsError
from ragweave.models.hub import fetch, held, verify
from ragweave.models.offers import OFFERS, Offer
from ragweave.models.settings import model_settings
from ragweave.models.speech import Asr, Transcript, Word, confidence_of
from ragweave.models.text import clip
from ragweave.models.vad import Sound

logger = logging.getLogger(__name__)

NEEDED = ("config.json", "model.bin", "tokenizer.json")
"""Files that faster-whisper would download if they are missing."""
ENGLISH = "en"
_NOT_SPEECH = 0.6
"""Probability of silence from which an unsure segment is dropped (Radford et al. 2022, section 4.5)."""
_UNSURE = -0.8
"""Mean log probability below which a segment is unsure."""
_CONFIDENT = 0.7
"""Mean confidence of the words from which the language of a window is certain."""
_CHANGES = 0.8
"""Probability from which one window changes the language of the recording."""
_TRIAL = 16_000
"""Samples of silence, a second, that a GPU reads at first."""
_TEMPERATURES = (0.0, 0.4, 0.8)
"""Temperatures for segments that repeat or are unlikely; the six of the package cost twice the time."""


class Whisper(Asr):
    """One Whisper model in the format of CTranslate2, or an English model, `+`, and one for other languages.

    A model is a folder, a size such as `small` or `distil-small.en`, or OWNER/NAME[@REVISION] of the hub. An
    English model is smaller for the same quality, but writes English words for any other language.
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
        """Load the models; download them if necessary."""
        with self._lock:
            self._models = self._models or [_loaded(name) for name in self._named]

    def transcribe(self, sound: Sound, language: str = "") -> Transcript:
        """Transcribe one window of speech with the model for its language."""
        self.check()
        samples = sound.astype(np.float32) / 32768.0
        try:
            with self._lock:
                return self._heard(samples, language)
        except Exception as error:
            failed = f"whisper failed: {clip(str(error), 200)}"
            raise ModelError(failed, remedy(error, "check RAGWEAVE_ASR")) from error

    def _by_language(self) -> tuple[Any, Any]:
        """Return the first English model and the first other model; each may be None."""
        english = others = None
        for model in self._models:
            if english is None and model.supported_languages == [ENGLISH]:
                english = model
            elif others is None:
                others = model
        return english, others

    def _heard(self, samples: NDArray[np.float32], language: str) -> Transcript:
        english, others = self._by_language()
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
    """Return the language of a window: the one `before`, unless the window is clearly in another one."""
    spoken, sure, _ = model.detect_language(samples)
    return str(spoken) if not before or sure >= _CHANGES else before


def _transcript(model: Any, samples: NDArray[np.float32], language: str) -> Transcript:
    from ctranslate2 import set_random_seed

    set_random_seed(0)  # Higher temperatures draw words at random.
    found, _ = model.transcribe(
        samples,
        language=language,
        temperature=_TEMPERATURES,
        word_timestamps=True,
        condition_on_previous_text=False,
        vad_filter=False,
    )
    texts: list[str] = []
    words: list[Word] = []
    for segment in found:
        if segment.no_speech_prob >= _NOT_SPEECH and segment.avg_logprob <= _UNSURE:
            continue  # Whisper invents text for music.
        texts.append(segment.text)
        for word in segment.words or ():
            if word.word.strip():
                words.append(_word(word, segment.avg_logprob))
    text = " ".join(" ".join(texts).split())
    if not text or not words:
        return Transcript()
    sure = sum([word.confidence for word in words]) / len(words)
    return Transcript(text, tuple(words), round(sure, 3), language)


def _word(found: Any, logprob: float) -> Word:
    """Return a word; its confidence is at most that of its segment."""
    sure = min(confidence_of(logprob), confidence_of(math.log(max(found.probability, 1e-9))))
    return Word(float(found.start), float(found.end), found.word.strip(), round(sure, 3))


def _loaded(wanted: str) -> Any:
    """Return a model on the device of the setting; by `auto` on the CPU if a library of CUDA is missing."""
    try:
        from ctranslate2 import get_cuda_device_count
    except ImportError as error:
        raise MissingExtra(f"transcribing by whisper:{wanted}", "video") from error
    device = device_of(get_cuda_device_count(), "ctranslate2")
    model = _opened(wanted, device)
    if device == "cpu":
        return model
    try:
        # CTranslate2 loads the libraries of CUDA at the first window.
        segments, _ = model.transcribe(np.zeros(_TRIAL, np.float32), language=ENGLISH)
        list(segments)
    except Exception as error:
        said = clip(str(error), 200)
        if model_settings().device != "auto" or not lacks_library(error):
            raise ModelError(
                f"whisper failed on {device}: {said}", remedy(error, "check RAGWEAVE_ASR")
            ) from error
        logger.warning(
            "Speech is transcribed on the CPU, because CTranslate2 cannot use the GPU: %s. Install this"
            " library of CUDA in the version that it names, or set RAGWEAVE_DEVICE to cpu.",
            said.rstrip("."),
        )
        return _opened(wanted, "cpu")
    return model


def _opened(wanted: str, device: str) -> Any:
    try:
        from faster_whisper import WhisperModel
    except ImportError as error:
        raise MissingExtra(f"transcribing by whisper:{wanted}", "video") from error
    settings = model_settings()
    kind, _, number = device.partition(":")
    name, revision = _found(wanted)
    try:
        return WhisperModel(
            name,
            revision=revision or None,
            download_root=str(settings.weights / "hub"),
            local_files_only=settings.offline,
            device=kind,
            device_index=int(number or 0),
            # On a CPU int8 takes a third of the time with no more wrong words (docs/video.md).
            compute_type="int8" if kind == "cpu" else "default",
            cpu_threads=max(1, (os.cpu_count() or 2) // 2),
        )
    except Exception as error:
        advice = "unset RAGWEAVE_OFFLINE once" if settings.offline else "check the name and the network"
        raise WeightsError(
            f"the whisper model {wanted} cannot be loaded: {type(error).__name__}: {clip(str(error), 200)}",
            remedy(
                error,
                "`ragweave setup speech` fetches one, or give a folder in the format of CTranslate2, or"
                f" {advice}",
            ),
        ) from error


def _found(wanted: str) -> tuple[str, str]:
    """Return the folder for faster-whisper, or a name of the hub with its revision.

    The files of a model that `ragweave setup` offers must have the stated digests.

    Raises:
        WeightsError: if a digest is wrong, or a file cannot be downloaded.
    """
    folder = Path(wanted).expanduser()
    if folder.is_dir():
        return str(folder), ""
    name, _, revision = wanted.partition("@")
    for offer in OFFERS:
        if _is_named(offer, name, revision):
            return str(_checked_folder(offer)), ""
    kept = held(name, revision, NEEDED)
    # A complete copy needs no request to the hub.
    return (str(kept), "") if kept is not None else (name, revision)


def _checked_folder(offer: Offer) -> Path:
    """Return the folder of an offered model with verified files; download it if necessary."""
    files = tuple(offer.sha256)
    kept = held(offer.name, offer.commit, files)
    if kept is None:
        return fetch(offer.name, offer.commit, files, sha256=offer.sha256)
    verify(offer.name, kept, offer.sha256, "`ragweave setup speech` fetches it again")
    return kept


def _is_named(offer: Offer, name: str, revision: str) -> bool:
    if offer.source != "whisper" or revision not in ("", offer.commit):
        return False
    return name in (offer.name, offer.name.removeprefix("Systran/faster-whisper-"))
