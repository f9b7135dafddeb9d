"""Answers within one request, for doors that keep no conversation: who leaves stops the run.

A run that cannot be resumed cannot ask for consent: a web search then acts as `off`, and the answer's notes say so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.requests import Request

from ragweave.graphs import run as graphs
from ragweave.models.errors import InputError, RagweaveError
from ragweave.nodes.condense import check_question
from ragweave.serve.access import Caller, Slots
from ragweave.serve.opening import answer_with_openings
from ragweave.serve.routes_ask import context_of
from ragweave.serve.runs import told

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage

    from ragweave.corpora.store.catalog import LibraryRow

T = TypeVar("T")


class Left(Exception):
    """The client went away before its answer was there."""


async def answering(
    caller: Caller,
    slots: Slots,
    library: LibraryRow,
    messages: Sequence[AnyMessage],
    graph: str,
    context: Mapping[str, Any],
    seconds: float,
) -> AsyncGenerator[dict[str, Any], None]:
    """Yield the events of a run as clients get them, and at the end `{"type": "answer", "answer": ...}`.

    Args:
        caller: who asks.
        slots: places for answers under way.
        library: library to ask; the caller may see it.
        messages: the conversation; its last message is the question.
        graph: name of the graph.
        context: knobs as the request gives them.
        seconds: longest time it may take.
    """
    if not messages or messages[-1].type != "human":
        raise InputError("there is no question", "end the conversation with a message of the user")
    check_question(messages[-1].text)
    checked = context_of(dict(context), library)
    run = graphs.astream(list(messages), context=checked, graph=graph)
    deadline = asyncio.get_running_loop().time() + seconds
    with slots.held(caller.id):
        async with aclosing(run):
            while True:
                # Around each step and not around all: a server may go on with a generator in another task.
                try:
                    async with asyncio.timeout_at(deadline):
                        event = await anext(run, None)
                except TimeoutError:
                    why = f"the answer took longer than {seconds:.0f} seconds"
                    raise RagweaveError(why, "raise RAGWEAVE_SERVE_RUN_SECONDS") from None
                if event is None:
                    return
                if event["type"] == "state":
                    answer = await answer_with_openings(library, event["state"]["answer"])
                    yield {"type": "answer", "answer": answer}
                else:
                    yield await told(library, event)


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
