"""RAG-Fusion alone: several phrasings of one question, searched together and fused by rank."""

from __future__ import annotations

from langgraph.graph import END, START

from ragweave.graphs.base import Builder, new_graph
from ragweave.nodes.check import check
from ragweave.nodes.condense import condense
from ragweave.nodes.expand import expand
from ragweave.nodes.fuse import fuse
from ragweave.nodes.generate import generate
from ragweave.nodes.plan import dispatch, plan
from ragweave.nodes.retrieve import retrieve


def build() -> Builder:
    """Return the graph, uncompiled."""
    builder = new_graph(
        condense=condense, expand=expand, plan=plan, retrieve=retrieve, fuse=fuse, generate=generate, check=check
    )
    builder.add_edge(START, "condense")
    builder.add_edge("condense", "expand")
    builder.add_edge("expand", "plan")
    builder.add_conditional_edges("plan", dispatch, ["retrieve", "generate"])
    builder.add_edge("retrieve", "fuse")
    builder.add_edge("fuse", "generate")
    builder.add_edge("generate", "check")
    builder.add_edge("check", END)
    return builder


graph = build().compile(name="rag_fusion")
