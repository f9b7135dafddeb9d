"""Serve the OpenAI-compatible API: each graph is a model, each answer a message with linked citations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from langchain_core.messages import AIMessage
from sse_starlette import EventSourceResponse

from ragweave.components.run_context import has_writer_model
from ragweave.components.run_settings import run_settings
from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.graphs import run as graphs
from ragweave.serve.access import Caller, CallerNow, library_for, visible
from ragweave.serve.app_state import AppState, AppStateNow
from ragweave.serve.attached import Sender
from ragweave.serve.chat_completion import ChatCompletionWriter
from ragweave.serve.chat_request import ChatRequest, check, conversation
from ragweave.serve.chores import chore
from ragweave.serve.direct import Events, answering, context_of, library_named_in, noted, unless_left
from ragweave.serve.problems import NotFound, invalid
from ragweave.serve.remembered import EarlierTurns

router = APIRouter(prefix="/v1")


@router.get("/models")
async def models(caller: CallerNow) -> dict[str, Any]:
    """List the models: each graph, and each graph over each further library as `graph@library`."""
    names = list(graphs.GRAPHS)
    usual = run_settings().library
    for row in await visible(caller):
        if row.name != usual:
            names.append(f"{run_settings().graph}@{row.name}")
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


@dataclass(frozen=True)
class Stored:
    """What a request refers to and keeps.

    Attributes:
        previous: the id of the response that it follows, or "".
        keep: whether its response can be followed by another request.
        notes: notes on references that are not used.
    """

    previous: str = ""
    keep: bool = False
    notes: Sequence[str] = ()


async def reply(
    caller: Caller,
    app_state: AppState,
    request: Request,
    chat: ChatRequest,
    write: type[ChatCompletionWriter],
    stored: Stored | None = None,
) -> Response:
    """Answer the last message in the form of the writer `write`, whole or streamed."""
    check(chat, write.names)
    own = chat.ragweave
    graph, library = await resolve(caller, chat.model, library_named_in(own.library, own.context))
    writer = write(chat, app_state.address(request))
    ready = chore(chat.messages)
    if ready is not None:
        events = plain(ready)
    else:
        events = await _run(caller, app_state, chat, graph, library, writer.id, stored or Stored())
    if chat.stream:
        # Wait for the first delta here, so that a refused question gets an HTTP status of its own.
        deltas = writer.deltas(events)
        return EventSourceResponse(writer.stream(await anext(deltas), deltas), sep="\n", ping=15)
    return JSONResponse(await unless_left(request, writer.whole(events)))


async def _run(
    caller: Caller,
    app_state: AppState,
    chat: ChatRequest,
    graph: str,
    library: LibraryRow,
    id: str,
    stored: Stored,
) -> Events:
    """Return the events of the run that answers a request; `id` is that of the response."""
    knobs = chat.ragweave.context
    context = context_of(knobs, library)
    sender, desk = Sender(caller.id, context.web == "auto"), app_state.pictures
    said = await conversation(chat.messages, desk, chat.files, has_writer_model(context), sender)
    earlier = app_state.responses.earlier(caller.id, stored.previous) if stored.previous else EarlierTurns()
    notes = [*stored.notes]
    if earlier is None:
        earlier = EarlierTurns()
        notes.append(
            f"The response “{stored.previous[:80]}” is not held here, so what was said before it was not"
            " used."
        )
    before = desk.files.read_before(earlier.files)
    messages, files = [*earlier.messages, *said.messages], [*before.files, *said.files]
    run = answering(app_state.slots, library, messages, graph, knobs, files)
    events = noted(run, [*notes, *before.notes, *said.notes])
    if not stored.keep:
        return events
    names = {file.id: file.name for file in files}

    def keep(answer: str) -> None:
        app_state.responses.add(caller.id, id, EarlierTurns([*messages, AIMessage(answer)], names))

    return _kept(events, keep)


async def _kept(events: Events, keep: Callable[[str], None]) -> Events:
    """Yield the events of a run, and keep the text of its answer."""
    async with aclosing(events):
        async for event in events:
            if event["type"] == "answer":
                keep(event["answer"]["text"])
            yield event


async def plain(text: str) -> Events:
    """Yield the events of a text that was not produced by a run."""
    yield {"type": "plain", "text": text}
    empty = dict.fromkeys(("sentences", "citations", "notes", "usage"), ())
    yield {"type": "answer", "answer": {**empty, "text": text, "abstained": False}}


async def resolve(caller: Caller, name: str, library: str | None) -> tuple[str, LibraryRow]:
    """Return the graph and the library that a model name selects.

    Raises:
        NotFound: there is no such model or library.
        Refused: `library` differs from the library in the name.
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
