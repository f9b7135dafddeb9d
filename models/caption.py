"""Captions by a vision model, in the language of the reader."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from ragweave.models.errors import RagweaveError

CONTEXT = 3_000
"""Characters of transcript and screen that a vision model is shown beside the frames."""
SILENT = "the vision model did not answer; the next run asks it again"

Ask = Callable[[Sequence[bytes], str, str], Awaitable[str | None]]
"""Returns what is seen in pictures beside a context, in the language of that name ("" for that of the context).

None where the model says nothing; raises a RagweaveError where it fails."""


@dataclass(frozen=True, slots=True)
class Captioner:
    """A vision model, ready to be asked."""

    name: str
    """Model, host and language: captions by the same name are the same."""
    ask: Ask
    check: Callable[[], Coroutine[Any, Any, None]]
    """Finds out that it answers; raises a RagweaveError where it does not."""


def why_down(captioner: Captioner) -> str:
    """Return why a vision model cannot be asked, in words, or ""."""
    try:
        asyncio.run(captioner.check())
    except RagweaveError as error:
        return str(error)
    return ""
