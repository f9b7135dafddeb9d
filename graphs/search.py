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
    builder = new_graph(
        condense=condense,
        route=route,
        expand=expand,
        plan=plan,
        retrieve=retrieve,
        retrieve_video=build_retrieval().compile(name="retrieve_video"),
        fuse=fuse,
    )
    builder.add_edge(START, "condense")
    builder.add_edge("condense", "route")
    builder.add_edge("condense", "expand")
    builder.add_edge("route", "plan")
    builder.add_edge("expand", "plan")
    builder.add_conditional_edges(
        "plan", lambda state: dispatch_recordings(state, END), ["retrieve", "retrieve_video", END]
    )
    builder.add_edge("retrieve", "fuse")
    builder.add_edge("retrieve_video", "fuse")
    builder.add_edge("fuse", END)
    return builder


graph = build().compile(name="search")
