"""Retrieve with a LangChain retriever instead of the search of the library."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import chain, zip_longest

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from ragweave.components.evidence import TEXT_LIMIT, Evidence, Route, with_relevance
from ragweave.components.passages import as_read, best_window, relevances
from ragweave.corpora.store.unheld import no_library
from ragweave.corpora.types import Locator, digest
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import NO_ROUTER, State, Update, phrasings_of

SearchNode = Callable[[State, NodeRuntime], Awaitable[Update]]


def retrieve_with(retriever: BaseRetriever, *, alone: bool = False) -> SearchNode:
    """Return a node that replaces `retrieve` and `fuse`: `new_graph(..., retrieve=retrieve_with(retriever))`.

    The retriever gets each phrasing of the hop, and their documents take turns. The relevance head scores
    them for the query, so that `grade` and later nodes work as with a library. The metadata `source` or
    `url`, `title` and `page` of a document become its locator.

    Args:
        retriever: the retriever that is searched.
        alone: whether there is no library whose words and vectors could weigh the documents.
    """

    async def retrieve(state: State, runtime: NodeRuntime) -> Update:
        run = NodeRun("retrieve", state, runtime, by=type(retriever).__name__)
        if alone:
            run.turn.library = await no_library()
        phrased = phrasings_of(state)
        queries = [state["query"], *phrased["also"], *phrased["rewrites"]]
        lists = await asyncio.gather(*map(retriever.ainvoke, queries))
        found: dict[str, Evidence] = {}
        for document in filter(None, chain.from_iterable(zip_longest(*lists))):
            row = evidence_from(document, state["query"], run.hop)
            found.setdefault(row["id"], row)
        rows = await _scored(run, list(found.values())[: run.context.kept], state["query"])
        route: Route = {
            "hop": run.hop,
            "corpora": ["document"],
            "confidence": {},
            "by": NO_ROUTER,
            "why": "this graph has a retriever of its own",
        }
        ids = [row["id"] for row in rows]
        summary = f"{counted(len(rows), 'document')} for {counted(len(queries), 'phrasing')}"
        return run.done(summary, data={"queries": queries}, evidence=rows, candidates=ids, routes=[route])

    return retrieve


def evidence_id(document: Document) -> str:
    """Return the id of the evidence that a document becomes."""
    return f"document-{document.id or digest(_source(document), document.page_content)}"


def _source(document: Document) -> str:
    return str(document.metadata.get("url") or document.metadata.get("source") or "")


def evidence_from(document: Document, query: str, hop: int) -> Evidence:
    """Return a LangChain document as evidence, a long one as its part that best matches the query."""
    data = document.metadata
    source = _source(document)
    place: Locator = {"kind": "heading", "file": source}
    if source.startswith("http"):
        place = {"kind": "url", "url": source}
    if isinstance(data.get("page"), int):
        place = {"kind": "page", "file": source, "page": data["page"]}
    start, end = best_window(document.page_content, query, TEXT_LIMIT)
    return {
        "id": evidence_id(document),
        "corpus": "document",
        "origin": "web" if place["kind"] == "url" else "library",
        "title": str(data.get("title") or source or "A document"),
        "text": document.page_content[start:end],
        "locator": place,
        "query": query,
        "hop": hop,
        "score": 0.0,
        "relevance": 0.0,
        "date": "",
    }


async def _scored(run: NodeRun, rows: list[Evidence], query: str) -> list[Evidence]:
    """Return rows with their relevance to the query."""
    scores = await relevances(await run.library(), query, list(map(as_read, rows)))
    return with_relevance(rows, scores)
