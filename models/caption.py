"""Caption pictures by a vision model, in the language of the reader."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from ragweave.models.errors import RagweaveError

CONTEXT = 3_000
"""Most characters of transcript and screen that a vision model reads with the frames."""
SILENT = "the vision model did not answer; the next run asks it again"

Ask = Callable[[Sequence[bytes], str, str], Awaitable[str | None]]
"""Describes pictures with a context in the named language ("" for the language of the context).

It returns None if the model answers nothing, and raises a RagweaveError if the model fails.
"""


@dataclass(frozen=True, slots=True)
class Captioner:
    """A vision model that is ready for calls."""

    name: str
    """Model, host and language; captioners of the same name give the same captions."""
    ask: Ask
    check: Callable[[], Coroutine[Any, Any, None]]
    """Calls the model once, and raises a RagweaveError if it does not answer."""


def why_down(captioner: Captioner) -> str:
    """Return the reason why a vision model does not answer, or ""."""
    try:
        asyncio.run(captioner.check())
    except RagweaveError as error:
        return str(error)
    return ""
