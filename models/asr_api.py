"""Hearing by an OpenAI-style endpoint: POST /audio/transcriptions."""

from __future__ import annotations

import io
import math
import time
import wave
from typing import Any
from urllib.parse import urlsplit

import httpx

from ragweave.models.asr import Heard, Word
from ragweave.models.errors import InputError, ModelError, ModelTransient, RagweaveError
from ragweave.models.failures import is_transient, retry_after
from ragweave.models.settings import model_settings
from ragweave.models.vad import RATE, Sound

TRIES = 4
_TIMEOUT = httpx.Timeout(120.0, connect=10.0)
_SURE = 0.9
"""Confidence of a reply that states none."""


class Endpoint:
    """A transcription server.

    Args:
        model: name of the model on the server.
        url: base URL, usually ending in /v1.
        key: bearer key, or "".
        language: ISO 639-1 code, or "".
    """

    label = "endpoint"
    longest = 28.0
    width = 4

    def __init__(self, model: str, url: str, key: str = "", language: str = "") -> None:
        if not url:
            raise InputError("RAGWEAVE_ASR names an endpoint, and RAGWEAVE_ASR_URL is empty", "set its base URL")
        self._host = urlsplit(url).netloc.rpartition("@")[2]
        self.name = f"endpoint {model} at {self._host} {language}".strip()
        self._url = url
        self._model = model
        self._language = language
        self._detailed = True
        self._client = httpx.Client(timeout=_TIMEOUT, headers={"Authorization": f"Bearer {key}"} if key else {})

    def check(self) -> None:
        """Ask the server for its models, which says at once whether address and key are right."""
        if model_settings().offline and (urlsplit(self._url).hostname or "") not in ("127.0.0.1", "localhost", "::1"):
            raise InputError(f"RAGWEAVE_OFFLINE forbids asking {self._host} to hear", "unset it, or use another hearer")
        try:
            reply = self._client.get(f"{self._url}/models")
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        if reply.status_code in (401, 403):
            raise ModelError(f"{self._host} does not accept the key ({reply.status_code})", "check RAGWEAVE_ASR_KEY")

    def hear(self, sound: Sound, speech: float = 1.0) -> Heard:
        """Write down one stretch of speech."""
        data = _wav(sound)
        for left in reversed(range(TRIES)):
            try:
                reply = self._client.post(
                    f"{self._url}/audio/transcriptions",
                    files={"file": ("speech.wav", data, "audio/wav")},
                    data=self._form(),
                )
                if reply.status_code in (400, 422) and self._detailed:
                    self._detailed = False  # a server that knows no times of words still knows the words
                    continue
                reply.raise_for_status()
                return _heard(reply.json(), len(sound) / RATE)
            except (httpx.HTTPError, ValueError) as error:
                if not left or not is_transient(error):
                    raise self._unreachable(error) from error
                time.sleep(min(retry_after(error) or 2.0 ** (TRIES - left - 1), 20.0))
        raise ModelError(f"{self._host} does not take the sound", "check RAGWEAVE_ASR and RAGWEAVE_ASR_URL")

    def close(self) -> None:
        """Keep the connections: the next video uses them."""

    def _form(self) -> dict[str, Any]:
        form: dict[str, Any] = {"model": self._model}
        if self._language:
            form["language"] = self._language
        if self._detailed:
            form |= {"response_format": "verbose_json", "timestamp_granularities[]": ["word", "segment"]}
        return form

    def _unreachable(self, error: Exception) -> RagweaveError:
        status = error.response.status_code if isinstance(error, httpx.HTTPStatusError) else None
        if status in (401, 403):
            return ModelError(f"{self._host} does not accept the key ({status})", "check RAGWEAVE_ASR_KEY")
        what = f"answered {status}" if status else f"cannot be reached ({type(error).__name__})"
        kind = ModelTransient if is_transient(error) else ModelError
        return kind(f"{self._host}, which hears, {what}", "check RAGWEAVE_ASR_URL, or index again later")


def _wav(sound: Sound) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(sound.astype("<i2").tobytes())
    return out.getvalue()


def _heard(reply: Any, seconds: float) -> Heard:
    """Read a reply; what is not as it should be is left out."""
    if not isinstance(reply, dict):
        raise ValueError("the reply is no object")
    text = " ".join(str(reply.get("text") or "").split())
    if not text:
        return Heard()
    rows = [r for r in reply.get("words") or () if isinstance(r, dict)]
    words = [w for r in rows if (w := _word(r, "word", seconds)) is not None]
    segments = [r for r in reply.get("segments") or () if isinstance(r, dict)]
    told = [float(r["avg_logprob"]) for r in segments if isinstance(r.get("avg_logprob"), int | float)]
    sure = sum(math.exp(min(0.0, x)) for x in told) / len(told) if told else _SURE
    if not words:
        words = [w for r in segments if (w := _word(r, "text", seconds)) is not None]
    language = str(reply.get("language") or "")
    return Heard(text, tuple(words), round(sure, 3), language if len(language) == 2 else "")


def _word(row: dict[str, Any], key: str, seconds: float) -> Word | None:
    try:
        start, end, text = float(row["start"]), float(row["end"]), " ".join(str(row[key]).split())
    except (KeyError, TypeError, ValueError):
        return None
    if not text or not 0 <= start <= end <= seconds + 1:
        return None
    return Word(start, end, text, _SURE)
