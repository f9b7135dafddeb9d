"""What a chat request of the OpenAI API says: its messages as a conversation, and what is refused."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage
from pydantic import BaseModel, ConfigDict, Field, field_validator

from ragweave.components.attachments import Attachment, asked_with, held
from ragweave.models.errors import InputError
from ragweave.models.text import clip
from ragweave.serve.app_state import Body
from ragweave.serve.pictures import PictureDesk, bytes_of, id_of

_OWN_LINK = re.compile(r" ?\[\[(\d+)\]\]\([^)\s]*\)")
_LINKED_TITLE = re.compile(r"^\[(.+)\]\([^)\s]*\)(?= \[\[\d+\]\]\()", re.M)
_FILES = re.compile(r"\A\s*<attached_files>\n.*?\n</attached_files>\s*", re.S)
"""What Open WebUI writes before a question that has pictures, for models that call its tools."""
_KINDS = {"tool": "a reply of a tool", "function": "a reply of a tool", "call": "a call of a tool"}
_KINDS |= {"item_reference": "an answer that is named by its id and not sent"}
_BEHIND = "a message behind the last question"
_PARTS = {
    "audio": "a recording",
    "video": "a video",
    "file": "a file (index it into the library and ask again)",
    "document": "a file (index it into the library and ask again)",
    "refusal": "a refusal",
    "think": "the thoughts of a model",
    "reason": "the thoughts of a model",
    "tool": "a call or reply of a tool",
    "function": "a call or reply of a tool",
}
"""Parts of messages that are not read, by what the name of their type holds."""
_ASKED = re.compile(r"<(user_query|query|question)>\s*(.*?)\s*</\1>", re.S)
_HISTORY = re.compile(r"<chat_history>\s*(.*?)\s*</chat_history>", re.S)
_TURN = re.compile(r"^(?:USER|User|user|Human)\s*:\s*(.+?)(?=^\w+\s*:|\Z)", re.M | re.S)
_FORM = re.compile(r"\{\s*\"\w+\"\s*:[^{}]*\}")
_MEMBER = re.compile(r"\"(\w+)\"\s*:\s*(\[|\"|\w)")
_TITLE = 60
"""Characters of a title."""
SOURCES = "\n\n---\n"
"""Stands between an answer and its sources."""


class Message(BaseModel):
    """One message of the conversation. What it holds besides is looked at when the conversation is read."""

    role: str = Field(max_length=100)
    content: Any = None


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
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = None
    response_format: dict[str, Any] | None = None
    modalities: list[str] | None = None
    tool_choice: Any = None
    function_call: Any = None
    logprobs: bool | None = None
    ragweave: Own = Field(default_factory=Own)

    @field_validator("ragweave", mode="before")
    @classmethod
    def _none(cls, given: Any) -> Any:
        return {} if given is None else given


class Said(NamedTuple):
    """A conversation that ends with a question, and what of it cannot be used, in words."""

    messages: list[AnyMessage]
    notes: list[str]


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


async def conversation(messages: Sequence[Message], app_state: PictureDesk) -> Said:
    """Return the turns of user and assistant up to the last question; what a system message asks for is no part of it.

    The pictures of the question are read. Those of earlier turns, which clients send again, count for the words that
    were read then. Anything else is left out, and counted in a note: a conversation goes on whatever came before.

    Raises:
        InputError: there is no question of the user, or a picture of it cannot be read.
    """
    last = max((n for n, message in enumerate(messages) if message.role == "user"), default=-1)
    if last < 0:
        raise InputError("there is no message of the user", "end the conversation with the question")
    found, left = list[AnyMessage](), Counter[str]()
    for n, message in enumerate(messages):
        said = _read(message.content)
        left.update(said.left if message.role in ("user", "assistant") else [])
        if n > last or message.role not in ("user", "assistant", "system", "developer"):
            left[_KINDS.get(message.role, "a message of another role") if n <= last else _BEHIND] += 1
        elif message.role == "user":
            pictures = await _pictures(said.urls, app_state, left, asked=n == last)
            text = _FILES.sub("", said.text)
            question = question_in(text)
            left["files that the app wrote around the question (index them and ask again)"] += question != text
            found.append(asked_with(question, pictures))
        elif message.role == "assistant" and said.text:
            found.append(AIMessage(without_links(said.text)))
    left = +left
    if not found[-1].text.strip() and left and not getattr(found[-1], "additional_kwargs", {}):
        raise InputError(f"the question holds nothing but what cannot be read here: {_listed(left)}", "send text")
    return Said(found, [f"Not used of what was sent: {_listed(left)}."] if left else [])


def question_in(text: str) -> str:
    """Return the question of a chat app that puts the files of its user around it, in a template of its own."""
    _, context, behind = text.rpartition("</context>")
    if not context:
        return text
    asked = _ASKED.search(behind) or _ASKED.search(text)
    question = asked[2] if asked else behind
    return question.strip() or text


def chore(messages: Sequence[Message]) -> str | None:
    """Return the reply to a request of a chat app that is no question: for a title, tags, further questions; else None.

    Such a request is one message that holds the conversation between tags and the form of a JSON object to reply with.
    The title is the first question; the other members are empty, for nothing was looked up.
    """
    said = [_read(m.content).text for m in messages if m.role == "user"]
    history = _HISTORY.search(said[-1]) if len(said) == 1 else None
    if history is None:
        return None
    asked = said[0][: history.start()] + said[0][history.end() :]
    forms = [m for m in _FORM.finditer(asked) if m.start() >= asked.lower().rfind("output")] or [*_FORM.finditer(asked)]
    if not forms:
        return None
    first = _TURN.search(history[1])
    title = clip(" ".join((first[1] if first else history[1]).split()), _TITLE)
    members = {
        m[1]: [] if m[2] == "[" else title if m[1] == "title" else "" for m in _MEMBER.finditer(forms[0].group())
    }
    return json.dumps(members, ensure_ascii=False) if members else None


class _Content(NamedTuple):
    """The text of a message, the addresses of its pictures, and what else it holds."""

    text: str
    urls: list[str]
    left: list[str]


def _read(content: Any) -> _Content:
    """Read the content of a message, in any form that clients send."""
    texts, urls, left = list[str](), list[str](), list[str]()
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif not isinstance(part, dict):
            left += ["a part that cannot be read"] * (part is not None)
        elif isinstance(part.get("text"), str) and "text" in str(part.get("type", "text")):
            texts.append(part["text"])
        elif (picture := part.get("image_url") or part.get("image")) and "image" in str(part.get("type", "image")):
            url = picture.get("url") if isinstance(picture, dict) else picture
            urls.append(url if isinstance(url, str) else "")
        else:
            kind = str(part.get("type", ""))
            left.append(next((words for name, words in _PARTS.items() if name in kind), "a part of another kind"))
    return _Content("\n".join(texts), urls, left)


async def _pictures(urls: Sequence[str], desk: PictureDesk, left: Counter[str], asked: bool) -> list[Attachment]:
    """Return the pictures of a message; of an earlier one those alone that are known."""
    if asked:
        return await desk.read(urls)
    found = []
    for url in urls:
        try:
            known = held(id_of(bytes_of(url)))
        except InputError:
            left["a picture that is damaged or only an address"] += 1
            continue
        found += [known] if known is not None else []
    return found


def _listed(left: Counter[str]) -> str:
    return ", ".join(f"{words} ({n} times)" if n > 1 else words for words, n in left.items() if n)


def without_links(text: str) -> str:
    """Return an earlier answer as it was before links and sources were added for the reader."""
    return _OWN_LINK.sub(r" [\1]", _LINKED_TITLE.sub(r"\1", text.split(SOURCES)[0]))
