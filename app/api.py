"""The public Python API: index, ask and search, in scripts and in notebooks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ragweave.components.indexing import aindex
from ragweave.graphs.run import GRAPHS, asearch, astream, build_agent
from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage

    from ragweave.components.answer import Answer
    from ragweave.components.context import Context
    from ragweave.nodes.state import State

__all__ = [
    "GRAPHS", "aask", "aindex", "asearch", "ask", "astate", "astream", "build_agent", "index", "run_sync",
    "search",
]  # fmt: skip

_CONSENT_REMEDY = (
    "ask again with the same thread, one that you name, and resume=True or resume=False; "
    "or set web to 'auto' or 'off'"
)
P = ParamSpec("P")
T = TypeVar("T")


async def astate(
    question: str | list[AnyMessage],
    *,
    on_event: Callable[[dict[str, Any]], None] | None = None,
    **options: Any,
) -> State:
    """Run a graph and return its final state: the trace, the evidence, and the answer.

    `options` are those of `astream`.
    """
    state: State = {}
    async for event in astream(question, **options):
        if event["type"] == "state":
            state = event["state"]
        elif on_event is not None:
            on_event(event)
    return state


async def aask(
    question: str,
    *,
    library: str | None = None,
    context: Context | dict[str, Any] | None = None,
    thread: str | None = None,
    messages: Sequence[AnyMessage] = (),
    graph: str = "agent",
    checkpointer: Any = None,
    resume: bool | None = None,
    on_event: Callable[[dict[str, Any]], None] | None = None,
) -> Answer:
    """Answer a question over a library.

    Args:
        question: what to answer.
        library: name of the library; default: that of the context.
        context: the run's knobs, also as a dict; the defaults answer without any key.
        thread: id of a thread kept by the checkpointer.
        messages: earlier turns, if no checkpointer keeps them.
        graph: name of one of `GRAPHS`.
        checkpointer: a LangGraph saver.
        resume: whether the web may be searched, if the thread waits for consent; the run continues with the
            question of the thread.
        on_event: called with each typed event of the run.

    Raises:
        InputError: the question cannot be used, or the run waits for consent to search the web.
    """
    options: dict[str, Any] = {"library": library, "context": context, "thread": thread, "graph": graph}
    options |= {"checkpointer": checkpointer, "resume": resume}
    state = await astate(_turns(question, messages), on_event=on_event, **options)
    answer = state["answer"]
    # Every path ends with an answer, unless the run is interrupted for consent.
    if answer is None:
        raise InputError("this run waits for consent to search the web", _CONSENT_REMEDY)
    return answer


def _turns(question: str, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return the earlier turns with the question as the last one.

    Raises:
        InputError: the question is not a string.
    """
    from langchain_core.messages import HumanMessage

    if not isinstance(question, str):
        raise InputError(
            f"the question is no text but {type(question).__name__}", "write what you want to know"
        )
    return [*messages, HumanMessage(question)]


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, in a new thread if this thread already runs an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1, thread_name_prefix="ragweave") as thread:
        return thread.submit(asyncio.run, work).result()


def _at_once(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return the synchronous twin of a function; it also works inside a running loop, as in a notebook."""

    @wraps(function)
    def twin(*args: P.args, **options: P.kwargs) -> T:
        return run_sync(function(*args, **options))

    twin.__name__ = twin.__qualname__ = function.__name__.removeprefix("a")
    return twin


ask = _at_once(aask)
index = _at_once(aindex)
search = _at_once(asearch)
