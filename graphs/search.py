"""Retrieval alone: routed, fused and scored evidence, without an answer."""

from __future__ import annotations

from langgraph.graph import END, START

from ragweave.graphs.base import Builder, new_graph
from ragweave.graphs.video_rag import build_retrieval
from ragweave.nodes.condense import condense
from ragweave.nodes.fuse import fuse
from ragweave.nodes.retrieve import retrieve
from ragweave.nodes.route import route, to_corpora


def build() -> Builder:
    """Return the graph, uncompiled."""
    search_videos = build_retrieval().compile(name="retrieve_video")
    builder = new_graph(condense, route, retrieve, fuse, retrieve_video=search_videos)
    builder.path(START, "condense", "route")
    ends = {"search": "retrieve", "recordings": "retrieve_video", "no search": END}
    builder.add_conditional_edges("route", to_corpora, ends)
    builder.path("retrieve", "fuse", END)
    builder.path("retrieve_video", "fuse")
    return builder


graph = build().compile(name="search")
