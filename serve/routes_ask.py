"""Asking: conversations, runs and their events, search, and what can be set for a run."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from functools import lru_cache
from importlib import import_module
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import Field, StrictBool, model_validator

from ragweave.components.attachments import MOST
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
from ragweave.serve.app_state import AppState, AppStateNow, Body
from ragweave.serve.attached import MOST_FILES, Sender, SentFile
from ragweave.serve.direct import context_of, files_of, library_named_in, messages_of, pictures_of
from ragweave.serve.media import with_openings
from ragweave.serve.problems import NotFound, Refused
from ragweave.serve.routes_library import forget_threads
from ragweave.serve.run import new_thread
from ragweave.serve.store import ConversationThread, GoneOn, NoSuchTurn, add_thread

router = APIRouter(prefix="/api")
plain = APIRouter()

_MOST = 2**31 - 1
"""The largest number that a column of either database holds."""
Ordinal = Annotated[int, Path(ge=1, le=_MOST)]
"""The number of a turn or of a picture in the path, from 1."""


class QuestionBody(Body):
    """A question to a library; or messages, as the graphs take them, the last of them the question."""

    question: str = ""
    messages: list[Any] = Field(default_factory=list, max_length=10_000)
    library: str | None = Field(None, max_length=200)
    thread: str | None = Field(None, max_length=200)
    graph: str | None = Field(None, max_length=100)
    context: dict[str, Any] = Field(default_factory=dict)
    pictures: list[str] = Field(default_factory=list, max_length=MOST)
    files: list[str] = Field(default_factory=list, max_length=MOST_FILES)
    replaces: int | None = Field(None, ge=1, le=_MOST)
    seen: str = Field("", max_length=200)

    @model_validator(mode="after")
    def _either(self) -> QuestionBody:
        if self.messages if self.question else not self.model_fields_set & {"question", "messages"}:
            raise ValueError("send a question or messages, one of them")
        if self.replaces and not self.thread:
            raise ValueError("what is replaced is a turn of a thread: name it")
        return self


class QueryBody(Body):
    """What to look for."""

    query: str
    library: str | None = Field(None, max_length=200)
    context: dict[str, Any] = Field(default_factory=dict)


class Consent(Body):
    """The answer to a question for consent."""

    consent: StrictBool


class NewThread(Body):
    """A conversation to begin."""

    library: str | None = Field(None, max_length=200)
    title: str = Field("", max_length=200)


class Change(Body):
    """What is to be changed of a conversation."""

    title: str | None = Field(None, min_length=1, max_length=200)
    pinned: StrictBool | None = None


@router.get("/graphs")
def list_graphs() -> dict[str, Any]:
    """List the graphs that can be asked."""
    return {"graphs": _graphs(), "default": run_settings().graph}


@lru_cache(maxsize=1)
def _graphs() -> list[dict[str, Any]]:
    # The sentence that opens a graph's module says what it does.
    modules = {name: import_module(module) for name, module in graphs.GRAPHS.items()}
    return [{"name": n, "description": (m.__doc__ or "").strip().split("\n")[0]} for n, m in modules.items()]


@router.get("/context")
async def context_form(caller: CallerNow) -> dict[str, Any]:
    """Return the knobs of a run as a JSON schema, and their defaults here."""
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
    """List the caller's conversations, the last used first; with `q`, those alone that hold these words."""
    rows = {row.id: row for row in await visible(caller)}
    only = (await library_named(caller, library)).id if library is not None else None
    found = await asyncio.to_thread(app_state.store.threads, caller.id, only, q[:500])
    return {"threads": [_thread(t, rows[t.library]) for t in found if t.library in rows]}


@router.post("/threads", status_code=201)
async def create_thread(caller: CallerNow, app_state: AppStateNow, body: NewThread) -> dict[str, Any]:
    """Begin a conversation with a library."""
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
    """Return a conversation of a caller with its library, or raise NotFound."""
    thread = await asyncio.to_thread(app_state.store.thread, caller.id, id)
    if thread is None or not caller.sees(thread.library):
        raise NotFound(
            "There is no such conversation", "it may have been deleted; choose one of those that are listed"
        ).named("no_such_conversation")
    return thread, await library_by_id(caller, thread.library)


ThreadOfId = Annotated[tuple[ConversationThread, LibraryRow], Depends(find_thread)]
"""The conversation whose id stands in the path as `id`, and its library."""


@router.get("/threads/{id}")
def read_thread(app_state: AppStateNow, found: ThreadOfId) -> dict[str, Any]:
    """Return a conversation with all its turns and the files that are asked with it."""
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
    """Send the copy of a picture that came with a question."""
    jpeg = app_state.store.picture(found[0].id, turn, n)
    if jpeg is None:
        raise NotFound(
            "There is no such picture", "the turns of the conversation say how many each has"
        ).named("no_such_picture_2")
    return Response(jpeg, media_type="image/jpeg")


@router.patch("/threads/{id}")
def change_thread(app_state: AppStateNow, found: ThreadOfId, body: Change) -> dict[str, Any]:
    """Give a conversation another title, or pin it to the head of its list."""
    app_state.store.set_thread(found[0].id, body.title, body.pinned)
    return {**_thread(*found), **body.model_dump(exclude_none=True)}


@router.delete("/threads/{id}", status_code=204)
async def delete_thread(app_state: AppStateNow, found: ThreadOfId) -> None:
    """Delete a conversation with everything that was said in it."""
    await forget_threads(app_state, [found[0].id])


