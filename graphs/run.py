"""Run a graph by name and stream its typed events; with a saver, in a thread."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage
    from langgraph.graph.state import CompiledStateGraph

    from ragweave.components.context import Context
    from ragweave.components.evidence import Evidence
    from ragweave.components.local.listing import Listed

GRAPHS: dict[str, str] = {
    name: f"ragweave.graphs.{name}"
    for name in ("agent", "universal_rag", "rag_fusion", "crag", "auto_rag", "video_rag")
}
"""The module of each graph by its name."""


def build_agent(graph: str = "agent", *, checkpointer: Any = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return a compiled graph of `GRAPHS`, ready to invoke, stream, or add as a node of another graph.

    A checkpointer is a LangGraph saver, awaited or not. With one, threads persist, and a run can ask for
    consent to a web search.

    Raises:
        InputError: no graph has that name.
    """
    if graph not in GRAPHS:
        raise InputError(f"there is no graph named “{graph}”", f"use one of: {', '.join(GRAPHS)}")
    compiled: CompiledStateGraph[Any, Any, Any, Any] = import_module(GRAPHS[graph]).graph
    if checkpointer is None:
        return compiled
    from ragweave.graphs.saver import reading

    # A copy shares the nodes: compiling can cost more than a question.
    return compiled.copy(update={"checkpointer": reading(checkpointer)})


async def astream(
    question: str | list[AnyMessage] | None,
    *,
    library: str | None = None,
    context: Context | dict[str, Any] | None = None,
    thread: str | None = None,
    graph: str | CompiledStateGraph[Any, Any, Any, Any] = "agent",
    checkpointer: Any = None,
    resume: Any = None,
    durability: Literal["sync", "async", "exit"] | None = None,
    metadata: dict[str, str] | None = None,
) -> AsyncGenerator[dict[str, Any], None]:
    """Yield the run's typed events, then one `{"type": "state", "state": State}`.

    An interrupt (consent to a web search) is yielded as `{"type": "consent", ...}` and ends the run; call
    again with the same thread and `resume=True` or `resume=False`. The question may be a conversation that
    ends with one, or None to continue the thread. A named library overrides that of the context. `graph` is a
    name of `GRAPHS`, or a graph that is compiled with its saver. `durability` says when the saver writes: at
    each step, or with `exit` once at the end. It stores `metadata` with every checkpoint.
    """
    from langchain_core.messages import HumanMessage
    from langgraph.types import Command

    compiled = build_agent(graph, checkpointer=checkpointer) if isinstance(graph, str) else graph
    if resume is not None and not compiled.checkpointer:
        raise InputError("without a checkpointer no run is resumed", "give the one that it began with")
    context = in_library(context, library)
    if resume is not None:
        # The time in which a person replied does not count for the run.
        context = type(context).model_validate(context.set_knobs())
    messages = [HumanMessage(question)] if isinstance(question, str) else question
    sent: Any = {"messages": messages} if messages else None
    if resume is not None:
        sent = Command(resume=resume)
    config = {"configurable": {"thread_id": thread or uuid.uuid4().hex}, "metadata": metadata or {}}
    # Close at once, so that a run ends with its last reader.
    async with aclosing(follow(compiled, sent, config, context, durability=durability)) as events:
        async for event in events:
            yield event


