"""The base of all graphs: a compiled graph, its builder, and its paths."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import pairwise
from typing import Any, Self

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable
from langchain_core.runnables.graph import Graph as Drawing
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.stream import CustomTransformer
from langgraph.types import Overwrite

from ragweave.components.chat_messages import converted
from ragweave.components.context import Context
from ragweave.models.errors import InputError
from ragweave.nodes.run import RETRY
from ragweave.nodes.state import Input, State

_END = object()


class Graph(CompiledStateGraph[State, Context, Input, State]):
    """A compiled graph that takes a question or messages, and that also runs without an event loop."""

    def get_graph(self, *args: Any, **options: Any) -> Drawing:
        """Return LangGraph's drawing; if several words lead along an edge, its label has all of them."""
        drawn = super().get_graph(*args, **options)
        words = self._edge_words()
        for n, edge in enumerate(drawn.edges):
            labels = words.get((edge.source, edge.target))
            if labels:
                drawn.edges[n] = edge._replace(data=", ".join(labels))
        return drawn

    def _edge_words(self) -> dict[tuple[str, str], list[str]]:
        """Return the words that lead along each conditional edge, by (source, target)."""
        words: dict[tuple[str, str], list[str]] = {}
        for source, branches in self.builder.branches.items():
            for branch in branches.values():
                for word, target in (branch.ends or {}).items():
                    if word != target:
                        words.setdefault((source, str(target)), []).append(str(word))
        return words

    async def astream(self, input: Any, *args: Any, **options: Any) -> AsyncIterator[Any]:
        """Stream as LangGraph does; a question becomes a message."""
        async for part in super().astream(_as_messages(input), *args, **options):
            yield part

    def stream(self, input: Any, *args: Any, **options: Any) -> Iterator[Any]:
        """Stream without an event loop, as `invoke` does: the asynchronous nodes run in a thread."""
        parts, runner, context = self.astream(input, *args, **options), asyncio.Runner(), copy_context()

        async def following() -> Any:
            return await anext(parts, _END)

        with ThreadPoolExecutor(1, thread_name_prefix="ragweave") as thread:
            try:
                while True:
                    part = thread.submit(runner.run, following(), context=context).result()
                    if part is _END:
                        return
                    yield part
            finally:
                thread.submit(runner.close).result()


class Builder(StateGraph[State, Context, Input, State]):
    """A graph to which nodes and edges are added."""

    def compile(self, *args: Any, **options: Any) -> Graph:
        """Compile as LangGraph does; its typed event streaming also has the run's own events."""
        carried = (CustomTransformer, *(options.pop("transformers", None) or ()))
        return Graph(**vars(super().compile(*args, transformers=carried, **options)))

    def add_conditional_edges(self, source: str, path: Any, path_map: Any = None) -> Self:
        """Add edges as LangGraph does; a path reads only the state."""
        return super().add_conditional_edges(source, Path(path), path_map)

    def path(self, *nodes: str) -> None:
        """Add a plain edge from each node to the next."""
        for one, following in pairwise(nodes):
            self.add_edge(one, following)


class Path(Runnable[Any, Any]):
    """The function of conditional edges, called directly: LangGraph calls a bare function in a thread."""

    def __init__(self, choose: Callable[[Any], Any]) -> None:
        self._choose, self.name = choose, choose.__name__

    def invoke(self, input: Any, config: Any = None, **options: Any) -> Any:
        """Return the next nodes of a state."""
        return self._choose(input)

    async def ainvoke(self, input: Any, config: Any = None, **options: Any) -> Any:
        """Return the next nodes of a state, without awaiting anything."""
        return self._choose(input)


def new_graph(*verbs: Any, **nodes: Any) -> Builder:
    """Return a graph over the shared state with nodes and the retry policy; a verb is named by itself."""
    builder = Builder(State, context_schema=Context, input_schema=Input)
    for verb in verbs:
        builder.add_node(verb.__name__, verb, retry_policy=RETRY)
    for name, node in nodes.items():
        builder.add_node(name, node, retry_policy=RETRY)
    return builder


def _as_messages(given: Any) -> Any:
    """Return the input of a graph with its question as a message; InputError if the question is no text."""
    if isinstance(given, str):
        given = {"question": given}
    if not isinstance(given, dict):
        return given
    messages, question = given.get("messages"), given.get("question")
    if not messages:
        if question is None:
            return given
        if not isinstance(question, str):
            message = f"the question is no text but {type(question).__name__}"
            raise InputError(message, "write what you want to know")
        messages = [HumanMessage(question)]
    if not isinstance(messages, Overwrite):
        messages = converted(messages)
    has_question = isinstance(question, str) and bool(question.strip())
    if has_question and isinstance(messages, list) and isinstance(messages[-1], AIMessage):
        messages = [*messages, HumanMessage(question)]  # the state of an outer graph with earlier messages
    # Blank until `condense` writes it: a person edited a question that is there before.
    return {**given, "messages": messages, "question": ""}
