"""Auto-RAG alone: reason, search and repeat until the answer is known or the budget is spent."""

from __future__ import annotations

from langgraph.graph import END, START

from ragweave.graphs.base import Builder, new_graph
from ragweave.nodes.check import check
from ragweave.nodes.condense import condense
from ragweave.nodes.fuse import fuse
from ragweave.nodes.generate import generate
from ragweave.nodes.reason import after_reason, reason
from ragweave.nodes.recall import recall
from ragweave.nodes.retrieve import retrieve


def build() -> Builder:
    """Return the graph, uncompiled."""
    builder = new_graph(condense, reason, retrieve, fuse, recall, generate, check)
    builder.path(START, "condense", "reason")
    decisions = {"ask on": "retrieve", "recall": "recall", "write": "generate", "answered": "check"}
    builder.add_conditional_edges("reason", after_reason, decisions)
    builder.path("retrieve", "fuse", "reason")
    builder.path("recall", "reason")
    builder.path("generate", "check", END)
    return builder


graph = build().compile(name="auto_rag")
