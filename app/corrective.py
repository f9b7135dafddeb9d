"""CRAG around any retriever of LangChain, itself a retriever (CRAG, section 4)."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langgraph.graph.state import CompiledStateGraph
from pydantic import Field

from ragweave.app.api import run_sync
from ragweave.app.checked_retriever import CheckedRetriever
from ragweave.components.context import Context
from ragweave.components.evidence import Strip
from ragweave.corpora.store.stores import stay
from ragweave.graphs import corrective
from ragweave.graphs.run import in_library
from ragweave.nodes.retrieve_with import evidence_id
from ragweave.nodes.state import State

logger = logging.getLogger(__name__)

_KNOBS = {"strip_mode": "sentences"}
"""As CRAG has it: what is found is cut into strips, also if a chat model is set up."""


class CragRetriever(CheckedRetriever):
    """A retriever of LangChain whose documents are graded and corrected (CRAG).

    The verdict rests on the best document. `correct` keeps the strips that bear on the query, `incorrect`
    keeps nothing and searches the web, `ambiguous` does both; the web is searched only with `web="auto"` in
    the context. A document has the strips that were kept, in their order. Its metadata gain `verdict`
    (correct, ambiguous or incorrect), `relevance` in [-1, 1], that of its best strip, `origin` (library or
    web) and, for a page of the web, `title` and `source`. What could not be done is logged.
    """

    retriever: BaseRetriever = Field(description="What is searched.")
    library: str | None = Field(
        None, description="Library whose words and vectors weigh what is found; None: none does."
    )
    context: Context | None = Field(None, description="The knobs of a run; None: those of CRAG.")

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        found = await self.retriever.ainvoke(query, config={"callbacks": run_manager.get_child()})
        return await self._corrected(query, found)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        found = self.retriever.invoke(query, config={"callbacks": run_manager.get_child()})
        return run_sync(self._corrected(query, found))

    async def _corrected(self, query: str, found: list[Document]) -> list[Document]:
        stay()
        context = in_library(self.context or Context(method=_KNOBS), self.library)
        sent: Any = {"question": query}
        token = _found.set(found)
        try:
            state: Any = await _graph(self.library is None).ainvoke(sent, context=context)
        finally:
            _found.reset(token)
        for note in state.get("notes", ()):
            logger.warning("%s", note)
        return _documents(state, {evidence_id(document): document for document in found})


_found: ContextVar[list[Document]] = ContextVar("found")
"""The documents that the query under way has found."""


class _Found(BaseRetriever):
    """Returns the documents that the query under way has found already."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return _found.get()

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return _found.get()


@lru_cache(maxsize=2)
def _graph(alone: bool) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the graph, compiled once: that takes longer than to correct the documents of a query."""
    return corrective.build(_Found(), alone=alone).compile()


def _documents(state: State, given: dict[str, Document]) -> list[Document]:
    """Return the kept strips by document, the document with the best strip first."""
    strips: dict[str, list[Strip]] = {}
    for strip in state.get("knowledge", ()):
        strips.setdefault(strip["evidence"], []).append(strip)
    grade = state["grade"]
    assert grade is not None
    made = []
    for name, kept in strips.items():
        best = max(strip["score"] for strip in kept)
        about = {"verdict": grade["action"], "relevance": best, "origin": kept[0]["origin"]}
        text = "\n".join(strip["text"] for strip in kept)
        if name in given:
            about["origin"] = "library"
            made.append(Document(text, id=given[name].id, metadata={**given[name].metadata, **about}))
        else:
            place = {"title": kept[0]["title"], "source": kept[0]["locator"].get("url", "")}
            made.append(Document(text, id=name, metadata={**place, **about}))
    return sorted(made, key=lambda document: -document.metadata["relevance"])
