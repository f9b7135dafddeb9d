"""Read chat requests of the OpenAI API: parse messages and refuse unsupported options."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel, ConfigDict, Field, field_validator

from ragweave.components.attachments import MOST as MOST_PICTURES
from ragweave.components.attachments import Attachment, asked_with, held
from ragweave.components.chat_messages import UNREADABLE, Message, read_message
from ragweave.corpora.store.beside import FileBeside
from ragweave.models.errors import InputError, RagweaveError
from ragweave.serve.app_state import Body
from ragweave.serve.attached import Sender
from ragweave.serve.chat_parts import ParsedContent, read_content
from ragweave.serve.chat_templates import files_in, question_in, without_file_list, without_inlined
from ragweave.serve.pictures import PictureDesk, bytes_of, id_of
from ragweave.serve.problems import Refused
from ragweave.serve.sent_file import SentFile, files_of_app, with_names

_OWN_LINK = re.compile(r" ?\[\[(\d+)\]\]\([^)\s]*\)")
_LINKED_TITLE = re.compile(r"^\[(.+)\]\([^)\s]*\)(?= \[\[\d+\]\]\()", re.M)
_ROLES_WITH_FILES = ("user", "system", "developer")
_ROLES_READ = (*_ROLES_WITH_FILES, "assistant")
_UNREAD_ROLES = {
    "tool": "a reply of a tool",
    "function": "a reply of a tool",
    "call": "a call of a tool",
    "item_reference": "an answer that is named by its id and not sent",
    UNREADABLE: "a message that cannot be read",
    "": "a message without a role",
}
MOST_MESSAGES = 10_000
"""Messages of a conversation that are read, the last ones."""
_AFTER_QUESTION = "a message behind the last question"
ANONYMOUS = Sender()
"""A sender without stored files who may not read the web."""
SOURCES = "\n\n---\n"
"""The separator between an answer and its sources."""


class StreamOptions(BaseModel):
    """Options of a streamed reply."""

    include_usage: bool | None = False


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
    messages: list[Any] = Field(min_length=1)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = None
    response_format: Any = None
    modalities: list[str] | None = None
    tool_choice: Any = None
    function_call: Any = None
    files: list[Any] | None = Field(None, max_length=1_000)
    logprobs: bool | None = None
    ragweave: Own = Field(default_factory=Own)

    @field_validator("messages", mode="before")
    @classmethod
    def _alone(cls, given: Any) -> Any:
        return [given] if isinstance(given, str | dict) else given

    @field_validator("ragweave", mode="before")
    @classmethod
    def _none(cls, given: Any) -> Any:
        return {} if given is None else given


class ParsedConversation(NamedTuple):
    """Messages that end with a question, and notes on what was not used.

    `files` are those sent with them that were read; `sent` are all of them with their content.
    """

    messages: list[AnyMessage]
    notes: list[str]
    files: list[FileBeside]
    sent: list[SentFile]


def literal(question: str, history: Sequence[tuple[str, str]] = ()) -> ParsedConversation:
    """Return a question and the turns before it, whose texts are taken as they are."""
    turns = list[AnyMessage]()
    for role, text in history:
        turns.append(AIMessage(text) if role == "assistant" else HumanMessage(text))
    return ParsedConversation([*turns, HumanMessage(question)], [], [], [])


def check(request: ChatRequest, names: Mapping[str, str]) -> None:
    """Refuse options that an answer with sources cannot honour; `names` are those of the caller for them.

    Raises:
        InputError: such an option differs from its default.
    """
    modalities = set(request.modalities or ())
    unsupported = {
        "n": (request.n or 1) != 1,
        "logprobs": bool(request.logprobs),
        "modalities": bool(modalities - {"text"}),
        "response_format": _kind(request.response_format, "text") != "text",
        "tool_choice": _forces(request.tool_choice),
        "function_call": _forces(request.function_call),
    }
    for option, requested in unsupported.items():
        if requested:
            name = names.get(option, option)
            raise InputError(f"{name} cannot be other than its default here", f"leave out {name}")


def _kind(given: Any, default: str) -> str:
    """Return the type of an option, which is an object or only the name of the type."""
    kind = given.get("type") if isinstance(given, dict) else given
    return kind if isinstance(kind, str) and kind else default


def _forces(choice: Any) -> bool:
    """Return whether a choice of tools demands that one is called."""
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        allowed = choice.get("allowed_tools") or choice
        return bool(isinstance(allowed, dict) and allowed.get("mode") == "required")
    if isinstance(choice, dict):
        return choice.get("type") not in ("auto", "none")
    return choice in ("required", "any")


@dataclass
class _Collected:
    """What was read from the messages so far.

    `unused` counts the descriptions of what was not used, `unread` are notes on files and pictures, and
    `refused` is the error of a picture of the question.
    """

    files: list[SentFile]
    turns: list[AnyMessage] = field(default_factory=list)
    unused: Counter[str] = field(default_factory=Counter)
    unread: list[str] = field(default_factory=list)
    refused: RagweaveError | None = None


async def conversation(
    messages: Sequence[Any],
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
        InputError: there is no question of the user, or nothing of it can be read.
    """
    found = _Collected(files_of_app(files))
    if len(messages) > MOST_MESSAGES:
        found.unused["an earlier message"] = len(messages) - MOST_MESSAGES
    read = list(map(read_message, messages[-MOST_MESSAGES:]))
    last = _last_question(read)
    for n, message in enumerate(read):
        content = read_content(message.content)
        words, own = await _files_of(message, content, desk, sender, found)
        if n > last:
            found.unused[_AFTER_QUESTION] += 1
        elif message.role == "user":
            pictures = await _pictures(content.urls, desk, found, last=n == last)
            found.turns.append(_question(words, own if named else [], pictures))
        elif message.role == "assistant" and content.text:
            found.turns.append(AIMessage(without_links(content.text)))
        elif message.role not in _ROLES_READ:
            found.unused[_UNREAD_ROLES.get(message.role, "a message of another role")] += 1
    _check_question(found)
    sent = _without_parts(found.files)
    searchable = await desk.files.read(sent)
    notes = [*_unused_note(found.unused), *found.unread, *searchable.notes]
    return ParsedConversation(found.turns, notes, searchable.files, sent)


