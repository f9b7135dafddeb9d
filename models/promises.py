"""What may be promised of an answer before it is written."""

from __future__ import annotations

from ragweave.models.chat import chat


def marks_promised() -> bool:
    """Say whether the sentences of answers get marks here: only a chat model can read what they rest on."""
    return chat("judge") is not None
