"""What every graph starts from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import pairwise
from typing import Any, Self

from langchain_core.messages import AIMessage, HumanMessage, convert_to_messages
from langchain_core.runnables import Runnable
from langchain_core.runnables.graph import Graph as Drawing
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.stream import CustomTransformer
from langgraph.types import Overwrite

from ragweave.components.context import Context
from ragweave.models.errors import InputError
from ragweave.nodes.run import RETRY
from ragweave.nodes.state import Input, State

_END = object()


class Graph(CompiledStateGraph[State, Context, Input, State]):
    """A compiled graph that takes a question as well as messages, and runs also where nobody awaits it."""

    def get_graph(self, *args: Any, **options: Any) -> Drawing:
        """Return the drawing of LangGraph; an edge that several words lead along bears all of them."""
        drawn = super().get_graph(*args, **options)
        words: dict[tuple[str, str], list[str]] = {}
        for source, branches in self.builder.branches.items():
            for branch in branches.values():
                for word, target in (branch.ends or {}).items():
                    if word != target:
                        words.setdefault((source, str(target)), []).append(str(word))
        for n, edge in enumerate(drawn.edges):
            if labels := words.get((edge.source, edge.target)):
                drawn.edges[n] = edge._replace(data=", ".join(labels))
        return drawn

    async def astream(self, input: Any, *args: Any, **options: Any) -> AsyncIterator[Any]:
        """Stream as LangGraph does; a question becomes the message that asks it."""
        async for part in super().astream(_asked(input), *args, **options):
            yield part

    def stream(self, input: Any, *args: Any, **options: Any) -> Iterator[Any]:
        """Stream for callers without a loop, and `invoke` with it: the nodes are asynchronous and run in a thread."""
        parts, runner, context = self.astream(input, *args, **options), asyncio.Runner(), copy_context()

        async def following() -> Any:
            return await anext(parts, _END)

        with ThreadPoolExecutor(1, thread_name_prefix="ragweave") as thread:
            try:
                while (part := thread.submit(runner.run, following(), context=context).result()) is not _END:
                    yield part
            finally:
                thread.submit(runner.close).result()


class Builder(StateGraph[State, Context, Input, State]):
    """A graph to which nodes and edges are added."""

    def compile(self, *args: Any, **options: Any) -> Graph:
        """Compile as LangGraph does; its typed event streaming carries the run's own events, too."""
        carried = (CustomTransformer, *(options.pop("transformers", None) or ()))
        return Graph(**vars(super().compile(*args, transformers=carried, **options)))

    def add_conditional_edges(self, source: str, path: Any, path_map: Any = None) -> Self:
        """Add edges as LangGraph does; a path reads the state alone."""
        return super().add_conditional_edges(source, Path(path), path_map)

    def path(self, *nodes: str) -> None:
        """Add a plain edge from each node to the next."""
        for one, following in pairwise(nodes):
            self.add_edge(one, following)


class Path(Runnable[Any, Any]):
    """The function of conditional edges, called as it is: LangGraph asks a bare function in a thread."""

    def __init__(self, choose: Callable[[Any], Any]) -> None:
        self._choose, self.name = choose, choose.__name__

    def invoke(self, input: Any, config: Any = None, **options: Any) -> Any:
        """Return the nodes that a state leads to."""
        return self._choose(input)

    async def ainvoke(self, input: Any, config: Any = None, **options: Any) -> Any:
        """Return the same; nothing is awaited."""
        return self._choose(input)


def new_graph(*verbs: Any, **nodes: Any) -> Builder:
    """Return a graph over the shared state with these nodes and the one retry policy; a verb has its own name."""
    builder = Builder(State, context_schema=Context, input_schema=Input)
    for name, node in [*((verb.__name__, verb) for verb in verbs), *nodes.items()]:
        builder.add_node(name, node, retry_policy=RETRY)
    return builder


def _asked(given: Any) -> Any:
    """Return what is sent to a graph as its input; an InputError says what cannot be."""
    if isinstance(given, str):
        given = {"question": given}
    if not isinstance(given, dict):
        return given
    said, question = given.get("messages"), given.get("question")
    if not said:
        if question is None:
            return given
        if not isinstance(question, str):
            raise InputError(
                f"the question is no text but {type(question).__name__}", "write what you want to know"
            )
        said = [HumanMessage(question)]
    _check(said)
    if (
        isinstance(said, list)
        and isinstance(said[-1], AIMessage)
        and isinstance(question, str)
        and question.strip()
    ):
        said = [*said, HumanMessage(question)]  # the state of an outer graph, with what was said before
    # Blank until `condense` writes it: words that stand there before were edited in.
    return {**given, "messages": said, "question": ""}


def _check(said: Any) -> None:
    """Refuse what LangGraph could not read as messages, which may be one alone."""
    try:
        if not isinstance(said, Overwrite):
            convert_to_messages(said if isinstance(said, list) else [said])
    except (ValueError, TypeError, KeyError, AttributeError, NotImplementedError) as error:
        remedy = "give messages of LangChain, or dicts with `role` (user or assistant) and `content`"
        raise InputError("one of the messages cannot be read", remedy) from error
