"""RAG-Fusion alone: several phrasings of one question, searched together and fused by rank."""

from __future__ import annotations

from langgraph.graph import END, START

from ragweave.graphs.base import Builder, new_graph
from ragweave.nodes.check import check
from ragweave.nodes.condense import condense
from ragweave.nodes.expand import expand
from ragweave.nodes.fuse import fuse
from ragweave.nodes.generate import generate
from ragweave.nodes.retrieve import retrieve


def build() -> Builder:
    """Return the graph, uncompiled."""
    builder = new_graph(condense, expand, retrieve, fuse, generate, check)
    builder.path(START, "condense", "expand", "retrieve", "fuse", "generate", "check", END)
    return builder


graph = build().compile(name="rag_fusion")
