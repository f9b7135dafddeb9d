"""CRAG around any retriever of LangChain, itself a retriever (CRAG, section 4)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, ValidationError

from ragweave.app.api import run_sync
from ragweave.components.context import Context, refused
from ragweave.components.evidence import Strip
from ragweave.corpora.store.stores import stay
from ragweave.graphs import corrective
from ragweave.graphs.run import in_library
from ragweave.nodes.retrieve_with import evidence_id
from ragweave.nodes.state import State

logger = logging.getLogger(__name__)

_KNOBS = {"strip_mode": "sentences"}
"""As CRAG has it: what is found is cut into strips, also if a chat model is set up."""


class CragRetriever(BaseRetriever):
    """A retriever of LangChain whose documents are graded and corrected (CRAG).

    The verdict rests on the best document. `correct` keeps the strips that bear on the query, `incorrect`
    keeps nothing and searches the web, `ambiguous` does both; the web is searched only with `web="auto"` in
    the context. A document has the strips that were kept, in their order. Its metadata gain `verdict`
    (correct, ambiguous or incorrect), `relevance` in [-1, 1], that of its best strip, `origin` (library or
    web) and, for a page of the web, `title` and `source`. What could not be done is logged.
    """

    model_config = ConfigDict(extra="forbid")

    retriever: BaseRetriever = Field(description="What is searched.")
    library: str | None = Field(
        None, description="Library whose words and vectors weigh what is found; None: none does."
    )
    context: Context | None = Field(None, description="The knobs of a run; None: those of CRAG.")

    if not TYPE_CHECKING:  # the fields stay the signature

        def __init__(self, /, **given):
            try:
                super().__init__(**given)
            except ValidationError as error:
                raise refused(error, "see docs/python.md") from None

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
        graph = corrective.build(_Found(documents=found), alone=self.library is None).compile()
        sent: Any = {"question": query}
        state: Any = await graph.ainvoke(sent, context=context)
        for note in state.get("notes", ()):
            logger.warning("%s", note)
        return _documents(state, {evidence_id(document): document for document in found})


class _Found(BaseRetriever):
    """What was found already."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.documents

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.documents


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
