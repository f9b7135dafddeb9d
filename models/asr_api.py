"""Recognise speech by an OpenAI-compatible server: POST /audio/transcriptions."""

from __future__ import annotations

import io
import wave
from functools import cached_property
from typing import Any

from ragweave.models.chat_client import address, stay_here
from ragweave.models.errors import InputError, ModelError, ModelTransient, RagweaveError
from ragweave.models.failures import is_transient
from ragweave.models.speech import Asr, Transcript, Word, confidence_of
from ragweave.models.text import storable
from ragweave.models.vad import RATE, Sound

SECONDS = 120.0
_SURE = 0.85
"""Confidence of a reply without one."""


class TranscriptionServer(Asr):
    """A transcription server."""

    label = "endpoint"
    longest = 28.0
    width = 4

    def __init__(self, model: str, url: str, key: str = "") -> None:
        if not url:
            raise InputError(
                "RAGWEAVE_ASR names an endpoint, and RAGWEAVE_ASR_URL is empty", "set its base URL"
            )
        self._host = address(url)
        self.name = f"endpoint {model} at {self._host}"
        self._url, self._key, self._model = url, key, model
        self._detailed = True

    @cached_property
    def _client(self) -> Any:
        from openai import OpenAI

        return OpenAI(base_url=self._url, api_key=self._key or "none", timeout=SECONDS)

    def check(self) -> None:
        """List the models of the server to check address and key."""
        import openai

        stay_here(f"the server {self._host}, which hears,", self._host)
        try:
            self._client.with_options(timeout=10.0).with_raw_response.models.list()
        except openai.APIStatusError as error:  # Some servers list no models.
            if error.status_code in (401, 403):
                raise self._failed(error) from error
        except openai.APIError as error:
            raise self._failed(error) from error

    def transcribe(self, sound: Sound, language: str = "") -> Transcript:
        """Transcribe one window of speech; the server detects the language."""
        import openai

        form: dict[str, Any] = {"model": self._model, "file": ("speech.wav", _wav(sound), "audio/wav")}
        while True:
            times = {"response_format": "verbose_json", "timestamp_granularities": ["word", "segment"]}
            asked = form | times if self._detailed else form
            try:
                reply = self._client.audio.transcriptions.with_raw_response.create(**asked)
                return _transcript(reply.http_response.json(), len(sound) / RATE)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if not self._detailed:
                    raise self._failed(error) from error
                self._detailed = False  # The server may transcribe without the times of words.
            except (openai.OpenAIError, ValueError, RecursionError) as error:
                raise self._failed(error) from error

    def _failed(self, error: Exception) -> RagweaveError:
        status = getattr(error, "status_code", None)
        if status in (401, 403):
            return ModelError(f"{self._host} does not accept the key ({status})", "check RAGWEAVE_ASR_KEY")
        what = f"answered {status}" if status else f"cannot be reached ({type(error).__name__})"
        kind = ModelTransient if is_transient(error) else ModelError
        return kind(f"{self._host}, which hears, {what}", "check RAGWEAVE_ASR_URL, or index again later")


def _wav(sound: Sound) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(sound.astype("<i2").tobytes())
    return out.getvalue()


def _transcript(reply: Any, seconds: float) -> Transcript:
    """Parse a reply; malformed parts are left out."""
    if not isinstance(reply, dict):
        raise ValueError("the reply is no object")
    text = _plain(reply.get("text") or "")
    if not text:
        return Transcript()
    segments = _rows(reply, "segments")
    sure = _confidence(segments)
    words = _words(_rows(reply, "words"), "word", seconds, sure)
    if not words:
        words = _words(segments, "text", seconds, sure)
    language = str(reply.get("language") or "")
    coded = len(language) == 2 and language.isascii() and language.isalpha()
    return Transcript(text, tuple(words), sure, language if coded else "")


def _confidence(segments: list[dict[str, Any]]) -> float:
    """Return the mean confidence of the segments that state a log probability."""
    found: list[float] = []
    for segment in segments:
        logprob = segment.get("avg_logprob")
        if isinstance(logprob, int | float):
            found.append(confidence_of(logprob))
    return round(sum(found) / len(found) if found else _SURE, 3)


def _words(rows: list[dict[str, Any]], key: str, seconds: float, sure: float) -> list[Word]:
    """Return the words of the rows that are well-formed."""
    found: list[Word] = []
    for row in rows:
        word = _word(row, key, seconds, sure)
        if word is not None:
            found.append(word)
    return found


def _plain(text: Any) -> str:
    return storable(" ".join(str(text).split()))  # JSON can escape half of a character.


def _rows(reply: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects in a list of the reply."""
    rows = reply.get(key)
    found: list[dict[str, Any]] = []
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            found.append(row)
    return found


def _word(row: dict[str, Any], key: str, seconds: float, sure: float) -> Word | None:
    try:
        start, end, text = float(row["start"]), float(row["end"]), _plain(row[key])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    if not text or not 0 <= start <= end <= seconds + 1:
        return None
    return Word(start, end, text, sure)
