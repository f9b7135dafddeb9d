"""Ragweave inside LangChain programs: a retriever, and a tool for an agent."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import Field

from ragweave.app.api import aask, run_sync
from ragweave.app.checked_retriever import CheckedRetriever
from ragweave.app.places import place_in
from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.components.evidence import Evidence
from ragweave.components.phrases import as_heard
from ragweave.corpora.store.stores import stay
from ragweave.graphs.run import asearch, in_library
from ragweave.models.errors import InputError
from ragweave.models.promises import marks_promised


class Retriever(CheckedRetriever):
    """A library as a LangChain retriever; the best passage comes first.

    Each document has the text of a passage; its metadata has `title`, `corpus`, `locator` (page, heading,
    seconds, address), `date`, `relevance` in [-1, 1] and `score`.
    """

    library: str | None = Field(None, description="Name of the library; None: that of the context.")
    k: int | None = Field(None, ge=1, le=50, description="Most documents; None: as the context says, or 8.")
    context: Context | None = Field(None, description="The knobs of a run.")

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return await self._found(query)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return run_sync(self._found(query))

    async def _found(self, query: str) -> list[Document]:
        stay()
        context = in_library(self.context, self.library)
        if self.k is not None:
            context = context.model_copy(update={"top_k": self.k})
        return [_document(row) for row in await asearch(query, context=context, whole=True)]


def as_tool(
    *,
    library: str | None = None,
    context: Context | None = None,
    name: str = "ask_library",
    description: str = "",
) -> BaseTool:
    """Return a tool that answers from a library, for an agent whose model calls tools.

    The model reads the answer with its sources, or quotes if no chat model is set. The `Answer` itself is the
    artifact of the tool's message. If the question cannot be used, the model reads the error.

    Args:
        library: name of the library; default: that of the context.
        context: the run's knobs.
        name: name of the tool, as the model calls it.
        description: description of the tool for the model; empty: one that fits the models that are set up.
    """

    async def look_up(question: str) -> tuple[str, Answer]:
        stay()
        try:
            answer = await aask(question, library=library, context=context)
        except InputError as error:
            # The model reads the error, and can call the tool with another question.
            raise ToolException(str(error)) from error
        return _content(answer), answer

    def look_up_now(question: str) -> tuple[str, Answer]:
        return run_sync(look_up(question))

    return StructuredTool.from_function(
        look_up_now,
        look_up,
        name,
        description or _description(),
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def _description() -> str:
    """Return the description of the tool, which depends on whether a chat model writes the answers."""
    result = "It returns quotes of the closest passages, which no language model has read."
    if marks_promised():
        result = "It returns an answer, each sentence of which was checked against a numbered source."
    return (
        "Look up a question in the person's own documents, pictures and recordings. "
        f"{result} Ask a whole question that can be understood by itself."
    )


def _content(answer: Answer) -> str:
    """Return the text of an answer and its sources for the model."""
    if answer.kind == "quotes":
        # The text already has the quotes with their titles; only their places are missing.
        places = [f"[{c.n}] {place_in(c.title, c.locator)}" for c in answer.citations]
        return "\n".join([answer.text, "", *places, "", *answer.notes])
    sources = [as_heard(f"[{c.n}] {c.title}: “{c.quote}”", c.locator) for c in answer.citations]
    return "\n".join([answer.text, *sources])


def _document(row: Evidence) -> Document:
    """Return evidence as a LangChain document."""
    fields: dict[str, Any] = dict(row)
    metadata: dict[str, Any] = {}
    for name in ("title", "corpus", "locator", "date", "relevance", "score"):
        if name in fields:
            metadata[name] = fields[name]
    return Document(fields["text"], id=fields["id"], metadata=metadata)
