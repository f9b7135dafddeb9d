"""Ragweave: answers over your own text, images and long videos, with citations that open the source."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "Answer": "ragweave.nodes.answer",
    "Context": "ragweave.minds.context",
    "RagweaveError": "ragweave.models.errors",
    "ask": "ragweave.app.api",
    "aask": "ragweave.app.api",
    "build_agent": "ragweave.app.api",
    "index": "ragweave.app.api",
    "aindex": "ragweave.app.api",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package stays cheap."""
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'ragweave' has no attribute {name!r}")
