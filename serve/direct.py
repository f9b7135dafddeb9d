"""Yield the events of a run as clients receive them, and answer within one request.

Endpoints without stored conversations answer within one request. The run stops when the client disconnects.
It cannot be resumed and so cannot ask for consent: web search is off, and the answer's notes say so.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

from langchain_core.messages import AnyMessage
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
from ragweave.serve.media import answer_with_openings, with_openings
from ragweave.serve.nearest import nearest
from ragweave.serve.problems import Left, Refused, foreseen, invalid
from ragweave.serve.slots import Slots

T = TypeVar("T")
logger = logging.getLogger(__name__)

Events = AsyncGenerator[dict[str, Any], None]


def library_named_in(library: str | None, given: Mapping[str, Any]) -> str | None:
    """Return the library that a request names, as its own member or in its context."""
    if library is not None:
        return library
    in_context = given.get("library")
    return in_context if isinstance(in_context, str) and in_context else None


def context_of(given: Mapping[str, Any], library: LibraryRow) -> Context:
    """Build a run's context from the settings of a request and its library.

    Raises:
        Refused: the settings name another library, or one of them is invalid.
    """
    if given.get("library", library.name) != library.name:
        raise invalid(("context", "library"), "names another library than the request")
    try:
        return Context.model_validate({**run_settings().defaults, **given, "library": library.name})
    except InputError as error:
        raise Refused(422, f"context.{error.what}", error.remedy) from None


async def events_of(
    library: LibraryRow, messages: Sequence[AnyMessage], context: Context, **options: Any
) -> Events:
    """Yield the events of a run, with titles for steps and addresses for citations.

    The last event is `{"type": "answer", "answer": ...}`, or a request for consent. Without messages, an
    interrupted run is resumed from its checkpoint. `options` are those of `graphs.astream`.
    """
    with counters.question() as counted:
        async with aclosing(_events(library, messages, context, options)) as events:
            async for event in events:
                counted.saw(event)
                yield event


async def _events(
    library: LibraryRow, messages: Sequence[AnyMessage], context: Context, options: Mapping[str, Any]
) -> Events:
    asks_consent = False
    run = graphs.astream(list(messages), context=context, **options)
    async with aclosing(run) as events:
        async for event in events:
            if event["type"] == "step":
                step = step_of(str(event["node"]))
                yield {**event, "title": step.words, "next": step.next}
            elif event["type"] in ("sentence", "mark"):
                yield {**event, "citations": await with_openings(library, event["citations"])}
            elif event["type"] != "state":
                asks_consent = asks_consent or event["type"] == "consent"
                yield dict(event)
            elif not asks_consent:
                yield {"type": "answer", "answer": await _answer(library, event["state"])}


async def _answer(library: LibraryRow, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a run; one that abstains comes with the nearest passages."""
    answer = state["answer"]
    found = await answer_with_openings(library, answer)
    if answer.abstained:
        near = nearest(answer, state.get("evidence", []))
        found["nearest"] = await with_openings(library, near)
    return found


async def noted(events: Events, notes: Sequence[str]) -> Events:
    """Yield the events of a run, with `notes` added to those of its answer."""
    async with aclosing(events):
        async for event in events:
            if notes and event["type"] == "answer":
                answer = event["answer"]
                event = {**event, "answer": {**answer, "notes": [*answer["notes"], *notes]}}
            yield event


def too_long(seconds: float) -> RagweaveError:
    """Return the error of a run that exceeds its time limit."""
    remedy = "ask a smaller question, or set a faster chat model"
    return RagweaveError(f"the answer took longer than {seconds:.0f} seconds", remedy).named(
        "answer_timeout", seconds=f"{seconds:.0f}"
    )


def interrupted(why: str = "") -> Refused:
    """Return the error of a run whose server stopped or was killed; `why` says why no server resumes it."""
    if why:
        what = f"the server ended while it answered, and no other goes on: {why}"
        return Refused(503, what, "ask again", "interrupted").named("run_not_taken_over", why=why)
    return Refused(503, "the server ended while it answered", "ask again", "interrupted").named(
        "server_stopped_answering"
    )


async def answering(
    slots: Slots,
    library: LibraryRow,
    messages: Sequence[AnyMessage],
    graph: str,
    context: Mapping[str, Any],
    files: Sequence[FileBeside] = (),
) -> Events:
    """Yield the events of a run in one request, once it has a slot.

    The caller must have checked access to the library. The last message is the question. `files` are searched
    together with the library.
    """
    check_question(messages[-1].text)
    run = events_of(library, messages, context_of(context, library).with_files(files), graph=graph)
    async with slots.in_turn(library.id), aclosing(run):
        deadline = asyncio.get_running_loop().time() + slots.seconds
        while True:
            # The limit covers each step by itself, because a server may resume a generator in another task.
            try:
                async with slots.limited(deadline):
                    event = await anext(run, None)
            except TimeoutError:
                raise interrupted() if slots.ended else too_long(slots.seconds) from None
            except RagweaveError:
                raise
            except Exception as error:  # a stream that has begun reports it in the form of its endpoint
                logger.error("a run failed", exc_info=error)
                raise foreseen(error) from None
            if event is None:
                return
            yield event


async def unless_left(request: Request, work: Awaitable[T]) -> T:
    """Return an answer, or cancel the work and raise `Left` when the client disconnects."""

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
