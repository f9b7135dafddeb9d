"""Ragweave: answers over your own text, images and long videos, with citations that open the source."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragweave.app.api import aask, aindex, asearch, ask, astream, build_agent, index, search
    from ragweave.app.corrective import CragRetriever
    from ragweave.app.integrations import Retriever, as_tool
    from ragweave.components.answer import Answer
    from ragweave.components.context import Context
    from ragweave.models.errors import RagweaveError

__version__ = "0.1.0"

__all__ = [
    "Answer", "Context", "CragRetriever", "RagweaveError", "Retriever", "__version__", "aask", "aindex", "as_tool",
    "asearch", "ask", "astream", "build_agent", "index", "search",
]  # fmt: skip

_ELSEWHERE = {
    "Answer": "ragweave.components.answer",
    "Context": "ragweave.components.context",
    "CragRetriever": "ragweave.app.corrective",
    "RagweaveError": "ragweave.models.errors",
    "Retriever": "ragweave.app.integrations",
    "as_tool": "ragweave.app.integrations",
}


def __getattr__(name: str) -> object:
    """Load a public name on first use, so that importing the package stays cheap."""
    if name in __all__:
        return getattr(importlib.import_module(_ELSEWHERE.get(name, "ragweave.app.api")), name)
    raise AttributeError(f"module 'ragweave' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
