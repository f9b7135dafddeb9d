"""What a chat request of the OpenAI API says: its messages as a conversation, and what is refused."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage
from pydantic import BaseModel, ConfigDict, Field, field_validator

from ragweave.components.attachments import Attachment, asked_with, held
from ragweave.corpora.store.beside import FileBeside
from ragweave.models.errors import InputError
from ragweave.models.text import clip
from ragweave.serve.app_state import Body
from ragweave.serve.attached import Sender, SentFile, files_of_app, read_before, sent_file, with_names
from ragweave.serve.pictures import PictureDesk, bytes_of, id_of

_OWN_LINK = re.compile(r" ?\[\[(\d+)\]\]\([^)\s]*\)")
_LINKED_TITLE = re.compile(r"^\[(.+)\]\([^)\s]*\)(?= \[\[\d+\]\]\()", re.M)
_FILES = re.compile(r"\A\s*<attached_files>\n.*?\n</attached_files>\s*", re.S)
"""What Open WebUI writes before a question that has files, for models that call its tools."""
_KINDS = {"tool": "a reply of a tool", "function": "a reply of a tool", "call": "a call of a tool"}
_KINDS |= {"item_reference": "an answer that is named by its id and not sent"}
_BEHIND = "a message behind the last question"
_PARTS = {
    "audio": "a recording",
    "video": "a video",
    "refusal": "a refusal",
    "think": "the thoughts of a model",
    "reason": "the thoughts of a model",
    "tool": "a call or reply of a tool",
    "function": "a call or reply of a tool",
}
"""Parts of messages that are not read, by what the name of their type holds."""
_NAME = re.compile(r"\b(?:name|title)\s*=\s*\"([^\"]*)\"")
_BEGIN, _END = "-----BEGIN FILE", "-----END FILE"
"""What pydantic-ai writes around a text file."""
_ASKED = re.compile(r"<(user_query|query|question)>\s*(.*?)\s*</\1>", re.S)
_HISTORY = re.compile(r"<chat_history>\s*(.*?)\s*</chat_history>", re.S)
_TURN = re.compile(r"^(?:USER|User|user|Human)\s*:\s*(.+?)(?=^\w+\s*:|\Z)", re.M | re.S)
_FORM = re.compile(r"\{\s*\"\w+\"\s*:[^{}]*\}")
_MEMBER = re.compile(r"\"(\w+)\"\s*:\s*(\[|\"|\w)")
_UNNAMED = "attached file"
NOBODY = Sender()
"""A sender who keeps no files here and does not read the web."""
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
    files: list[Any] | None = Field(None, max_length=1_000)
    logprobs: bool | None = None
    ragweave: Own = Field(default_factory=Own)

    @field_validator("ragweave", mode="before")
    @classmethod
    def _none(cls, given: Any) -> Any:
        return {} if given is None else given


class Said(NamedTuple):
    """A conversation that ends with a question, the files in it, and what of it cannot be used, in words."""

    messages: list[AnyMessage]
    notes: list[str]
    files: list[FileBeside]


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


async def conversation(
    messages: Sequence[Message],
    desk: PictureDesk,
    files: Sequence[Any] | None = None,
    named: bool = False,
    sender: Sender = NOBODY,
) -> Said:
    """Return the turns of user and assistant up to the last question; what a system message asks for is no part of it.

    The pictures of the question are read, and the files of the whole conversation: clients send them again
    with each turn, as parts, as `files`, or as text in a template around the question. Pictures of earlier
    turns count for the words that were read then. Anything else is left out, and counted in a note: a
    conversation goes on whatever came before. If they are to be `named`, the names of files stand behind the
    question that they came with. The ids of files and their addresses are those that the `sender` may use.

    Raises:
        InputError: there is no question of the user, or a picture of it cannot be read.
    """
    last = max((n for n, message in enumerate(messages) if message.role == "user"), default=-1)
    if last < 0:
        raise InputError("there is no message of the user", "end the conversation with the question")
    found, left, sent = list[AnyMessage](), Counter[str](), files_of_app(files)
    unread = list[str]()
    for n, message in enumerate(messages):
        said = _read(message.content)
        left.update(said.left if message.role in ("user", "assistant") else [])
        inlined, words = without_inlined(said.text)
        asks = message.role in ("user", "system", "developer")
        own = [*said.files, *inlined, *files_in(words)] if asks else []
        own = await desk.files.with_content(own, sender, unread)
        sent += own
        if n > last or message.role not in ("user", "assistant", "system", "developer"):
            left[_KINDS.get(message.role, "a message of another role") if n <= last else _BEHIND] += 1
        elif message.role == "user":
            pictures = await _pictures(said.urls, desk, left, asked=n == last)
            text = _FILES.sub("", question_in(words))
            found.append(asked_with(with_names(text, own) if named and text.strip() else text, pictures))
        elif message.role == "assistant" and said.text:
            found.append(AIMessage(without_links(said.text)))
    if not found[-1].text.strip() and (sent or unread):
        raise InputError("the question holds files and no words", "write what you want to know")
    if not found[-1].text.strip() and left and not getattr(found[-1], "additional_kwargs", {}):
        raise InputError(
            f"the question holds nothing but what cannot be read here: {_listed(left)}", "send text"
        )
    read = await desk.files.read(_once(sent))
    notes = [f"Not used of what was sent: {_listed(left)}."] if left else []
    return Said(found, [*notes, *unread, *read.notes], read.files)


def _once(sent: Sequence[SentFile]) -> list[SentFile]:
    """Return files without what is part of another of the same name: a template holds parts of what is sent whole."""
    whole: dict[str, list[SentFile]] = {}
    for file in sorted(sent, key=lambda file: -len(file.data)):
        same = whole.setdefault(file.name, [])
        if not any(_within(file.data, other.data) for other in same):
            same.append(file)
    kept = {file.id for files in whole.values() for file in files}
    return [file for file in sent if file.id in kept]


def _within(part: bytes, whole: bytes) -> bool:
    parts = [line.strip() for line in part.splitlines() if line.strip()]
    held = {line.strip() for line in whole.splitlines()}
    return part in whole or all(line in held for line in parts)


def files_in(text: str) -> list[SentFile]:
    """Return the files that a chat app has read and put around a question, each as it was cut and in its order."""
    context = text.partition("<context>")[2].rpartition("</context>")[0].strip()
    found: dict[str, list[str]] = {}
    for piece in context.split("</source>")[:-1]:
        head, _, body = piece.partition("<source")[2].partition(">")
        name = _NAME.search(head)
        named = name[1] if name else _between(body, "source_name") or _between(body, "source_id")
        found.setdefault(named or _UNNAMED, []).append((_between(body, "source_context") or body).strip())
    if context and not found:
        found[_UNNAMED] = [context]
    return [read_before(html.unescape(name), "\n\n".join(texts)) for name, texts in found.items()]


def without_inlined(text: str) -> tuple[list[SentFile], str]:
    """Return the files that a client has written into a message between dashes, and the rest of the message."""
    files, rest = list[SentFile](), list[str]()
    for piece in text.split(_BEGIN):
        head, dashes, body = piece.partition("-----\n")
        held, end, behind = body.partition(_END)
        if not rest or not (dashes and end):
            rest.append(piece if not rest else _BEGIN + piece)
            continue
        name = _NAME.search(head)
        files.append(read_before(name[1] if name else _UNNAMED, held.strip()))
        rest.append(behind.partition("-----")[2].lstrip("\n"))
    return files, "".join(rest).strip() if files else text


def _between(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


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

    Such a request is one message that holds the conversation between tags and the form of a JSON object to
    reply with. The title is the first question; the other members are empty, for nothing was looked up.
    """
    said = [_read(m.content).text for m in messages if m.role == "user"]
    history = _HISTORY.search(said[-1]) if len(said) == 1 else None
    if history is None:
        return None
    asked = said[0][: history.start()] + said[0][history.end() :]
    forms = [m for m in _FORM.finditer(asked) if m.start() >= asked.lower().rfind("output")] or [
        *_FORM.finditer(asked)
    ]
    if not forms:
        return None
    first = _TURN.search(history[1])
    title = clip(" ".join((first[1] if first else history[1]).split()), _TITLE)
    members = {
        m[1]: [] if m[2] == "[" else title if m[1] == "title" else ""
        for m in _MEMBER.finditer(forms[0].group())
    }
    return json.dumps(members, ensure_ascii=False) if members else None


