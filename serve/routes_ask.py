"""Serve conversations, runs with their events, search, and the settings of a run."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from functools import lru_cache
from importlib import import_module
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from ragweave.components.attachments import attached
from ragweave.components.context import Context
from ragweave.components.run_settings import run_settings
from ragweave.corpora.store.beside import FileBeside
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.graphs import run as graphs
from ragweave.models.settings import model_settings
from ragweave.nodes.condense import check_question
from ragweave.serve import journal
from ragweave.serve.access import (
    Caller,
    CallerNow,
    library_by_id,
    library_for,
    library_named,
    usual_for,
    visible,
)
from ragweave.serve.app_state import AppState, AppStateNow
from ragweave.serve.ask_bodies import LARGEST, Change, Consent, NewThread, QueryBody, QuestionBody
from ragweave.serve.attached import Sender
from ragweave.serve.chat_request import ParsedConversation, conversation, literal
from ragweave.serve.direct import context_of, library_named_in
from ragweave.serve.media import with_openings
from ragweave.serve.problems import NotFound, Refused
from ragweave.serve.routes_library import forget_threads
from ragweave.serve.run import ServedRun, new_thread
from ragweave.serve.sent_file import SentFile
from ragweave.serve.store import ConversationThread, GoneOn, NoSuchTurn, add_thread

router = APIRouter(prefix="/api")
plain = APIRouter()

Ordinal = Annotated[int, Path(ge=1, le=LARGEST)]
"""The number of a turn or of a picture in the path, from 1."""


@router.get("/graphs")
def list_graphs() -> dict[str, Any]:
    """List the graphs that answer questions."""
    return {"graphs": _graphs(), "default": run_settings().graph}


@lru_cache(maxsize=1)
def _graphs() -> list[dict[str, Any]]:
    """Return each graph with the first line of its module's docstring as description."""
    rows = []
    for name, module in graphs.GRAPHS.items():
        text = import_module(module).__doc__ or ""
        rows.append({"name": name, "description": text.strip().split("\n")[0]})
    return rows


@router.get("/context")
async def context_form(caller: CallerNow) -> dict[str, Any]:
    """Return the settings of a run as a JSON schema, with the defaults of this server."""
    defaults = Context(**run_settings().defaults)
    schema = Context.model_json_schema()
    others = model_settings().writers[1:]
    schema["properties"]["model"]["enum"] = ["", *others]
    if not others:
        del schema["properties"]["model"]  # nothing to choose
    return {
        "schema": schema,
        "defaults": {**defaults.model_dump(mode="json"), "library": await usual_for(caller)},
    }


@router.get("/threads")
async def list_threads(
    caller: CallerNow, app_state: AppStateNow, library: str | None = None, q: str = ""
) -> dict[str, Any]:
    """List the caller's conversations, last used first; `q` filters by words."""
    rows = {row.id: row for row in await visible(caller)}
    only = None
    if library is not None:
        only = (await library_named(caller, library)).id
    threads = []
    for thread in await asyncio.to_thread(app_state.store.threads, caller.id, only, q[:500]):
        if thread.library in rows:
            threads.append(_thread(thread, rows[thread.library]))
    return {"threads": threads}


@router.post("/threads", status_code=201)
async def create_thread(caller: CallerNow, app_state: AppStateNow, body: NewThread) -> dict[str, Any]:
    """Create a conversation with a library."""
    row = await library_for(caller, body.library)
    thread = new_thread(caller, row, body.title)
    await asyncio.to_thread(_add, app_state, thread)
    return _thread(thread, row)


def _add(app_state: AppState, thread: ConversationThread) -> None:
    with app_state.store.writing() as db:
        add_thread(db, thread)


async def find_thread(
    caller: CallerNow, app_state: AppStateNow, id: str
) -> tuple[ConversationThread, LibraryRow]:
    """Return a conversation of the caller and its library.

    Raises:
        NotFound: there is none, or the caller may not see it.
    """
    thread = await asyncio.to_thread(app_state.store.thread, caller.id, id)
    if thread is None or not caller.sees(thread.library):
        raise NotFound(
            "There is no such conversation", "it may have been deleted; choose one of those that are listed"
        ).named("conversation_not_found")
    return thread, await library_by_id(caller, thread.library)