@router.post("/ask", status_code=202, response_model=None)
async def ask(
    caller: CallerNow, app_state: AppStateNow, request: Request, body: QuestionBody
) -> dict[str, Any] | Response:
    """Begin to answer a question; without the id of a conversation a new one begins, with the messages before it.

    `files` are ids of `/v1/files`: they are asked with the library as long as the conversation is kept.
    A request that accepts `text/event-stream` is answered with the events of the run.
    """
    *earlier, last = messages_of(body.messages or [("user", body.question)])
    check_question(last.text)
    if body.thread is not None:
        thread, row = await find_thread(caller, app_state, body.thread)
        if body.library is not None and body.library != row.name:
            raise Refused(
                409, f"this conversation is with the library {row.name!r}", "begin another one"
            ).named("conversation_with_library", name=row.name)
    else:
        row = await library_for(caller, library_named_in(body.library, body.context))
        thread = new_thread(caller, row)
    context = context_of(body.context, row)
    pictures = await app_state.pictures.read(body.pictures or pictures_of(last))
    sent = [*(SentFile(id, kept=id) for id in body.files), *files_of([*earlier, last])]
    if sent:
        context = context.with_files(await _read(app_state, caller, thread, sent, context.web == "auto"))
    graph, new, replaces = body.graph or run_settings().graph, body.thread is None, body.replaces or 0
    # What was said in a conversation that is named, the server knows itself.
    said = earlier if new else []
    if replaces:
        turns = await asyncio.to_thread(app_state.store.turns, thread.id)
        if body.seen and [turn.run for turn in turns[-1:]] != [body.seen]:
            raise GoneOn
        if replaces not in [turn.n for turn in turns]:  # before a question that waits for consent is dropped
            raise NoSuchTurn
        said = [
            message
            for turn in turns
            if turn.n < replaces and turn.answer
            for message in (HumanMessage(turn.question), AIMessage(turn.answer["text"]))
        ]
    run = await app_state.runs.start(
        caller, last.text, thread, row, graph, context, pictures, said, new, replaces, body.seen
    )
    await asyncio.to_thread(_keep_files, app_state, caller, thread, sent)
    if request.headers.get("accept", "").startswith("text/event-stream"):
        events = journal.stream(run.journal, request)
        events.headers["Content-Location"] = f"/api/runs/{run.id}/events"
        return events
    return {"run": run.id, "thread": thread.id, "turn": run.turn}


async def _read(
    app_state: AppState, caller: Caller, thread: ConversationThread, sent: list[SentFile], web: bool
) -> list[FileBeside]:
    """Return the files of a conversation with those of its new question, or raise why one cannot be read."""
    desk = app_state.pictures.files
    found = await desk.of_thread(caller.id, thread.id)
    for n, file in enumerate(sent):
        sent[n] = replace(await desk.content(file, Sender(caller.id, web)), kept=file.kept)
        found.append(await desk.one(sent[n]))
    return found


def _keep_files(
    app_state: AppState, caller: Caller, thread: ConversationThread, sent: list[SentFile]
) -> None:
    """Keep files that came with a question as long as its conversation."""
    app_state.kept.bind(caller.id, [file.kept for file in sent if file.kept], thread.id)
    for file in sent:
        if not file.kept:
            app_state.kept.add(caller.id, file.name, file.data, thread=thread.id)


@router.get("/runs/{id}")
async def read_run(caller: CallerNow, app_state: AppStateNow, id: str) -> dict[str, Any]:
    """Say where a run stands."""
    run = await app_state.runs.get(caller, id)
    return {"run": run.id, "thread": run.thread, "turn": run.turn, "status": run.status}


@router.get("/runs/{id}/events")
async def run_events(caller: CallerNow, app_state: AppStateNow, request: Request, id: str) -> Response:
    """Stream what a run tells."""
    return journal.stream(await app_state.runs.journal(await app_state.runs.get(caller, id)), request)


@router.post("/runs/{id}/cancel")
async def cancel_run(caller: CallerNow, app_state: AppStateNow, id: str) -> dict[str, Any]:
    """Stop a run; one that has ended stays as it is."""
    await app_state.runs.cancel(await app_state.runs.get(caller, id))
    return {"run": id, "status": (await app_state.runs.get(caller, id)).status}


@router.post("/runs/{id}/resume", status_code=202)
async def resume_run(caller: CallerNow, app_state: AppStateNow, id: str, body: Consent) -> dict[str, Any]:
    """Answer a run that asks for consent to a web search."""
    await app_state.runs.resume(caller, await app_state.runs.get(caller, id), body.consent)
    return {"run": id, "status": "running"}


@plain.post("/search")
async def search(caller: CallerNow, body: QueryBody) -> dict[str, Any]:
    """Return ranked evidence without an answer."""
    check_question(body.query)
    row = await library_for(caller, library_named_in(body.library, body.context))
    found = await graphs.asearch(body.query, context=context_of(body.context, row))
    return {"library": row.name, "query": body.query, "results": await with_openings(row, found)}


def _thread(thread: ConversationThread, row: LibraryRow) -> dict[str, Any]:
    told = {k: getattr(thread, k) for k in ("id", "title", "created", "updated")}
    return {**told, "pinned": bool(thread.pinned), "library": row.name}
