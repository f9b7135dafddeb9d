"""What every graph starts from."""

from __future__ import annotations

from typing import Any

from langgraph.graph import StateGraph

from ragweave.minds.context import Context
from ragweave.nodes.run import RETRY
from ragweave.nodes.state import Input, State

Builder = StateGraph[State, Context, Input, State]


def new_graph(**nodes: Any) -> Builder:
    """Return a graph over the shared state with these nodes and the one retry policy."""
    builder: Builder = StateGraph(State, context_schema=Context, input_schema=Input)
    for name, node in nodes.items():
        builder.add_node(name, node, retry_policy=RETRY)
    return builder
