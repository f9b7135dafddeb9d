"""The whole agent: five methods in one graph."""

from __future__ import annotations

from langgraph.graph import END, START

from ragweave.graphs.base import Builder, new_graph
from ragweave.graphs.video_rag import build_retrieval
from ragweave.nodes.check import check
from ragweave.nodes.condense import condense
from ragweave.nodes.expand import expand
from ragweave.nodes.fuse import fuse
from ragweave.nodes.generate import generate
from ragweave.nodes.grade import after_grade, grade
from ragweave.nodes.plan import dispatch_recordings, plan
from ragweave.nodes.reason import reason
from ragweave.nodes.recall import recall
from ragweave.nodes.refine import refine
from ragweave.nodes.retrieve import retrieve
from ragweave.nodes.route import route
from ragweave.nodes.search_web import search_web
from ragweave.nodes.state import State


def correct(state: State) -> list[str]:
    """CRAG's three actions; without the web the nearest of what was found goes on also where it looks wrong.

    It may say in other words what was asked. A chat model reads what was found in any case.
    """
    actions = after_grade(state)
    if not actions or (state.get("whole") and "refine" not in actions):
        return ["refine", *actions]
    return actions


def begun(state: State) -> list[str]:
    """Plan first where the run says so (Auto-RAG), else search at once."""
    return ["reason"] if state.get("plans") else opened(state)


def opened(state: State) -> list[str]:
    """Route, and beside it rewrite; before its first look a chat model does not rewrite unless it always shall."""
    return ["route", "expand"] if state.get("rewrite", True) else ["route"]


def decided(state: State) -> list[str] | str:
    """Continue as `reason` decided; another hop begins like the first."""
    return opened(state) if state["then"] == "more" else state["then"]


def build() -> Builder:
    """Return the agent's graph, uncompiled."""
    verbs = (condense, route, expand, plan, retrieve, fuse, grade, refine, search_web, reason, recall, generate, check)
    search_videos = build_retrieval().compile(name="retrieve_video")
    builder = new_graph(*verbs, retrieve_video=search_videos)
    builder.path(START, "condense")
    # Plain edges to plan: a list-edge is a barrier and would end the loop silently at the second hop.
    builder.add_conditional_edges("condense", begun, ["route", "expand", "reason"])
    builder.path("route", "plan")
    builder.path("expand", "plan")
    builder.add_conditional_edges("plan", dispatch_recordings, ["retrieve", "retrieve_video", "generate"])
    builder.path("retrieve", "fuse", "grade")
    builder.path("retrieve_video", "fuse")
    builder.add_conditional_edges("grade", correct, ["refine", "search_web"])
    builder.path("refine", "reason")
    builder.path("search_web", "reason")
    builder.add_conditional_edges("reason", decided, ["route", "expand", "recall", "generate"])
    builder.path("recall", "reason")
    builder.path("generate", "check", END)
    return builder


graph = build().compile(name="agent")
