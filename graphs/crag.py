"""CRAG alone: grade what was retrieved, then refine it, search the web as well, or search the web instead."""

from __future__ import annotations

from langgraph.graph import END, START

from ragweave.graphs.base import Builder, new_graph
from ragweave.nodes.check import check
from ragweave.nodes.condense import condense
from ragweave.nodes.fuse import fuse
from ragweave.nodes.generate import generate
from ragweave.nodes.grade import after_grade, grade
from ragweave.nodes.plan import dispatch, plan
from ragweave.nodes.refine import refine
from ragweave.nodes.retrieve import retrieve
from ragweave.nodes.search_web import search_web


def build() -> Builder:
    """Return the graph, uncompiled."""
    builder = new_graph(condense, plan, retrieve, fuse, grade, refine, search_web, generate, check)
    builder.path(START, "condense", "plan")
    builder.add_conditional_edges("plan", dispatch, ["retrieve", "generate"])
    builder.path("retrieve", "fuse", "grade")
    verdicts = {"correct": "refine", "ambiguous": "refine", "web": "search_web"}
    verdicts |= {"incorrect": "generate", "unsure": "generate"}
    builder.add_conditional_edges("grade", after_grade, verdicts)
    builder.path("refine", "generate", "check", END)
    builder.path("search_web", "generate")
    return builder


graph = build().compile(name="crag")
