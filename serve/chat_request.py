"""Read chat requests of the OpenAI API: parse messages and refuse unsupported options."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel, ConfigDict, Field, field_validator

from ragweave.components.attachments import Attachment, asked_with, held
from ragweave.corpora.store.beside import FileBeside
from ragweave.models.errors import InputError
from ragweave.models.text import clip
from ragweave.serve.app_state import Body
from ragweave.serve.attached import Sender, SentFile, files_of_app, with_names
from ragweave.serve.chat_parts import read_content
from ragweave.serve.chat_templates import files_in, question_in, without_file_list, without_inlined
from ragweave.serve.pictures import PictureDesk, bytes_of, id_of

_OWN_LINK = re.compile(r" ?\[\[(\d+)\]\]\([^)\s]*\)")
_LINKED_TITLE = re.compile(r"^\[(.+)\]\([^)\s]*\)(?= \[\[\d+\]\]\()", re.M)
_ROLES_WITH_FILES = ("user", "system", "developer")
_ROLES_READ = (*_ROLES_WITH_FILES, "assistant")
_UNREAD_ROLES = {
    "tool": "a reply of a tool",
    "function": "a reply of a tool",
    "call": "a call of a tool",
    "item_reference": "an answer that is named by its id and not sent",
}
_AFTER_QUESTION = "a message behind the last question"
_HISTORY = re.compile(r"<chat_history>\s*(.*?)\s*</chat_history>", re.S)
_TURN = re.compile(r"^(?:USER|User|user|Human)\s*:\s*(.+?)(?=^\w+\s*:|\Z)", re.M | re.S)
_FORM = re.compile(r"\{\s*\"\w+\"\s*:[^{}]*\}")
_MEMBER = re.compile(r"\"(\w+)\"\s*:\s*(\[|\"|\w)")
ANONYMOUS = Sender()
"""A sender without stored files who may not read the web."""
_TITLE = 60
"""Maximum length of a title, in characters."""
SOURCES = "\n\n---\n"
"""The separator between an answer and its sources."""


class Message(BaseModel):
    """One message of the conversation. `conversation` parses its content."""

    role: str = Field(max_length=100)
    content: Any = None


class StreamOptions(BaseModel):
    """Options of a streamed reply."""

    include_usage: bool = False


class Own(BaseModel):
    """Ragweave's extension of the standard request, its member `ragweave`."""

    model_config = ConfigDict(extra="forbid")

    library: str | None = Field(None, max_length=200)
    context: dict[str, Any] = Field(default_factory=dict)
    steps: bool = True


class ChatRequest(Body):
    """One chat request. Sampling settings of the standard are accepted and ignored."""

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


class ParsedConversation(NamedTuple):
    """Messages that end with a question, notes on what was not used, and the files sent with them."""

    messages: list[AnyMessage]
    notes: list[str]
    files: list[FileBeside]


def check(request: ChatRequest) -> None:
    """Refuse options that an answer with sources cannot honour.

    Raises:
        InputError: such an option differs from its default.
    """
    modalities = set(request.modalities or ())
    response_format = request.response_format or {}
    forced_tool = isinstance(request.tool_choice, dict) or request.tool_choice == "required"
    unsupported = {
        "n": (request.n or 1) != 1,
        "logprobs": bool(request.logprobs),
        "modalities": bool(modalities - {"text"}),
        "response_format": response_format.get("type", "text") != "text",
        "tool_choice": forced_tool,
        "function_call": isinstance(request.function_call, dict),
    }
    for name, requested in unsupported.items():
        if requested:
            raise InputError(f"{name} cannot be other than its default here", f"leave out {name}")


@dataclass
class _Collected:
    """What was read from the messages so far; `unused` counts the descriptions of what was not used."""

    files: list[SentFile]
    turns: list[AnyMessage] = field(default_factory=list)
    unused: Counter[str] = field(default_factory=Counter)
    unread: list[str] = field(default_factory=list)


async def conversation(
    messages: Sequence[Message],
    desk: PictureDesk,
    files: Sequence[Any] | None = None,
    named: bool = False,
    sender: Sender = ANONYMOUS,
) -> ParsedConversation:
    """Return the turns of user and assistant up to the last question.

    Instructions of system messages are ignored. The files of the whole conversation are read, because
    clients send them again with each turn. Of earlier turns, only pictures that were read before count.
    Everything else is left out and counted in a note. With `named`, file names are appended to the question
    that came with the files. File ids and addresses are limited to those that the `sender` may use.

    Raises:
        InputError: there is no question of the user, or a picture of it cannot be read.
    """
    last, found = _last_question(messages), _Collected(files_of_app(files))
    for n, message in enumerate(messages):
        role, content = message.role, read_content(message.content)
        if role in ("user", "assistant"):
            found.unused.update(content.unused)
        inlined, words = without_inlined(content.text)
        own = [*content.files, *inlined, *files_in(words)] if role in _ROLES_WITH_FILES else []
        own = await desk.files.with_content(own, sender, found.unread)
        found.files += own
        if n > last:
            found.unused[_AFTER_QUESTION] += 1
        elif role not in _ROLES_READ:
            found.unused[_UNREAD_ROLES.get(role, "a message of another role")] += 1
        elif role == "user":
            pictures = await _pictures(content.urls, desk, found.unused, last=n == last)
            found.turns.append(_question(words, own if named else [], pictures))
        elif role == "assistant" and content.text:
            found.turns.append(AIMessage(without_links(content.text)))
    _check_question(found)
    read = await desk.files.read(_without_parts(found.files))
    return ParsedConversation(
        found.turns, [*_unused_note(found.unused), *found.unread, *read.notes], read.files
    )


