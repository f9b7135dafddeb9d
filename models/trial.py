"""Try a model with one call."""

from __future__ import annotations

import io
import time
from typing import Literal

import numpy as np

from ragweave.models.chat import Chat
from ragweave.models.chat_client import Served
from ragweave.models.embed import encoder
from ragweave.models.errors import InputError
from ragweave.models.failures import loading
from ragweave.models.image_text import image_encoder
from ragweave.models.meter import Meter
from ragweave.models.relevance_reading import Passage
from ragweave.models.rerank import reranker
from ragweave.models.settings import Endpoint, model_settings

_PATIENCE = 300.0
"""Seconds to wait for the first word, because a server may have to load the model."""
_WINDOW = 30
"""Seconds of sound in one window of a recogniser."""
_LONGEST = 60
"""Characters of a reply that are shown."""


async def said(role: Literal["writer", "reasoner", "judge", "check", "vision"], at: Endpoint) -> str:
    """Ask a chat model for one word, or a vision model for a colour; return the reply."""
    asked, shown = "Reply with the word: ready", []
    if role == "vision":
        asked, shown = "Which colour is this picture? Reply with one word.", [_blue()]
    patient = model_settings().model_copy(
        update={"chat_timeout": max(_PATIENCE, model_settings().chat_timeout)}
    )
    chat = Chat(role, Served.of(at, patient), settings=patient)
    reply = await chat.text([("user", asked)], node="setup", meter=Meter(), images=shown)
    return " ".join(reply.split())[:_LONGEST] or "nothing"


def encoded(name: str | None = None) -> int:
    """Encode a question; return the length of its vector. Blocking."""
    return int(encoder(name).queries(["ready"]).shape[-1])


def ordered(name: str | None = None) -> int:
    """Order two passages; return the number of the first one, which should be 2. Blocking.

    Raises:
        InputError: if the setting names the relevance head that ships.
    """
    made = reranker(name)
    if made is None:
        raise InputError("the reranker that ships needs no trial", "set RAGWEAVE_RERANK to have another")
    passages = [
        Passage("", "The tea house serves three kinds of tea."),
        Passage("", "The lamp was first lit in 1874."),
    ]
    return int(made.scores("When was the lamp first lit?", passages).argmax()) + 1


def seen(name: str) -> int:
    """Encode a picture and a text; return the length of their vectors. Blocking."""
    made = image_encoder(name)
    assert made is not None
    made.texts(["a blue square"])
    return int(made.images([np.full((32, 32, 3), (0, 0, 255), np.uint8)]).shape[-1])


def heard(name: str) -> None:
    """Open the speech recogniser, and transcribe a second of silence. Blocking."""
    from ragweave.models.asr import asr

    made = asr(name)
    assert made is not None
    made.transcribe(np.zeros(16_000, np.int16))


def pace(name: str) -> float:
    """Return the seconds of computing for a second of sound, measured on one window of noise.

    Blocking.
    """
    from ragweave.models.asr import asr

    made = asr(name)
    assert made is not None
    noise = np.random.default_rng(7).integers(-3_000, 3_000, _WINDOW * 16_000).astype(np.int16)
    began = time.perf_counter()
    made.transcribe(noise)
    return (time.perf_counter() - began) / _WINDOW


def _blue() -> bytes:
    with loading("the picture of the trial", "images"):
        from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (64, 64), (0, 0, 255)).save(file, "JPEG")
    return file.getvalue()
