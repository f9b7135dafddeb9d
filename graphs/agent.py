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
from ragweave.nodes.reason import after_reason, reason
from ragweave.nodes.recall import recall
from ragweave.nodes.refine import refine
from ragweave.nodes.retrieve import retrieve
from ragweave.nodes.route import route, to_corpora
from ragweave.nodes.search_web import search_web
from ragweave.nodes.state import State

SEARCH = {"search": "retrieve", "recordings": "retrieve_video", "no search": "generate"}
VERDICTS = {
    "correct": "refine",
    "ambiguous": "refine",
    "unsure": "refine",
    "incorrect": "expand",
    "reword": "expand",
    "web": "search_web",
}
DECISIONS = {"ask on": "route", "recall": "recall", "write": "generate", "answered": "check"}


def judged(state: State) -> list[str]:
    """Return the next steps of a verdict (CRAG); the found items are read in addition to the web."""
    steps: list[str] = list(after_grade(state))
    return ["unsure", "web"] if steps == ["web"] else steps


def build() -> Builder:
    """Return the agent's graph, uncompiled."""
    verbs = (
        condense,
        route,
        retrieve,
        fuse,
        grade,
        expand,
        refine,
        search_web,
        reason,
        recall,
        generate,
        check,
    )
    search_videos = build_retrieval().compile(name="retrieve_video")
    builder = new_graph(*verbs, retrieve_video=search_videos)
    builder.path(START, "condense", "route")
    builder.add_conditional_edges("route", to_corpora, SEARCH)
    builder.path("retrieve", "fuse", "grade")
    builder.path("retrieve_video", "fuse")
    builder.add_conditional_edges("grade", judged, VERDICTS)
    builder.add_conditional_edges(
        "expand", to_corpora, {"search": "retrieve", "recordings": "retrieve_video"}
    )
    builder.path("refine", "reason")
    builder.path("search_web", "reason")
    builder.add_conditional_edges("reason", after_reason, DECISIONS)
    builder.path("recall", "reason")
    builder.path("generate", "check", END)
    return builder


graph = build().compile(name="agent")