def _last_question(messages: Sequence[Message]) -> int:
    """Return the index of the last message of the user."""
    for n in range(len(messages) - 1, -1, -1):
        if messages[n].role == "user":
            return n
    raise InputError("there is no message of the user", "end the conversation with the question")


def _question(words: str, named_files: Sequence[SentFile], pictures: Sequence[Attachment]) -> HumanMessage:
    """Return a question without the template around it, with the names of files appended."""
    text = without_file_list(question_in(words))
    if named_files and text.strip():
        text = with_names(text, named_files)
    return asked_with(text, pictures)


def _check_question(found: _Collected) -> None:
    """Refuse a question without words or pictures."""
    question = found.turns[-1]
    if question.text.strip():
        return
    if found.files or found.unread:
        raise InputError("the question holds files and no words", "write what you want to know")
    if found.unused and not question.additional_kwargs:
        unused = _listed(found.unused)
        raise InputError(f"the question holds nothing but what cannot be read here: {unused}", "send text")


def _without_parts(sent: Sequence[SentFile]) -> list[SentFile]:
    """Drop files that are part of a larger file of the same name.

    A template of a chat app may contain passages of a file that is also sent whole.
    """
    kept: set[str] = set()
    whole_by_name: dict[str, list[SentFile]] = {}
    for file in sorted(sent, key=lambda file: -len(file.data)):
        larger = whole_by_name.setdefault(file.name, [])
        if not _within_any(file, larger):
            larger.append(file)
            kept.add(file.id)
    return [file for file in sent if file.id in kept]


def _within_any(file: SentFile, others: Sequence[SentFile]) -> bool:
    for other in others:
        if _within(file.data, other.data):
            return True
    return False


def _within(part: bytes, whole: bytes) -> bool:
    """Return whether `whole` contains `part`, or at least each of its lines."""
    if part in whole:
        return True
    return _lines(part) <= _lines(whole)


def _lines(data: bytes) -> set[bytes]:
    """Return the lines of a file, stripped, without empty ones."""
    lines = set(map(bytes.strip, data.splitlines()))
    lines.discard(b"")
    return lines


def chore(messages: Sequence[Message]) -> str | None:
    """Return the reply to a chat app's own request, or None for a question.

    Chat apps ask for a title, tags or further questions. Such a request is one message that contains the
    conversation between tags and the JSON object to reply with. The title is the first question; all other
    members stay empty, because nothing was searched for.
    """
    texts = []
    for message in messages:
        if message.role == "user":
            texts.append(read_content(message.content).text)
    history = _HISTORY.search(texts[-1]) if len(texts) == 1 else None
    if history is None:
        return None
    form = _reply_form(texts[0][: history.start()] + texts[0][history.end() :])
    if form is None:
        return None
    members: dict[str, Any] = {}
    for name, opening in _MEMBER.findall(form):
        if opening == "[":
            members[name] = []
        else:
            members[name] = _title(history[1]) if name == "title" else ""
    return json.dumps(members, ensure_ascii=False) if members else None


def _reply_form(request: str) -> str | None:
    """Return the JSON object that a request shows as the form of its reply.

    This is the first object after the last word "output", else the first object.
    """
    output = request.lower().rfind("output")
    forms = list(_FORM.finditer(request))
    for form in forms:
        if form.start() >= output:
            return form.group()
    return forms[0].group() if forms else None


def _title(history: str) -> str:
    """Return the first question of a conversation, cut to the length of a title."""
    first = _TURN.search(history)
    question = first[1] if first else history
    return clip(" ".join(question.split()), _TITLE)


async def _pictures(
    urls: Sequence[str], desk: PictureDesk, unused: Counter[str], last: bool
) -> list[Attachment]:
    """Return the pictures of a message; for earlier messages, only pictures that were read before."""
    if last:
        return await desk.read(urls)
    found = []
    for url in urls:
        try:
            known = held(id_of(bytes_of(url)))
        except InputError:
            unused["a picture that is damaged or only an address"] += 1
            continue
        if known is not None:
            found.append(known)
    return found


def _unused_note(unused: Counter[str]) -> list[str]:
    """Return the note on what was not used, if anything was not."""
    return [f"Not used of what was sent: {_listed(unused)}."] if unused else []


def _listed(counts: Counter[str]) -> str:
    """Return descriptions as a comma-separated list with their counts."""
    items = []
    for description, count in counts.items():
        if count > 1:
            items.append(f"{description} ({count} times)")
        elif count:
            items.append(description)
    return ", ".join(items)


def without_links(text: str) -> str:
    """Remove the links and sources that were added to an earlier answer."""
    answer = text.split(SOURCES)[0]
    answer = _LINKED_TITLE.sub(r"\1", answer)
    return _OWN_LINK.sub(r" [\1]", answer)