async def follow(
    compiled: CompiledStateGraph[Any, Any, Any, Any],
    sent: Any,
    config: dict[str, Any],
    context: Context | None = None,
    **options: Any,
) -> AsyncGenerator[dict[str, Any], None]:
    """Yield the typed events of a compiled graph as `astream` does.

    If `sent` is None, the run continues from `config`. `options` are those of LangGraph's own `astream`.
    """
    from langgraph.errors import EmptyInputError

    from ragweave.components.context import ROUNDS

    context = in_library(context, None)
    # A superstep is one node wide. The rounds that any context allows end a turn before this limit: the turn
    # may have started with another context.
    placed: Any = {**config, "recursion_limit": 20 + 10 * (ROUNDS + ROUNDS)}
    modes: Any = {"stream_mode": ["custom", "values"], "version": "v2", "subgraphs": True, **options}
    stream: Any = compiled.astream(sent, placed, context=context, **modes)
    state: Any = {}
    try:
        async with aclosing(_apart(stream)) as parts:
            async for part in parts:
                if part["type"] == "custom":
                    yield part["data"]
                elif part["type"] == "values" and not part["ns"]:
                    state = part["data"]
                    for interrupt in part.get("interrupts") or ():
                        yield dict(interrupt.value)
    except EmptyInputError:
        raise InputError("nothing is asked, and no kept thread to go on with", "send a question") from None
    yield {"type": "state", "state": state}


async def _apart(parts: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
    """Yield the parts of a stream that a separate task reads.

    If its reader leaves, the task is cancelled once and closes the stream. A server cancels the work for a
    reader who has left at each of its awaits: LangGraph could then not end its nodes, and a model would run
    in vain.
    """
    queue: asyncio.Queue[tuple[Any, Exception | None] | None] = asyncio.Queue(1)

    async def read() -> None:
        try:
            async with aclosing(parts):
                async for part in parts:
                    await queue.put((part, None))
        except Exception as error:
            await queue.put((None, error))
        else:
            await queue.put(None)

    reading = asyncio.create_task(read())
    _reading.add(reading)
    reading.add_done_callback(_reading.discard)
    try:
        while True:
            found = await queue.get()
            if found is None:
                return
            part, error = found
            if error is not None:
                raise error
            yield part
    finally:
        reading.cancel()
        await asyncio.wait({reading})


_reading: set[asyncio.Task[None]] = set()
"""Tasks until they end: the event loop has only weak references to tasks."""


def in_library(context: Context | dict[str, Any] | None, library: str | None) -> Context:
    """Return a run's knobs, or the defaults, with the named library if there is one.

    Raises:
        InputError: the context or the library is not usable.
    """
    from ragweave.components.context import Context

    if not isinstance(context, Context | dict | None):
        remedy = "give a ragweave.Context, or its settings as a dict"
        raise InputError(f"the context is a {type(context).__name__}", remedy)
    if not isinstance(library, str | None):
        raise InputError(f"the library is named by a {type(library).__name__}", "give its name as text")
    context = context if isinstance(context, Context) else Context(**context or {})
    return context if library is None else context.model_copy(update={"library": library})


async def asearch(
    query: str,
    *,
    library: str | None = None,
    context: Context | dict[str, Any] | None = None,
    whole: bool = False,
) -> list[Evidence]:
    """Return evidence for a query in the order in which an answer without a model quotes it.

    The library that is named comes before that of the context. With `whole`, for a language model, what holds
    another passage takes its place. Else a document of which a passage is listed is left out.
    """
    return [entry.row for entry in await alist(query, in_library(context, library), whole)]


async def alist(query: str, knobs: Context, whole: bool = False) -> list[Listed]:
    """Return what `asearch` returns, each row with its lines that match."""
    from ragweave.components.distinct import distinct
    from ragweave.components.local.listing import RANKED, listed
    from ragweave.corpora.store.library import open_library
    from ragweave.graphs.search import graph as search
    from ragweave.nodes.state import best_of_hop

    deep = min(2 * knobs.kept, 50) if whole else knobs.kept
    deeper = knobs.model_copy(update={"top_k": max(deep, RANKED)})
    state: Any = await search.ainvoke({"question": query}, context=deeper)
    rows = best_of_hop(state)
    entries = await listed(await open_library(knobs.library), query, rows, knobs, whole)
    if not whole:
        return entries
    kept = distinct([entry.row for entry in entries], knobs.kept)
    lines = {entry.row["id"]: entry for entry in entries}
    return [lines[row["id"]]._replace(row=row) for row in kept]
