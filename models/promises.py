"""Tell what an answer will have before it is written."""

from __future__ import annotations

from ragweave.models.chat import chat


def marks_promised() -> bool:
    """Return whether sentences of answers get marks, which needs a chat model to read the sources."""
    return chat("judge") is not None
