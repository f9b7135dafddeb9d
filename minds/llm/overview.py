"""Sum up a whole recording with a language model at indexing, where RAGWEAVE_SUMMARIES asks for it."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, field_validator

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.video.described import Overview, Summariser
from ragweave.corpora.video.places import seconds
from ragweave.models.chat import Chat, chat
from ragweave.models.meter import Meter
from ragweave.models.text import clip
from ragweave.prompts import load, quote

_LONGEST = 2_000
_TITLE = 120
_CHAPTERS, _PHRASES = 40, 12
_CLOCK = re.compile(r"(?:(\d{1,2}):)?(\d{1,3}):(\d{2})")


class Chapter(BaseModel):
    """Where a part begins, as a clock time, and what it is about."""

    at: str = ""
    title: str = ""


class Reply(BaseModel):
    """What the model is asked for."""

    title: str = ""
    summary: str = ""
    chapters: list[Chapter] = []
    phrases: list[str] = []

    @field_validator("phrases", mode="before")
    @classmethod
    def _list(cls, value: Any) -> Any:
        """Take a list, or one string with commas: models write both."""
        return re.split(r"[,;\n]", value) if isinstance(value, str) else value


def summariser() -> Summariser | None:
    """Return the language model that sums up recordings, or None where rules do, or none is configured."""
    model = chat("writer") if corpora_settings().summaries == "llm" else None
    if model is None:
        return None

    async def ask(text: str) -> Overview | None:
        return await sum_up(model, text, Meter())

    return Summariser(f"{model.name} at {model.host}", ask)


async def sum_up(model: Chat, text: str, meter: Meter) -> Overview | None:
    """Return what a model says of a recording, or None where it says nothing that can be used.

    Raises:
        ModelError: the model fails.
    """
    reply = await model.json(load("overview", text=quote(text)), Reply, node="overview", meter=meter)
    if reply is None or not reply.summary.strip():
        return None
    found = [(_CLOCK.search(c.at), _line(c.title, _TITLE)) for c in reply.chapters[:_CHAPTERS]]
    return Overview(
        _line(reply.title, _TITLE),
        _line(reply.summary, _LONGEST),
        tuple((seconds(*m.groups()), title) for m, title in found if m and title),
        tuple(p for phrase in reply.phrases[:_PHRASES] if (p := _line(phrase, _TITLE))),
    )


def _line(text: str, most: int) -> str:
    return clip(" ".join(text.split()), most)
