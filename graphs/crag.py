"""CRAG alone: grade what was retrieved, then refine it, search the web as well, or search the web instead."""

from __future__ import annotations

from langgraph.graph import END, START

from ragweave.graphs.base import Builder, new_graph
from ragweave.nodes.check import check
from ragweave.nodes.condense import condense
from ragweave.nodes.fuse import fuse
from ragweave.nodes.generate import generate
from ragweave.nodes.grade import grade
from ragweave.nodes.refine import refine
from ragweave.nodes.retrieve import retrieve
from ragweave.nodes.search_web import search_web
from ragweave.nodes.state import State

VERDICTS = {"correct": "refine", "ambiguous": "refine", "incorrect": "generate", "web": "search_web"}


def judged(state: State) -> list[str]:
    """Continue as the verdict says; nothing is searched in other words here."""
    grade = state["grade"]
    assert grade is not None
    action = grade["action"]
    if not grade["web"] or action == "correct":
        return [action]
    return ["ambiguous", "web"] if action == "ambiguous" else ["web"]


def build() -> Builder:
    """Return the graph, uncompiled."""
    builder = new_graph(condense, retrieve, fuse, grade, refine, search_web, generate, check)
    builder.path(START, "condense", "retrieve", "fuse", "grade")
    builder.add_conditional_edges("grade", judged, VERDICTS)
    builder.path("refine", "generate", "check", END)
    builder.path("search_web", "generate")
    return builder


graph = build().compile(name="crag")
