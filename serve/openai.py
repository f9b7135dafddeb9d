"""The OpenAI-compatible door: each graph is a model, an answer is a message whose citations open."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from sse_starlette import EventSourceResponse, ServerSentEvent

from ragweave.components.answer import set_out
from ragweave.components.markdown import as_markdown, in_block, in_markdown
from ragweave.components.phrases import SIGNS, counted_marks, mark
from ragweave.components.run_context import has_writer_model
from ragweave.components.run_settings import run_settings
from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.graphs import run as graphs
from ragweave.models.errors import RagweaveError
from ragweave.serve.access import Caller, CallerNow, library_for, visible
from ragweave.serve.app_state import AppState, AppStateNow
from ragweave.serve.attached import Sender
from ragweave.serve.chat_request import SOURCES, ChatRequest, check, chore, conversation
from ragweave.serve.direct import Events, answering, context_of, library_named_in, noted, unless_left
from ragweave.serve.problems import NotFound, invalid, openai_error

router = APIRouter(prefix="/v1")


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
async def complete(
    caller: CallerNow, app_state: AppStateNow, request: Request, body: ChatRequest
) -> Response:
    """Answer the last message."""
    return await reply(caller, app_state, request, body, ChatCompletionWriter)


async def reply(
    caller: Caller,
    app_state: AppState,
    request: Request,
    chat: ChatRequest,
    write: type[ChatCompletionWriter],
) -> Response:
    """Answer the last message in the form that `write` gives it, whole or streamed."""
    check(chat)
    graph, library = await resolve(
        caller, chat.model, library_named_in(chat.ragweave.library, chat.ragweave.context)
    )
    if (done := chore(chat.messages)) is not None:
        events = plain(done)
    else:
        context = context_of(chat.ragweave.context, library)
        named, sender = has_writer_model(context), Sender(caller.id, context.web == "auto")
        said = await conversation(chat.messages, app_state.pictures, chat.files, named, sender)
        run = answering(app_state.slots, library, said.messages, graph, chat.ragweave.context, said.files)
        events = noted(run, said.notes)
    writer = write(chat, app_state.address(request))
    if chat.stream:
        # Waited for here, so that what cannot be asked is refused with a status and not within a stream.
        deltas = writer.deltas(events)
        return EventSourceResponse(writer.stream(await anext(deltas), deltas), sep="\n", ping=15)
    return JSONResponse(await unless_left(request, writer.whole(events)))


async def plain(text: str) -> Events:
    """Yield a text that is no answer of a run."""
    yield {"type": "plain", "text": text}
    empty = dict.fromkeys(("sentences", "citations", "notes", "usage"), ())
    yield {"type": "answer", "answer": {**empty, "text": text, "abstained": False}}


async def resolve(caller: Caller, name: str, library: str | None) -> tuple[str, LibraryRow]:
    """Return the graph and the library that a model name means.

    Raises:
        Refused: `library` is another one than the name says.
    """
    graph, at, named = name.partition("@")
    if graph not in graphs.GRAPHS:
        known = ", ".join(graphs.GRAPHS)
        raise NotFound(f"the model {name[:100]!r} does not exist", f"use one of: {known}", "model_not_found")
    if at and library is not None and check_name(named) != check_name(library):
        raise invalid(("ragweave", "library"), "names another library than the model")
    return graph, await library_for(caller, named if at else library)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "ragweave"}


class ChatCompletionWriter:
    """Writes the events of one run in the standard's form; `base` is the address of this server, for links."""

    def __init__(self, request: ChatRequest, base: str) -> None:
        self._request, self._base = request, base
        self._id, self._created = f"chatcmpl-{secrets.token_hex(12)}", int(time.time())
        self._text, self._sign = "", ""
        self._marks: list[tuple[int, int, int]] = []
        self._texts: dict[int, str] = {}
        self._cited: dict[int, dict[str, Any]] = {}
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
                elif event["type"] == "mark":
                    yield {"content": self._mark(event), "ragweave_marks": [self._marked(event)]}
                elif event["type"] == "plain":
                    self._text += event["text"]
                    yield {"content": event["text"]}
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
        message["ragweave_marks"] = self.all_marks()
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
            yield ServerSentEvent(json.dumps(openai_error(error)), sep="\n")
            return
        annotations = self.annotations()
        told = {"annotations": annotations, "ragweave_marks": self.all_marks()}
        yield self._chunk({name: rows for name, rows in told.items() if rows}, finish="stop")
        if self._request.stream_options and self._request.stream_options.include_usage:
            frame = self._frame("chat.completion.chunk", choices=[], usage=usage_of(self.answer))
            yield ServerSentEvent(json.dumps(frame), sep="\n")
        yield ServerSentEvent("[DONE]", sep="\n")

    def _step(self, event: Mapping[str, Any]) -> str:
        """Return a step in words, which clients show as the thinking before the answer."""
        if not self._request.ragweave.steps or event["type"] != "step":
            return ""
        return f"{event['title']}: {event['summary']}\n" if event.get("summary") else f"{event['title']}\n"

    def _sentence(self, event: Mapping[str, Any]) -> str:
        """Append a sentence with links to its sources, and return what was appended."""
        begin, sign = len(self._text), event["sign"]
        self._texts[event["n"]] = event["text"]
        self._cited |= {c["n"]: c for c in event["citations"]}
        if event["support"] == "quoted":
            return self._quote(event)
        text = (
            event["text"]
            if sign.startswith("```")
            else " | ".join(map(in_markdown, event["text"].split(" | ")))
        )
        marks = self._links(event)
        said = " ".join(filter(None, (*marks, mark(event["support"]))))
        self._text += set_out(sign, self._sign if self._text else None, text, said)
        self._sign = sign
        self._place(event, marks, self._text.rindex(said))
        return self._text[begin:]

    def _mark(self, event: Mapping[str, Any]) -> str:
        """Append what the check says against a sentence that is written already, and return what was appended."""
        begin = len(self._text)
        self._cited |= {c["n"]: c for c in event["citations"]}
        said = mark(event["support"], in_markdown(event["says"]), event["against"])
        if said and event["support"] not in SIGNS:
            links = self._links(event)
            text = f"“{in_markdown(self._texts.get(event['n'], ''))}”"
            self._text += f"\n\n{' '.join([text, *links, said])}"
            self._place(event, links, begin)
        if self._text[begin:]:
            self._sign = "```"  # what follows begins a paragraph
        return self._text[begin:]

    def _links(self, event: Mapping[str, Any]) -> list[str]:
        opens = [(c["n"], self._link(c)) for c in event["citations"]]
        return [f"[[{n}]]({url})" if url else f"[{n}]" for n, url in opens]

    def _place(self, event: Mapping[str, Any], marks: Sequence[str], at: int) -> None:
        for citation, shown in zip(event["citations"], marks, strict=True):
            at = self._text.index(shown, at)
            self._marks.append((citation["n"], at, at + len(shown)))

    def _marked(self, event: Mapping[str, Any]) -> dict[str, Any]:
        numbers = [c["n"] for c in event["citations"]]
        text = self._texts.get(event["n"], "")
        said = {key: event[key] for key in ("support", "says", "against")}
        return {"n": event["n"], "text": text, **said, "citations": numbers}

    def all_marks(self) -> list[dict[str, Any]]:
        """Return the marks of all sentences of the answer."""
        members = ("text", "support", "says", "against", "citations")
        rows = enumerate(self.answer.get("sentences", []), 1)
        return [{"n": n, **{name: s[name] for name in members}} for n, s in rows if s["support"] != "quoted"]

    def _quote(self, event: Mapping[str, Any]) -> str:
        """Append a quote below the linked title of its source, and return what was appended."""
        begin, cited = len(self._text), event["citations"][0]
        title, url = in_block(in_markdown(cited["title"])), self._link(cited)
        mark = f"[[{cited['n']}]]({url})" if url else f"[{cited['n']}]"
        self._text += "\n\n" * bool(self._text) + (f"[{title}]({url}) " if url else f"{title} ")
        self._marks.append((cited["n"], len(self._text), len(self._text) + len(mark)))
        self._text += f"{mark}\n\n{as_markdown(event['text'], event.get('marked') or ())}"
        self._sign = event["sign"]
        return self._text[begin:]

    def _close(self) -> str:
        """Append the sources and notes, and return what was appended."""
        begin, answer = len(self._text), self.answer
        if not self._text:
            self._text += in_markdown(answer["text"])
        lines = []
        # A number that stands in the text keeps its source, also where a mark has moved the sentence to
        # another one.
        rows = self._cited | {c["n"]: c for c in answer["citations"]}
        for citation in (rows[n] for n in sorted(rows)):
            title, where = in_markdown(citation["title"]), self._link(citation)
            page = f", page {citation['locator']['page']}" if "page" in citation["locator"] else ""
            lines.append(f"{citation['n']}. " + (f"[{title}{page}]({where})" if where else title + page))
        heading = "Closest found:" if answer["abstained"] else "Sources:"
        parts = ["\n".join([heading, "", *lines])] if lines else []
        if said := counted_marks(s["support"] for s in answer["sentences"]):
            parts.insert(0, f"✓ {said}" if any(s["support"] in SIGNS for s in answer["sentences"]) else said)
        parts += [f"Note: {in_markdown(note)}" for note in answer["notes"]]
        if parts:
            self._text += SOURCES + "\n\n".join(parts)
        return self._text[begin:]

    def annotations(self) -> list[dict[str, Any]]:
        """Return what was cited, with its place in the text and its address."""
        cited = self._cited | {c["n"]: c for c in self.answer["citations"]}
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
        return ServerSentEvent(json.dumps(self._frame("chat.completion.chunk", choices=[choice])), sep="\n")

    def _frame(self, kind: str, **members: Any) -> dict[str, Any]:
        head = {"id": self._id, "object": kind, "created": self._created, "model": self._request.model}
        return {**head, **members}


def usage_of(answer: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens that chat models took; without one there are none."""
    read = sum(row["input_tokens"] for row in answer["usage"])
    written = sum(row["output_tokens"] for row in answer["usage"])
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
