"""The base of Ragweave's LangChain retrievers: a wrong field is refused with a remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, ValidationError

from ragweave.components.context import refused


class CheckedRetriever(BaseRetriever):
    """A LangChain retriever that raises a `RagweaveError` for an unknown field or a wrong value."""

    model_config = ConfigDict(extra="forbid")

    # Type checkers must see the signature that pydantic makes of the fields.
    if not TYPE_CHECKING:

        def __init__(self, /, **given):
            try:
                super().__init__(**given)
            except ValidationError as error:
                raise refused(error, "see docs/python.md") from None
