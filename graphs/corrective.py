"""CRAG over a LangChain retriever: grade its documents, refine them or search the web (CRAG, section 4)."""

from __future__ import annotations

from langchain_core.retrievers import BaseRetriever
from langgraph.graph import END, START

from ragweave.graphs.base import Builder, new_graph
from ragweave.graphs.crag import judged
from ragweave.nodes.condense import condense
from ragweave.nodes.grade import grade
from ragweave.nodes.refine import refine
from ragweave.nodes.retrieve_with import retrieve_with
from ragweave.nodes.search_web import search_web

VERDICTS = {"correct": "refine", "ambiguous": "refine", "incorrect": END, "web": "search_web"}


def build(retriever: BaseRetriever, *, alone: bool = False) -> Builder:
    """Return the graph, uncompiled; `alone` says that no library weighs what the retriever finds."""
    found = retrieve_with(retriever, alone=alone)
    builder = new_graph(condense, grade, refine, search_web, retrieve=found)
    builder.path(START, "condense", "retrieve", "grade")
    builder.add_conditional_edges("grade", judged, VERDICTS)
    builder.path("refine", END)
    builder.path("search_web", END)
    return builder
