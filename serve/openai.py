"""The OpenAI-compatible door: each graph is a model, an answer is a message whose citations open."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from langchain_core.messages import AIMessage, AnyMessage
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from ragweave.corpora.store.catalog import LibraryRow
from ragweave.graphs import run as graphs
from ragweave.graphs.settings import run_settings
from ragweave.minds.attached import asked_with, held
from ragweave.models.errors import InputError, RagweaveError
from ragweave.nodes.answer import lead
from ragweave.serve.access import Caller, CallerNow, library_for, visible
from ragweave.serve.desk import Body, Desk, DeskNow
from ragweave.serve.direct import Events, Left, answering, unless_left
from ragweave.serve.pictures import PictureDesk, bytes_of, id_of
from ragweave.serve.problems import NotFound, openai_error

router = APIRouter(prefix="/v1")

_OWN_LINK = re.compile(r" ?\[\[(\d+)\]\]\([^)\s]*\)")
_FILES = re.compile(r"\A\s*<attached_files>\n.*?\n</attached_files>\s*", re.S)
"""What Open WebUI writes before a question that has pictures, for models that call its tools."""
SOURCES = "\n\n---\n"
"""Stands between an answer and its sources."""


class Address(BaseModel):
    """Where a picture is."""

    url: str


class Part(BaseModel):
    """One part of a message."""

    type: str
    text: str = ""
    image_url: Address | None = None


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
    }
    for name, asked in refused.items():
        if asked:
            raise InputError(f"{name} cannot be other than its default here", f"leave out {name}")


async def conversation(messages: Sequence[Message], desk: PictureDesk) -> list[AnyMessage]:
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
                pictures = await desk.read(urls)
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
    return _OWN_LINK.sub(r" [\1]", text.split(SOURCES)[0])


def _text(message: Message) -> str:
    if not isinstance(message.content, list):
        return message.content or ""
    for part in message.content:
        if part.type in ("input_audio", "file"):
            kind = {"input_audio": "a recording", "file": "a file"}[part.type]
            raise InputError(
                f"{kind} in a question cannot be looked at", "index it into the library (drop it on the page) and ask"
            )
        if part.type not in ("text", "image_url"):
            raise InputError(f"a message has a part of the type {part.type[:50]!r}", "send text and pictures alone")
    return "\n".join(part.text for part in message.content if part.type == "text")


@router.get("/models")
async def models(caller: CallerNow) -> dict[str, Any]:
    """List the models: each graph, and each graph over each further library as `graph@library`."""
    names = list(graphs.GRAPHS)
    usual = run_settings().library
    names += [f"{run_settings().graph}@{row.name}" for row in await visible(caller) if row.name != usual]
    return {"object": "list", "data": [_model(name) for name in names]}


@router.get("/models/{name:path}")
async def model(caller: CallerNow, name: str) -> dict[str, Any]:
    """Describe one model."""
    await resolve(caller, name, None)
    return _model(name)


@router.post("/chat/completions")
async def complete(caller: CallerNow, desk: DeskNow, request: Request, body: ChatRequest) -> Response:
    """Answer the last message."""
    return await reply(caller, desk, request, body, Writer)


async def reply(caller: Caller, desk: Desk, request: Request, chat: ChatRequest, write: type[Writer]) -> Response:
    """Answer the last message in the form that `write` gives it, whole or streamed."""
    check(chat)
    graph, library = await resolve(caller, chat.model, chat.ragweave.library)
    messages = await conversation(chat.messages, desk.pictures)
    events = answering(desk.slots, library, messages, graph, chat.ragweave.context, desk.settings.run_seconds)
    writer = write(chat, desk.settings.url or str(request.base_url).rstrip("/"))
    if chat.stream:
        # Waited for here, so that what cannot be asked is refused with a status and not within a stream.
        deltas = writer.deltas(events)
        return EventSourceResponse(writer.stream(await anext(deltas), deltas), sep="\n", ping=15)
    try:
        return JSONResponse(await unless_left(request, writer.whole(events)))
    except Left:
        return Response(status_code=499)


async def resolve(caller: Caller, name: str, library: str | None) -> tuple[str, LibraryRow]:
    """Return the graph and the library that a model name means."""
    graph, at, named = name.partition("@")
    if graph not in graphs.GRAPHS:
        known = ", ".join(graphs.GRAPHS)
        raise NotFound(f"the model {name[:100]!r} does not exist", f"use one of: {known}", "model_not_found")
    return graph, await library_for(caller, named if at else library)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "ragweave"}


class Writer:
    """Writes the events of one run in the standard's form.

    `base` is the address of this server, for links.
    """

    def __init__(self, request: ChatRequest, base: str) -> None:
        self._request, self._base = request, base
        self._id, self._created = f"chatcmpl-{secrets.token_hex(12)}", int(time.time())
        self._text, self._sign = "", ""
        self._marks: list[tuple[int, int, int]] = []
        self.answer: dict[str, Any] = {}

    async def deltas(self, events: Events) -> Events:
        """Yield what each event adds to the message, the role at the first of them."""
        begun = False
        async with aclosing(events):
            async for event in events:
                if not begun:
                    begun = True
                    yield {"role": "assistant", "content": ""}
                if event["type"] == "sentence":
                    yield {"content": self._sentence(event)}
                elif event["type"] == "answer":
                    self.answer = event["answer"]
                elif step := self._step(event):
                    yield {"reasoning_content": step}
        if rest := self._close():
            yield {"content": rest}

    async def whole(self, events: Events) -> dict[str, Any]:
        """Return the completion."""
        message: dict[str, Any] = {"content": "", "refusal": None}
        async for delta in self.deltas(events):
            for member, more in delta.items():
                message[member] = message[member] + more if member in message else more
        message["annotations"] = self.annotations()
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return self._frame("chat.completion", choices=[choice], usage=usage_of(self.answer))

    async def stream(self, first: dict[str, Any], rest: Events) -> AsyncIterator[ServerSentEvent]:
        """Yield the chunks of the completion."""
        yield self._chunk(first)
        try:
            async with aclosing(rest):
                async for delta in rest:
                    yield self._chunk(delta)
        except RagweaveError as error:
            yield ServerSentEvent(json.dumps(openai_error(error)))
            return
        annotations = self.annotations()
        yield self._chunk({"annotations": annotations} if annotations else {}, finish="stop")
        if self._request.stream_options and self._request.stream_options.include_usage:
            frame = self._frame("chat.completion.chunk", choices=[], usage=usage_of(self.answer))
            yield ServerSentEvent(json.dumps(frame))
        yield ServerSentEvent("[DONE]")

    def _step(self, event: Mapping[str, Any]) -> str:
        """Return a step in words, which clients show as the thinking before the answer."""
        if not self._request.ragweave.steps or event["type"] != "step":
            return ""
        return f"{event['title']}: {event['summary']}\n" if event.get("summary") else f"{event['title']}\n"

    def _sentence(self, event: Mapping[str, Any]) -> str:
        """Append a sentence with links to its sources, and return what was appended."""
        begin = len(self._text)
        self._text += lead(event["sign"], self._sign if self._text else None) + plain(event["text"])
        self._sign = event["sign"]
        if event["support"] == "model":
            self._text += " (no source)"
        for citation in event["citations"]:
            start = len(self._text)
            n, url = citation["n"], self._link(citation)
            self._text += f" [[{n}]]({url})" if url else f" [{n}]"
            self._marks.append((n, start + 1, len(self._text)))
        return self._text[begin:]

    def _close(self) -> str:
        """Append the sources and notes, and return what was appended."""
        begin, answer = len(self._text), self.answer
        if not self._text:
            self._text += plain(answer["text"])
        lines = []
        for citation in answer["citations"]:
            title, where = plain(citation["title"]), self._link(citation)
            page = f", page {citation['locator']['page']}" if "page" in citation["locator"] else ""
            lines.append(f"{citation['n']}. " + (f"[{title}{page}]({where})" if where else title + page))
        heading = "Closest found:" if answer["abstained"] else "Sources:"
        parts = ["\n".join([heading, "", *lines])] if lines else []
        parts += [f"Note: {plain(note)}" for note in answer["notes"]]
        if parts:
            self._text += SOURCES + "\n\n".join(parts)
        return self._text[begin:]

    def annotations(self) -> list[dict[str, Any]]:
        """Return what was cited, with its place in the text and its address."""
        cited = {c["n"]: c for c in self.answer["citations"]}
        found = []
        for n, start, end in self._marks:
            if (c := cited.get(n)) and (url := self._link(c)):
                place = {"start_index": start, "end_index": end, "url": url, "title": c["title"]}
                found.append({"type": "url_citation", "url_citation": place})
        return found

    def _link(self, citation: Mapping[str, Any]) -> str:
        opens = citation["open"]
        if opens["view"] == "web":
            return str(opens["url"]).replace("(", "%28").replace(")", "%29").replace(" ", "%20")
        return self._base + opens["href"] if "href" in opens else ""

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> ServerSentEvent:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return ServerSentEvent(json.dumps(self._frame("chat.completion.chunk", choices=[choice])))

    def _frame(self, kind: str, **members: Any) -> dict[str, Any]:
        head = {"id": self._id, "object": kind, "created": self._created, "model": self._request.model}
        return {**head, **members}


def plain(text: str) -> str:
    """Return text of a source without what Markdown would make a link, a picture or markup of it."""
    for sign in ("\\", "[", "]", "<", "`"):
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())


def usage_of(answer: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens that chat models took; the small mind takes none."""
    read = sum(row["input_tokens"] for row in answer["usage"])
    written = sum(row["output_tokens"] for row in answer["usage"])
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
