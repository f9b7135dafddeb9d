"""What every graph starts from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langgraph.graph import StateGraph

from ragweave.minds.context import Context
from ragweave.nodes.run import RETRY
from ragweave.nodes.state import Input, State

Builder = StateGraph[State, Context, Input, State]

Wrap = Callable[[str, Callable[..., Any]], Callable[..., Any]]
"""Takes a node's name and function, and returns the function to put in its place."""

_wrap: ContextVar[Wrap | None] = ContextVar("wrap", default=None)


@contextmanager
def through(wrap: Wrap) -> Iterator[None]:
    """Build graphs whose nodes are put through `wrap`: to record them, to replay them, to leave one out."""
    token = _wrap.set(wrap)
    try:
        yield
    finally:
        _wrap.reset(token)


def new_graph(**nodes: Any) -> Builder:
    """Return a graph over the shared state with these nodes and the one retry policy."""
    builder: Builder = StateGraph(State, context_schema=Context, input_schema=Input)
    wrap = _wrap.get()
    for name, node in nodes.items():
        # A graph as a node is made of nodes of its own.
        wrapped = wrap(name, node) if wrap and inspect.iscoroutinefunction(node) else node
        builder.add_node(name, wrapped, retry_policy=RETRY)
    return builder
