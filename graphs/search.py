"""Retrieval alone: routed, fused and scored evidence, without an answer."""

from __future__ import annotations

from langgraph.graph import END, START

from ragweave.graphs.base import Builder, new_graph
from ragweave.graphs.video_rag import build_retrieval
from ragweave.nodes.condense import condense
from ragweave.nodes.expand import expand
from ragweave.nodes.fuse import fuse
from ragweave.nodes.plan import dispatch_recordings, plan
from ragweave.nodes.retrieve import retrieve
from ragweave.nodes.route import route


def build() -> Builder:
    """Return the graph, uncompiled."""
    verbs = (condense, route, expand, plan, retrieve, fuse)
    builder = new_graph(*verbs, retrieve_video=build_retrieval().compile(name="retrieve_video"))
    builder.path(START, "condense", "route", "plan")
    builder.path("condense", "expand", "plan")
    builder.add_conditional_edges(
        "plan", dispatch_recordings, {"retrieve": "retrieve", "retrieve_video": "retrieve_video", "generate": END}
    )
    builder.path("retrieve", "fuse", END)
    builder.path("retrieve_video", "fuse")
    return builder


graph = build().compile(name="search")
