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


def judged(state: State) -> list[str]:
    """Continue as the verdict says (CRAG); what was found is read beside the web, however little it seems to hold."""
    steps = [str(step) for step in after_grade(state)]
    return ["unsure", "web"] if steps == ["web"] else steps


def begun(state: State) -> list[str]:
    """Plan first where the run says so (Auto-RAG), else search at once."""
    return ["reason"] if state.get("plans") else opened(state)


def opened(state: State) -> list[str]:
    """Route, and beside it rewrite; before its first look a chat model does not rewrite unless it always shall."""
    return ["route", "expand"] if state.get("rewrite", True) else ["route"]


def decided(state: State) -> list[str] | str:
    """Continue as `reason` decided; another hop begins like the first."""
    if state["then"] == "ask on" and state.get("rewrite"):
        return ["ask on", "reword"]
    return state["then"]


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
    verdicts = {"correct": "refine", "ambiguous": "refine", "unsure": "refine"}
    verdicts |= {"incorrect": "expand", "web": "search_web"}
    builder.add_conditional_edges("grade", judged, verdicts)
    builder.path("refine", "reason")
    builder.path("search_web", "reason")
    decisions = {"ask on": "route", "reword": "expand", "recall": "recall", "write": "generate", "answered": "check"}
    builder.add_conditional_edges("reason", decided, decisions)
    builder.path("recall", "reason")
    builder.path("generate", "check", END)
    return builder


graph = build().compile(name="agent")
