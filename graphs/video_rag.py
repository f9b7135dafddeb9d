"""VideoRAG alone: recast the question, ask every channel, pool, judge and look, then answer with references."""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph

from ragweave.graphs.base import Builder, new_graph
from ragweave.minds.context import Context
from ragweave.nodes.channel import channel
from ragweave.nodes.check import check
from ragweave.nodes.frame import frame
from ragweave.nodes.fuse import fuse
from ragweave.nodes.generate import generate
from ragweave.nodes.judge import judge
from ragweave.nodes.look import look
from ragweave.nodes.plan import dispatch_recordings, plan_recordings
from ragweave.nodes.pool import pool
from ragweave.nodes.recast import channels, recast
from ragweave.nodes.retrieve import retrieve
from ragweave.nodes.retrieve_video import VideoResult, VideoState, VideoTask
from ragweave.nodes.run import RETRY

RetrievalBuilder = StateGraph[VideoState, Context, VideoTask, VideoResult]


def build_retrieval() -> RetrievalBuilder:
    """Return the search in the recordings, uncompiled; the agent has it as its node `retrieve_video`."""
    builder: RetrievalBuilder = StateGraph(
        VideoState, context_schema=Context, input_schema=VideoTask, output_schema=VideoResult
    )
    nodes: dict[str, Any] = {"recast": recast, "channel": channel, "pool": pool, "judge": judge, "look": look}
    for name, node in nodes.items():
        builder.add_node(name, node, retry_policy=RETRY)
    builder.add_edge(START, "recast")
    builder.add_conditional_edges("recast", channels, ["channel"])
    builder.add_edge("channel", "pool")
    builder.add_edge("pool", "judge")
    builder.add_edge("judge", "look")
    builder.add_edge("look", END)
    return builder


def build() -> Builder:
    """Return the whole, uncompiled."""
    builder = new_graph(
        frame=frame,
        plan=plan_recordings,
        retrieve=retrieve,
        retrieve_video=build_retrieval().compile(name="retrieve_video"),
        fuse=fuse,
        generate=generate,
        check=check,
    )
    builder.add_edge(START, "frame")
    builder.add_edge("frame", "plan")
    builder.add_conditional_edges("plan", dispatch_recordings, ["retrieve_video", "retrieve", "generate"])
    builder.add_edge("retrieve", "fuse")
    builder.add_edge("retrieve_video", "fuse")
    builder.add_edge("fuse", "generate")
    builder.add_edge("generate", "check")
    builder.add_edge("check", END)
    return builder


graph = build().compile(name="video_rag")
