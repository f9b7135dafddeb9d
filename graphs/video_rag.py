"""VideoRAG alone: rewrite the query, search, merge, judge and look, then answer with references."""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph

from ragweave.components.context import Context
from ragweave.graphs.base import Builder, Path, new_graph
from ragweave.nodes.check import check
from ragweave.nodes.condense import condense
from ragweave.nodes.fuse import fuse
from ragweave.nodes.generate import generate
from ragweave.nodes.judge import judge
from ragweave.nodes.look import look
from ragweave.nodes.merge import merge
from ragweave.nodes.retrieve_clips import retrieve_clips
from ragweave.nodes.rewrite import retrievers, rewrite
from ragweave.nodes.run import RETRY
from ragweave.nodes.state import VideoResult, VideoState, VideoTask


def build_retrieval() -> StateGraph[VideoState, Context, VideoTask, VideoResult]:
    """Return the search in recordings, uncompiled; it is the agent's node `retrieve_video`."""
    builder = StateGraph(
        VideoState, context_schema=Context, input_schema=VideoTask, output_schema=VideoResult
    )
    builder.set_node_defaults(retry_policy=RETRY).add_node(rewrite)
    one_by_one: list[Any] = [retrieve_clips, merge, judge, look]
    builder.add_sequence(one_by_one)
    builder.add_edge(START, "rewrite")
    builder.add_conditional_edges("rewrite", Path(retrievers), {"search": "retrieve_clips", "no search": END})
    builder.add_edge("look", END)
    return builder


def build() -> Builder:
    """Return the graph, uncompiled."""
    search_videos = build_retrieval().compile(name="retrieve_video")
    builder = new_graph(condense, fuse, generate, check, retrieve_video=search_videos)
    builder.path(START, "condense", "retrieve_video", "fuse", "generate", "check", END)
    return builder


graph = build().compile(name="video_rag")