async def _files_of(
    message: Message, content: ParsedContent, desk: PictureDesk, sender: Sender, found: _Collected
) -> tuple[str, list[SentFile]]:
    """Return the words of a message and the files in it; add these and what is unused to what was found."""
    found.unused.update(message.unused)
    if message.role in ("user", "assistant"):
        found.unused.update(content.unused)
    inlined, words = without_inlined(content.text)
    if message.role not in _ROLES_WITH_FILES:
        return words, []
    own = [*content.files, *inlined, *files_in(words)]
    own = await desk.files.with_content(own, sender, found.unread)
    found.files += own
    return words, own


def _last_question(messages: Sequence[Message]) -> int:
    """Return the index of the last message of the user."""
    for n in range(len(messages) - 1, -1, -1):
        if messages[n].role == "user":
            return n
    error = InputError("there is no message of the user", "end the conversation with the question")
    raise error.named("question_missing_at_end")


def _question(words: str, named_files: Sequence[SentFile], pictures: Sequence[Attachment]) -> HumanMessage:
    """Return a question without the template around it, with the names of files appended."""
    text = without_file_list(question_in(words))
    if named_files and text.strip():
        text = with_names(text, [file.shown for file in named_files])
    return asked_with(text, pictures)


def _check_question(found: _Collected) -> None:
    """Refuse a question without words or pictures."""
    question = found.turns[-1]
    if question.text.strip():
        return
    if found.refused is not None and not question.additional_kwargs:
        raise found.refused
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


async def _pictures(
    urls: Sequence[str], desk: PictureDesk, found: _Collected, last: bool
) -> list[Attachment]:
    """Return the pictures of a message; for earlier messages, only pictures that were read before.

    Raises:
        Refused: too many questions wait for their pictures.
    """
    if last:
        return await _pictures_of_question(urls, desk, found)
    pictures = []
    for url in urls:
        try:
            known = held(id_of(bytes_of(url)))
        except InputError:
            found.unused["a picture that is damaged or only an address"] += 1
            continue
        if known is not None:
            pictures.append(known)
    return pictures


async def _pictures_of_question(
    urls: Sequence[str], desk: PictureDesk, found: _Collected
) -> list[Attachment]:
    """Return the pictures of the question, with a note for each that cannot be used."""
    pictures = list[Attachment]()
    if len(urls) > MOST_PICTURES:
        found.unused[f"a picture after the first {MOST_PICTURES}"] += len(urls) - MOST_PICTURES
    for url in urls[:MOST_PICTURES]:
        try:
            pictures += await desk.read([url])
        except RagweaveError as error:
            if isinstance(error, Refused):
                raise
            found.refused = found.refused or error
            found.unread.append(f"A picture of the question was not used: {error}")
    return pictures


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
