"""Events of one run as clients get them; and answers within one request, for doors that keep no conversation.

Whoever leaves such a request stops the run. It cannot be resumed and so cannot ask for consent: a web search
then acts as `off`, and the answer's notes say so.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, convert_to_messages
from starlette.requests import Request

from ragweave.components.context import Context
from ragweave.components.run_settings import run_settings
from ragweave.corpora.store.beside import FileBeside
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.graphs import run as graphs
from ragweave.models.errors import InputError, RagweaveError
from ragweave.nodes.condense import check_question
from ragweave.nodes.steps import step_of
from ragweave.serve import counters
from ragweave.serve.attached import SentFile, sent_file
from ragweave.serve.media import answer_with_openings, with_openings
from ragweave.serve.nearest import nearest
from ragweave.serve.problems import Left, Refused, foreseen, invalid
from ragweave.serve.slots import Slots

T = TypeVar("T")
logger = logging.getLogger(__name__)

Events = AsyncGenerator[dict[str, Any], None]


_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, NotImplementedError)
"""What LangChain raises on a message of another form; it checks little and stumbles over the rest."""


def _unread() -> InputError:
    return InputError("the messages cannot be read", "send a list of {role, content}").named(
        "messages_cannot_read"
    )


def messages_of(said: Sequence[Any]) -> list[AnyMessage]:
    """Return messages as the graphs take them, from those of LangChain or OpenAI; the last is the question.

    Settings of a prompt, calls of tools and what else comes beside the words are no part of a conversation.
    """
    try:
        found = convert_to_messages(said)
    except _UNREADABLE:
        raise _unread() from None
    kept: list[AnyMessage] = [type(m)(m.content) for m in found if isinstance(m, HumanMessage | AIMessage)]
    if not kept or kept[-1].type != "human":
        raise InputError("there is no question", "end the conversation with a message of the user").named(
            "no_question"
        )
    return kept


def files_of(messages: Sequence[AnyMessage]) -> list[SentFile]:
    """Return the files among the parts of messages, in any form that `sent_file` knows."""
    parts = [part for message in messages if isinstance(message.content, list) for part in message.content]
    return [file for part in parts if isinstance(part, dict) and (file := sent_file(part))]


def pictures_of(message: AnyMessage) -> list[str]:
    """Return the pictures among the parts of a message, in LangChain's or OpenAI's form, as addresses."""
    try:
        parts = [part for part in message.content_blocks if part["type"] == "image"]
    except _UNREADABLE:
        raise _unread() from None
    return [
        str(p.get("url") or f"data:{p.get('mime_type', 'image/png')};base64,{p.get('base64', '')}")
        for p in parts
    ]


def library_named_in(library: str | None, given: Mapping[str, Any]) -> str | None:
    """Return the library that a request names, beside its context or within it."""
    named = given.get("library")
    return library if library is not None or not isinstance(named, str) or not named else named


def context_of(given: Mapping[str, Any], library: LibraryRow) -> Context:
    """Build a run's context from what a request sets; the library is the one that was checked."""
    if given.get("library", library.name) != library.name:
        raise invalid(("context", "library"), "names another library than the request")
    try:
        return Context.model_validate({**run_settings().defaults, **given, "library": library.name})
    except InputError as error:
        raise Refused(422, f"context.{error.what}", error.remedy) from None


async def events_of(
    library: LibraryRow, messages: Sequence[AnyMessage], context: Context, **options: Any
) -> Events:
    """Yield what a run tells: steps in words, citations that open, and `{"type": "answer", "answer": ...}`.

    Where it asks for consent, that is the last event; without messages a thread goes on where it stands.
    `options` are those of `graphs.astream`.
    """
    with counters.question() as counted:
        async with aclosing(_told(library, messages, context, options)) as events:
            async for event in events:
                counted.saw(event)
                yield event


async def _told(
    library: LibraryRow, messages: Sequence[AnyMessage], context: Context, options: Mapping[str, Any]
) -> Events:
    waits = False
    run = graphs.astream(list(messages), context=context, **options)
    async with aclosing(run) as events:
        async for event in events:
            if event["type"] == "step":
                step = step_of(str(event["node"]))
                yield {**event, "title": step.words, "next": step.next}
            elif event["type"] in ("sentence", "mark"):
                yield {**event, "citations": await with_openings(library, event["citations"])}
            elif event["type"] != "state":
                waits |= event["type"] == "consent"
                yield dict(event)
            elif not waits:
                answer = event["state"]["answer"]
                told = await answer_with_openings(library, answer)
                if answer.abstained:
                    near = nearest(answer, event["state"].get("evidence", []))
                    told["nearest"] = await with_openings(library, near)
                yield {"type": "answer", "answer": told}


async def noted(events: Events, notes: Sequence[str]) -> Events:
    """Yield the events of a run; its answer says what of the request was not used."""
    async with aclosing(events):
        async for event in events:
            if notes and event["type"] == "answer":
                answer = event["answer"]
                event = {**event, "answer": {**answer, "notes": [*answer["notes"], *notes]}}
            yield event


def too_long(seconds: float) -> RagweaveError:
    """Return the error of a run that does not end in time."""
    remedy = "ask a smaller question, or set a faster chat model"
    return RagweaveError(f"the answer took longer than {seconds:.0f} seconds", remedy).named(
        "answer_took_longer_than", seconds=f"{seconds:.0f}"
    )


def interrupted(why: str = "") -> Refused:
    """Return the error of a run whose server stops, or was killed, and why nobody goes on with it."""
    if why:
        what = f"the server ended while it answered, and no other goes on: {why}"
        return Refused(503, what, "ask again", "interrupted").named("server_ended_while_answered_2", why=why)
    return Refused(503, "the server ended while it answered", "ask again", "interrupted").named(
        "server_ended_while_answered"
    )


async def answering(
    slots: Slots,
    library: LibraryRow,
    messages: Sequence[AnyMessage],
    graph: str,
    context: Mapping[str, Any],
    files: Sequence[FileBeside] = (),
) -> Events:
    """Yield the events of a run in one request; the caller may see the library, the last message is the question.

    The files are asked beside the library.
    """
    check_question(messages[-1].text)
    run = events_of(library, messages, context_of(context, library).with_files(files), graph=graph)
    async with slots.in_turn(library.id), aclosing(run):
        deadline = asyncio.get_running_loop().time() + slots.seconds
        while True:
            # Around each step and not around all: a server may go on with a generator in another task.
            try:
                async with slots.limited(deadline):
                    event = await anext(run, None)
            except TimeoutError:
                raise interrupted() if slots.ended else too_long(slots.seconds) from None
            except RagweaveError:
                raise
            except Exception as error:  # a stream that has begun tells it in the form of its door
                logger.error("a run failed", exc_info=error)
                raise foreseen(error) from None
            if event is None:
                return
            yield event


async def unless_left(request: Request, work: Awaitable[T]) -> T:
    """Wait for an answer, and stop working on it when the client goes away."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, watching = asyncio.ensure_future(work), asyncio.ensure_future(gone())
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Left
        return working.result()
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.wait({working, watching})
