"""What the OpenAI-compatible door takes, and its words for what it does not take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel, ConfigDict, Field

from ragweave.models.errors import InputError

_OWN_LINK = re.compile(r" ?\[\[(\d+)\]\]\([^)\s]*\)")
SOURCES = "\n\n---\n"
"""Stands between an answer and its sources."""


class Part(BaseModel):
    """One part of a message."""

    model_config = ConfigDict(extra="allow")

    type: str
    text: str = ""


class Message(BaseModel):
    """One message of the conversation."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None
    tool_calls: list[Any] | None = None
    function_call: Any = None


class StreamOptions(BaseModel):
    """How to stream."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class Own(BaseModel):
    """What Ragweave takes beside the standard, as the member `ragweave`."""

    model_config = ConfigDict(extra="forbid")

    library: str | None = Field(None, max_length=200)
    context: dict[str, Any] = Field(default_factory=dict)
    steps: bool = True


class ChatRequest(BaseModel):
    """One chat request. Sampling settings of the standard are accepted and do nothing."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(max_length=400)
    messages: list[Message] = Field(min_length=1, max_length=10_000)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int | None = None
    response_format: dict[str, Any] | None = None
    modalities: list[str] | None = None
    tool_choice: Any = None
    logprobs: bool | None = None
    ragweave: Own = Field(default_factory=Own)


def check(request: ChatRequest) -> None:
    """Refuse what an answer with sources cannot give.

    Raises:
        InputError: it asks for such a thing.
    """
    refused = {
        "n": (request.n or 1) != 1,
        "logprobs": bool(request.logprobs),
        "modalities": any(m != "text" for m in request.modalities or ()),
        "response_format": (request.response_format or {}).get("type", "text") != "text",
        "tool_choice": isinstance(request.tool_choice, dict) or request.tool_choice == "required",
    }
    for name, asked in refused.items():
        if asked:
            raise InputError(f"{name} cannot be other than its default here", f"leave out {name}")


def conversation(messages: Sequence[Message]) -> list[AnyMessage]:
    """Return the turns of user and assistant; what a system message asks for is no part of a question.

    Raises:
        InputError: a message cannot be used.
    """
    found: list[AnyMessage] = []
    for message in messages:
        if message.role in ("tool", "function") or message.tool_calls or message.function_call:
            raise InputError("a message calls or answers a tool, and none was offered", "send text alone")
        if message.role == "user":
            found.append(HumanMessage(_text(message)))
        elif message.role == "assistant":
            found.append(AIMessage(without_links(_text(message))))
    if messages[-1].role != "user":
        raise InputError("the last message is not the user's", "end the conversation with the question")
    return found


def without_links(text: str) -> str:
    """Return an earlier answer as it was before links and sources were added for the reader."""
    return _OWN_LINK.sub(r" [\1]", text.split(SOURCES)[0])


def _text(message: Message) -> str:
    if not isinstance(message.content, list):
        return message.content or ""
    for part in message.content:
        if part.type in ("image_url", "input_audio", "file"):
            kind = {"image_url": "a picture", "input_audio": "a recording", "file": "a file"}[part.type]
            raise InputError(
                f"{kind} in a question cannot be looked at", "index it into the library (drop it on the page) and ask"
            )
        if part.type != "text":
            raise InputError(f"a message has a part of the type {part.type[:50]!r}", "send text alone")
    return "\n".join(part.text for part in message.content)
