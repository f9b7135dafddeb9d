"""Ragweave inside other programs: a retriever of LangChain, and a tool for an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import ConfigDict, Field, ValidationError

from ragweave.app.api import aask, run_sync
from ragweave.app.places import place_in
from ragweave.components.answer import Answer
from ragweave.components.context import Context, refused
from ragweave.components.evidence import Evidence
from ragweave.components.phrases import as_heard
from ragweave.corpora.store.stores import stay
from ragweave.graphs.run import asearch, in_library
from ragweave.models.errors import InputError
from ragweave.models.promises import marks_promised


class Retriever(BaseRetriever):
    """A library as a retriever of LangChain: routed, retrieved, fused and scored, the best first.

    Each document has the text that was found; its metadata has `title`, `corpus`, `locator` (page, heading,
    seconds, address), `date`, `relevance` in [-1, 1] and `score`.
    """

    model_config = ConfigDict(extra="forbid")

    library: str | None = Field(None, description="Name of the library; None: that of the context.")
    k: int | None = Field(None, ge=1, le=50, description="Most documents; None: as the context says, or 8.")
    context: Context | None = Field(None, description="The knobs of a run.")

    if not TYPE_CHECKING:  # the fields stay the signature

        def __init__(self, /, **given):
            try:
                super().__init__(**given)
            except ValidationError as error:
                raise refused(error, "see docs/python.md") from None

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

    The model reads the answer, or the quotes where no chat model is set, and the sources; the `Answer` itself
    is the artifact of the tool's message. A question that cannot be asked, an empty one, is a message of an
    error that the model reads.

    Args:
        library: name of the library; default: that of the context.
        context: the run's knobs.
        name: what the model calls it.
        description: what the model reads of it; empty: it says what can be had with the models that are set
            up.
    """

    async def look_up(question: str) -> tuple[str, Answer]:
        stay()
        try:
            answer = await aask(question, library=library, context=context)
        except InputError as error:  # the model reads what was wrong, and asks otherwise
            raise ToolException(str(error)) from error
        return _told(answer), answer

    def look_up_now(question: str) -> tuple[str, Answer]:
        return run_sync(look_up(question))

    return StructuredTool.from_function(
        look_up_now,
        look_up,
        name,
        description or _described(),
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def _described() -> str:
    marked = "It returns an answer, each sentence of which was checked against a numbered source."
    quoted = "It returns quotes of the closest passages, which no language model has read."
    return (
        "Look up a question in the person's own documents, pictures and recordings. "
        f"{marked if marks_promised() else quoted} Ask a whole question that can be understood by itself."
    )


def _told(answer: Answer) -> str:
    if answer.kind == "quotes":
        # The text is the quotes below their titles: what is left to say is where they stand.
        places = [f"[{c.n}] {place_in(c.title, c.locator)}" for c in answer.citations]
        return "\n".join([answer.text, "", *places, "", *answer.notes])
    sources = [as_heard(f"[{c.n}] {c.title}: “{c.quote}”", c.locator) for c in answer.citations]
    return "\n".join([answer.text, *sources])


def _document(row: Evidence) -> Document:
    known: dict[str, Any] = dict(row)
    kept = {k: known[k] for k in ("title", "corpus", "locator", "date", "relevance", "score") if k in known}
    return Document(known["text"], id=known["id"], metadata=kept)
