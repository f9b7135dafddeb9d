"""Speech recognition (ASR) by name. pocketsphinx ships with the extra `video`; the others by setting."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec

from ragweave.models.errors import InputError
from ragweave.models.settings import ModelSettings, model_settings
from ragweave.models.speech import Asr, Transcript, Word

__all__ = ["Asr", "Transcript", "Word", "asr"]


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
    kind, _, model = ("pocketsphinx" if name == "auto" else name).partition(":")
    maker = _MAKERS.get(kind)
    if maker is None or bool(model) == (kind == "pocketsphinx"):
        known = "auto, off, pocketsphinx, whisper:NAME or api:MODEL"
        raise InputError(f"RAGWEAVE_ASR cannot be used: {name!r}", f"set it to {known}")
    return maker(model, settings)


def _sphinx(model: str, settings: ModelSettings) -> Asr:
    from ragweave.models.asr_sphinx import Sphinx

    return Sphinx()


def _whisper(model: str, settings: ModelSettings) -> Asr:
    from ragweave.models.asr_whisper import Whisper

    return Whisper(model)


def _server(model: str, settings: ModelSettings) -> Asr:
    from ragweave.models.asr_api import TranscriptionServer

    _, url, key = settings.endpoint("asr")
    return TranscriptionServer(model, url, key.get_secret_value())


_MAKERS: dict[str, Callable[[str, ModelSettings], Asr]]
_MAKERS = {"pocketsphinx": _sphinx, "whisper": _whisper, "api": _server}
