"""Running a graph: by name, with a thread where there is a saver, as a stream of typed events."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage
    from langgraph.graph.state import CompiledStateGraph

    from ragweave.graphs.base import Wrap
    from ragweave.minds.context import Context
    from ragweave.minds.evidence import Evidence

GRAPHS: dict[str, str] = {
    name: f"ragweave.graphs.{name}"
    for name in ("agent", "universal_rag", "rag_fusion", "crag", "auto_rag", "video_rag")
}
"""Graphs by name, and the module that builds each."""


def build_agent(
    graph: str = "agent", *, checkpointer: Any = None, wrap: Wrap | None = None
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return a compiled graph, ready to invoke, stream, or add as a node of another graph.

    Args:
        graph: name of one of `GRAPHS`.
        checkpointer: a LangGraph saver; with one, threads persist and web consent can be asked.
        wrap: what every node is put through, for a run that is recorded or replayed.

    Raises:
        InputError: if there is no graph of that name.
    """
    if graph not in GRAPHS:
        raise InputError(f"there is no graph named “{graph}”", f"use one of: {', '.join(GRAPHS)}")
    module = import_module(GRAPHS[graph])
    compiled: CompiledStateGraph[Any, Any, Any, Any]
    if checkpointer is None and wrap is None:
        compiled = module.graph
        return compiled
    from ragweave.graphs.base import through

    with through(wrap) if wrap else nullcontext():
        compiled = module.build().compile(checkpointer=checkpointer, name=graph)
    return compiled


async def astream(
    question: str | list[AnyMessage],
    *,
    context: Context | None = None,
    thread: str | None = None,
    graph: str | CompiledStateGraph[Any, Any, Any, Any] = "agent",
    checkpointer: Any = None,
    resume: Any = None,
    durability: Literal["sync", "async", "exit"] | None = None,
) -> AsyncGenerator[dict[str, Any], None]:
    """Yield the run's typed events, then one `{"type": "state", "state": State}`.

    An interrupt (consent to a web search) is yielded as `{"type": "consent", ...}`, and the run ends there; call again
    with the same thread and `resume=True` or `resume=False`.

    Args:
        question: the question, or the conversation that ends with it.
        context: the run's knobs.
        thread: id of a thread kept by the checkpointer.
        graph: name of one of `GRAPHS`, or a graph that has been compiled with its saver.
        checkpointer: a LangGraph saver.
        resume: answer to the interrupt that ended the previous call.
        durability: when the saver writes: at each step, or with `exit` once at the end.
    """
    from langchain_core.messages import HumanMessage
    from langgraph.types import Command

    from ragweave.minds.context import Context

    compiled = build_agent(graph, checkpointer=checkpointer) if isinstance(graph, str) else graph
    messages = [HumanMessage(question)] if isinstance(question, str) else question
    sent: Any = {"messages": messages} if resume is None else Command(resume=resume)
    context = context or Context()
    # A superstep is one node wide; the hop budget ends the run long before this limit does.
    limit = 20 + 10 * (context.max_hops + context.max_recalls)
    config: Any = {"configurable": {"thread_id": thread or uuid.uuid4().hex}, "recursion_limit": limit}
    state: Any = {}
    stream: Any = compiled.astream(
        sent,
        config,
        context=context,
        stream_mode=["custom", "values"],
        version="v2",
        durability=durability,
        subgraphs=True,
    )
    # Closed at once, so that a run ends with its last reader.
    async with aclosing(stream):
        async for part in stream:
            if part["type"] == "custom":
                yield part["data"]
            elif part["type"] == "values" and not part["ns"]:
                state = part["data"]
                for asked in part.get("interrupts") or ():
                    yield dict(asked.value)
    yield {"type": "state", "state": state}


async def asearch(query: str, *, context: Context | None = None) -> list[Evidence]:
    """Return ranked evidence for a query, without an answer: routed, retrieved, fused and scored."""
    from ragweave.graphs.search import graph as search
    from ragweave.minds.context import Context

    sent: Any = {"messages": [("human", query)]}
    state = await search.ainvoke(sent, context=context or Context())
    rows = {e["id"]: e for e in state["evidence"]}
    return [rows[i] for i in state["candidates"]]