ThreadOfId = Annotated[tuple[ConversationThread, LibraryRow], Depends(find_thread)]
"""The conversation whose id is `id` in the path, and its library."""


@router.get("/threads/{id}")
def read_thread(app_state: AppStateNow, found: ThreadOfId) -> dict[str, Any]:
    """Return a conversation with all its turns and its files."""
    thread = found[0]
    kept = app_state.kept.all(thread.owner, thread.id)
    files = [{"id": file.id, "name": file.name, "size": file.size} for file in kept]
    return {
        **_thread(*found),
        "turns": [asdict(turn) for turn in app_state.store.turns(thread.id)],
        "files": files,
    }


@router.get("/threads/{id}/turns/{turn}/pictures/{n}")
def sent_picture(app_state: AppStateNow, found: ThreadOfId, turn: Ordinal, n: Ordinal) -> Response:
    """Return the stored copy of a picture that was sent with a question."""
    jpeg = app_state.store.picture(found[0].id, turn, n)
    if jpeg is None:
        raise NotFound(
            "There is no such picture", "the turns of the conversation say how many each has"
        ).named("question_picture_not_found")
    return Response(jpeg, media_type="image/jpeg")


@router.patch("/threads/{id}")
def change_thread(app_state: AppStateNow, found: ThreadOfId, body: Change) -> dict[str, Any]:
    """Rename a conversation, or pin it to the top of its list."""
    app_state.store.set_thread(found[0].id, body.title, body.pinned)
    return {**_thread(*found), **body.model_dump(exclude_none=True)}


@router.delete("/threads/{id}", status_code=204)
async def delete_thread(app_state: AppStateNow, found: ThreadOfId) -> None:
    """Delete a conversation with all its turns."""
    await forget_threads(app_state, [found[0].id])


@router.post("/ask", status_code=202, response_model=None)
async def ask(
    caller: CallerNow, app_state: AppStateNow, request: Request, body: QuestionBody
) -> dict[str, Any] | Response:
    """Start a run that answers a question, in a given conversation or a new one.

    A new conversation begins with the messages before the question. `files` are ids of `/v1/files`; they are
    searched with the library for as long as the conversation exists. A request that accepts
    `text/event-stream` receives the events of the run.
    """
    thread, row = await _thread_for(caller, app_state, body)
    context = context_of(body.context, row)
    sender = Sender(caller.id, context.web == "auto")
    said = await _said(app_state, body, sender)
    *earlier, last = said.messages
    check_question(last.text)
    pictures = await app_state.pictures.read(body.pictures) or attached(last)
    sent = [SentFile(id, kept=id) for id in body.files]
    if sent or said.files:
        found = await _read(app_state, caller, thread, sent, sender)
        context = context.with_files([*found, *said.files])
    new, replaces = body.thread is None, body.replaces or 0
    if replaces:
        earlier = await asyncio.to_thread(_messages_before, app_state, thread, replaces, body.seen)
    elif not new:
        earlier = []  # the server has stored the turns of this conversation
    graph = body.graph or run_settings().graph
    run = await app_state.runs.start(
        caller, last.text, thread, row, graph, context, pictures, earlier, new, replaces, body.seen,
        said.notes,
    )  # fmt: skip
    files = [*sent, *_that_were_read(said)]
    if files:
        await asyncio.to_thread(_keep_files, app_state, caller, thread, files)
    return _begun(request, run)


def _begun(request: Request, run: ServedRun) -> dict[str, Any] | Response:
    """Return the ids of a run, or the stream of its events if the request accepts that."""
    if not request.headers.get("accept", "").startswith("text/event-stream"):
        return {"run": run.id, "thread": run.thread, "turn": run.turn}
    events = journal.stream(run.journal, request)
    events.headers["Content-Location"] = f"/api/runs/{run.id}/events"
    return events


async def _said(app_state: AppState, body: QuestionBody, sender: Sender) -> ParsedConversation:
    """Return the question of a request with the messages before it."""
    if not body.messages:
        return literal(body.question)
    return await conversation(body.messages, app_state.pictures, sender=sender)


def _that_were_read(said: ParsedConversation) -> list[SentFile]:
    """Return the files among the messages whose text could be read."""
    ids = {file.id for file in said.files}
    return [file for file in said.sent if file.id in ids]


