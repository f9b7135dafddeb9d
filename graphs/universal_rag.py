"""UniversalRAG alone: route the question to a corpus and granularity, or to none, then answer from it."""

from __future__ import annotations

from langgraph.graph import END, START

from ragweave.graphs.base import Builder, new_graph
from ragweave.nodes.check import check
from ragweave.nodes.condense import condense
from ragweave.nodes.fuse import fuse
from ragweave.nodes.generate import generate
from ragweave.nodes.plan import dispatch, plan
from ragweave.nodes.retrieve import retrieve
from ragweave.nodes.route import route


def build() -> Builder:
    """Return the graph, uncompiled."""
    builder = new_graph(
        condense=condense, route=route, plan=plan, retrieve=retrieve, fuse=fuse, generate=generate, check=check
    )
    builder.add_edge(START, "condense")
    builder.add_edge("condense", "route")
    builder.add_edge("route", "plan")
    builder.add_conditional_edges("plan", dispatch, ["retrieve", "generate"])
    builder.add_edge("retrieve", "fuse")
    builder.add_edge("fuse", "generate")
    builder.add_edge("generate", "check")
    builder.add_edge("check", END)
    return builder


graph = build().compile(name="universal_rag")
