"""What a chat request of the OpenAI API says: its messages as a conversation, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage
from pydantic import BaseModel, ConfigDict, Field

from ragweave.components.attachments import asked_with, held
from ragweave.models.errors import InputError
from ragweave.serve.app_state import Body
from ragweave.serve.pictures import PictureDesk, bytes_of, id_of

_OWN_LINK = re.compile(r" ?\[\[(\d+)\]\]\([^)\s]*\)")
_LINKED_TITLE = re.compile(r"^\[(.+)\]\([^)\s]*\)(?= \[\[\d+\]\]\()", re.M)
_FILES = re.compile(r"\A\s*<attached_files>\n.*?\n</attached_files>\s*", re.S)
"""What Open WebUI writes before a question that has pictures, for models that call its tools."""
SOURCES = "\n\n---\n"
"""Stands between an answer and its sources."""


class PictureAddress(BaseModel):
    """Where a picture is."""

    url: str


class Part(BaseModel):
    """One part of a message."""

    type: str
    text: str = ""
    image_url: PictureAddress | None = None


class Message(BaseModel):
    """One message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None
    tool_calls: list[Any] | None = None
    function_call: Any = None


class StreamOptions(BaseModel):
    """How to stream."""

    include_usage: bool = False


class Own(BaseModel):
    """What Ragweave takes beside the standard, as the member `ragweave`."""

    model_config = ConfigDict(extra="forbid")

    library: str | None = Field(None, max_length=200)
    context: dict[str, Any] = Field(default_factory=dict)
    steps: bool = True


class ChatRequest(Body):
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
    function_call: Any = None
    logprobs: bool | None = None
    ragweave: Own = Field(default_factory=Own)


def check(request: ChatRequest) -> None:
    """Refuse what an answer with sources cannot give."""
    refused = {
        "n": (request.n or 1) != 1,
        "logprobs": bool(request.logprobs),
        "modalities": any(m != "text" for m in request.modalities or ()),
        "response_format": (request.response_format or {}).get("type", "text") != "text",
        "tool_choice": isinstance(request.tool_choice, dict) or request.tool_choice == "required",
        "function_call": isinstance(request.function_call, dict),
    }
    for name, asked in refused.items():
        if asked:
            raise InputError(f"{name} cannot be other than its default here", f"leave out {name}")


async def conversation(messages: Sequence[Message], app_state: PictureDesk) -> list[AnyMessage]:
    """Return the turns of user and assistant; what a system message asks for is no part of a question.

    The pictures of the question are read. Those of earlier turns, which clients send again, count for the words that
    were read then.
    """
    found: list[AnyMessage] = []
    for n, message in enumerate(messages):
        if message.role in ("tool", "function") or message.tool_calls or message.function_call:
            raise InputError("a message calls or answers a tool, and none was offered", "send text alone")
        if message.role == "user":
            parts = message.content if isinstance(message.content, list) else []
            urls = [part.image_url.url if part.image_url else "" for part in parts if part.type == "image_url"]
            if n + 1 == len(messages):
                pictures = await app_state.read(urls)
            else:
                pictures = [p for p in (held(id_of(bytes_of(url))) for url in urls) if p is not None]
            found.append(asked_with(_FILES.sub("", _text(message)), pictures))
        elif message.role == "assistant":
            found.append(AIMessage(without_links(_text(message))))
    if messages[-1].role != "user":
        raise InputError("the last message is not the user's", "end the conversation with the question")
    return found


def without_links(text: str) -> str:
    """Return an earlier answer as it was before links and sources were added for the reader."""
    return _OWN_LINK.sub(r" [\1]", _LINKED_TITLE.sub(r"\1", text.split(SOURCES)[0]))


def _text(message: Message) -> str:
    if not isinstance(message.content, list):
        return message.content or ""
    for part in message.content:
        if kind := {"input_audio": "a recording", "file": "a file"}.get(part.type):
            raise InputError(
                f"{kind} in a question cannot be looked at", "index it into the library (drop it on the page) and ask"
            )
        if part.type not in ("text", "image_url"):
            raise InputError(f"a message has a part of the type {part.type[:50]!r}", "send text and pictures alone")
    return "\n".join(part.text for part in message.content if part.type == "text")