async def _thread_for(
    caller: Caller, app_state: AppState, body: QuestionBody
) -> tuple[ConversationThread, LibraryRow]:
    """Return the conversation of a question, stored or new, and its library."""
    if body.thread is None:
        row = await library_for(caller, library_named_in(body.library, body.context))
        return new_thread(caller, row), row
    thread, row = await find_thread(caller, app_state, body.thread)
    if body.library is not None and body.library != row.name:
        raise Refused(409, f"this conversation is with the library {row.name!r}", "begin another one").named(
            "conversation_library_mismatch", name=row.name
        )
    return thread, row


def _messages_before(
    app_state: AppState, thread: ConversationThread, replaces: int, seen: str
) -> list[AnyMessage]:
    """Return the messages before turn `replaces`; `seen` is the last run that the client knows.

    Raises:
        GoneOn: the conversation has further turns that the client does not know.
        NoSuchTurn: the turn does not exist.
    """
    turns = app_state.store.turns(thread.id)
    last_run = turns[-1].run if turns else None
    if seen and last_run != seen:
        raise GoneOn
    # Check this here, before the run drops a question that waits for consent.
    if replaces not in [turn.n for turn in turns]:
        raise NoSuchTurn
    messages: list[AnyMessage] = []
    for turn in turns:
        if turn.n < replaces and turn.answer:
            messages += [HumanMessage(turn.question), AIMessage(turn.answer["text"])]
    return messages


async def _read(
    app_state: AppState, caller: Caller, thread: ConversationThread, sent: list[SentFile], sender: Sender
) -> list[FileBeside]:
    """Return the files of a conversation and of its new question; `sent` receives their content.

    Raises:
        InputError: a file cannot be read.
    """
    reader = app_state.pictures.files
    found = await reader.of_thread(caller.id, thread.id)
    for n, file in enumerate(sent):
        sent[n] = replace(await reader.content(file, sender), kept=file.kept)
        found.append(await reader.one(sent[n]))
    return found


def _keep_files(
    app_state: AppState, caller: Caller, thread: ConversationThread, sent: list[SentFile]
) -> None:
    """Store the files of a question for as long as its conversation exists."""
    app_state.kept.bind(caller.id, [file.kept for file in sent if file.kept], thread.id)
    for file in sent:
        if not file.kept:
            app_state.kept.add(caller.id, file.name, file.data, thread=thread.id)


@router.get("/runs/{id}")
async def read_run(caller: CallerNow, app_state: AppStateNow, id: str) -> dict[str, Any]:
    """Return the status of a run."""
    run = await app_state.runs.get(caller, id)
    return {"run": run.id, "thread": run.thread, "turn": run.turn, "status": run.status}


@router.get("/runs/{id}/events")
async def run_events(caller: CallerNow, app_state: AppStateNow, request: Request, id: str) -> Response:
    """Stream the events of a run."""
    run = await app_state.runs.get(caller, id)
    return journal.stream(await app_state.runs.journal(run), request)


@router.post("/runs/{id}/cancel")
async def cancel_run(caller: CallerNow, app_state: AppStateNow, id: str) -> dict[str, Any]:
    """Cancel a run; a run that has ended does not change."""
    await app_state.runs.cancel(await app_state.runs.get(caller, id))
    return {"run": id, "status": (await app_state.runs.get(caller, id)).status}


@router.post("/runs/{id}/resume", status_code=202)
async def resume_run(caller: CallerNow, app_state: AppStateNow, id: str, body: Consent) -> dict[str, Any]:
    """Grant or refuse a run's request for a web search."""
    await app_state.runs.resume(caller, await app_state.runs.get(caller, id), body.consent)
    return {"run": id, "status": "running"}


@plain.post("/search")
async def search(caller: CallerNow, body: QueryBody) -> dict[str, Any]:
    """Return ranked passages without an answer."""
    check_question(body.query)
    row = await library_for(caller, library_named_in(body.library, body.context))
    found = await graphs.asearch(body.query, context=context_of(body.context, row))
    return {"library": row.name, "query": body.query, "results": await with_openings(row, found)}


def _thread(thread: ConversationThread, row: LibraryRow) -> dict[str, Any]:
    """Return a conversation as clients receive it."""
    return {
        "id": thread.id,
        "title": thread.title,
        "created": thread.created,
        "updated": thread.updated,
        "pinned": bool(thread.pinned),
        "library": row.name,
    }
