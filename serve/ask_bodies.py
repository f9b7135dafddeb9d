"""Define the bodies of requests that ask questions and manage conversations."""

from __future__ import annotations

from typing import Any

from pydantic import Field, StrictBool, model_validator

from ragweave.components.attachments import MOST
from ragweave.serve.app_state import Body
from ragweave.serve.attached import MOST_FILES

LARGEST = 2**31 - 1
"""The largest integer that a column of either database can store."""


class QuestionBody(Body):
    """A question to a library, or messages of which the last one is the question."""

    question: str = ""
    messages: list[Any] = Field(default_factory=list)
    library: str | None = Field(None, max_length=200)
    thread: str | None = Field(None, max_length=200)
    graph: str | None = Field(None, max_length=100)
    context: dict[str, Any] = Field(default_factory=dict)
    pictures: list[str] = Field(default_factory=list, max_length=MOST)
    files: list[str] = Field(default_factory=list, max_length=MOST_FILES)
    replaces: int | None = Field(None, ge=1, le=LARGEST)
    seen: str = Field("", max_length=200)

    @model_validator(mode="after")
    def _either(self) -> QuestionBody:
        neither = not self.model_fields_set & {"question", "messages"}
        both = bool(self.question and self.messages)
        if neither or both:
            raise ValueError("send a question or messages, one of them")
        if self.replaces and not self.thread:
            raise ValueError("what is replaced is a turn of a thread: name it")
        return self


class QueryBody(Body):
    """A search query."""

    query: str
    library: str | None = Field(None, max_length=200)
    context: dict[str, Any] = Field(default_factory=dict)


class Consent(Body):
    """The reply to a request for consent."""

    consent: StrictBool


class NewThread(Body):
    """A new conversation."""

    library: str | None = Field(None, max_length=200)
    title: str = Field("", max_length=200)


class Change(Body):
    """Changes to a conversation."""

    title: str | None = Field(None, min_length=1, max_length=200)
    pinned: StrictBool | None = None