class _Content(NamedTuple):
    """The text of a message, the addresses of its pictures, its files, and what else it holds."""

    text: str
    urls: list[str]
    files: list[SentFile]
    left: list[str]


def _read(content: Any) -> _Content:
    """Read the content of a message, in any form that clients send."""
    texts, urls, files, left = list[str](), list[str](), list[SentFile](), list[str]()
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif not isinstance(part, dict):
            left += ["a part that cannot be read"] * (part is not None)
        elif isinstance(part.get("text"), str) and "text" in str(part.get("type", "text")):
            texts.append(part["text"])
        elif (picture := part.get("image_url") or part.get("image")) and "image" in str(
            part.get("type", "image")
        ):
            url = picture.get("url") if isinstance(picture, dict) else picture
            urls.append(url if isinstance(url, str) else "")
        elif (file := sent_file(part)) and file.missing:
            left.append(f"{file.missing} (index it into the library and ask again)")
        elif file:
            files.append(file)
        else:
            kind = str(part.get("type", ""))
            left.append(
                next((words for name, words in _PARTS.items() if name in kind), "a part of another kind")
            )
    return _Content("\n".join(texts), urls, files, left)


async def _pictures(
    urls: Sequence[str], desk: PictureDesk, left: Counter[str], asked: bool
) -> list[Attachment]:
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
