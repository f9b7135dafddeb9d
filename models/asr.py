"""Speech recognition (ASR) by name: Whisper with the extra `video`, or a server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec

from ragweave.models.errors import InputError
from ragweave.models.hub import held
from ragweave.models.offers import WHISPER_ENGLISH, WHISPER_OTHERS
from ragweave.models.settings import ModelSettings, model_settings
from ragweave.models.speech import Asr, Transcript, Word

__all__ = ["Asr", "Transcript", "Word", "asr", "why_none"]


def asr(name: str | None = None) -> Asr | None:
    """Return the speech recogniser, opened once per process; None if there is none (`why_none` says why).

    The name is one that RAGWEAVE_ASR takes; the setting's when not given.

    Raises:
        InputError: the name is of no known form.
    """
    settings = model_settings()
    wanted = settings.asr if name is None else name
    if wanted == "auto":
        wanted = _downloaded() if installed() else ""
    if wanted in ("", "off"):
        return None
    with _loading:
        return _load(wanted, settings)


def installed() -> bool:
    """Return whether the packages of Whisper are installed, without importing them."""
    return all(map(find_spec, ("faster_whisper", "onnxruntime")))


def why_none() -> tuple[str, str]:
    """Return why there is no speech recogniser, and the remedy; both are empty if there is one."""
    if asr() is not None:
        return "", ""
    if model_settings().asr == "off":
        return "RAGWEAVE_ASR is off", "unset it"
    if not installed():
        return "the extra `video` is not installed", "install it with: pip install 'ragweave[video]'"
    return "the model that hears speech was not downloaded", "`ragweave setup speech` fetches it"


def _downloaded() -> str:
    """Return the setting of the models that `ragweave setup speech` downloaded, or ""."""
    here: list[str] = []
    for offer in (WHISPER_ENGLISH, WHISPER_OTHERS):
        if held(offer.name, offer.commit, tuple(offer.sha256)) is not None:
            here.append(f"{offer.name}@{offer.commit}")
    return "whisper:" + "+".join(here) if here else ""


_loading = threading.Lock()


@lru_cache(maxsize=2)
def _load(name: str, settings: ModelSettings) -> Asr:
    kind, _, model = name.partition(":")
    maker = _MAKERS.get(kind)
    if maker is None or not model:
        known = "auto, off, whisper:NAME or api:MODEL"
        raise InputError(f"RAGWEAVE_ASR cannot be used: {name!r}", f"set it to {known}")
    return maker(model, settings)


def _whisper(model: str, settings: ModelSettings) -> Asr:
    from ragweave.models.asr_whisper import Whisper

    return Whisper(model)


def _server(model: str, settings: ModelSettings) -> Asr:
    from ragweave.models.asr_api import TranscriptionServer

    _, url, key = settings.endpoint("asr")
    return TranscriptionServer(model, url, key.get_secret_value())


_MAKERS: dict[str, Callable[[str, ModelSettings], Asr]]
_MAKERS = {"whisper": _whisper, "api": _server}
