"""UniversalRAG alone: route the question to a corpus and granularity, or to none, then answer from it."""

from __future__ import annotations

from langgraph.graph import END, START

from ragweave.graphs.base import Builder, new_graph
from ragweave.nodes.check import check
from ragweave.nodes.condense import condense
from ragweave.nodes.fuse import fuse
from ragweave.nodes.generate import generate
from ragweave.nodes.retrieve import retrieve
from ragweave.nodes.route import route, to_each


def build() -> Builder:
    """Return the graph, uncompiled."""
    builder = new_graph(condense, route, retrieve, fuse, generate, check)
    builder.path(START, "condense", "route")
    builder.add_conditional_edges("route", to_each, {"search": "retrieve", "no search": "generate"})
    builder.path("retrieve", "fuse", "generate", "check", END)
    return builder


graph = build().compile(name="universal_rag")
