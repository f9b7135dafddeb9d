"""Captions by a vision model, in the language of the reader."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from ragweave.models.chat import chat
from ragweave.models.errors import RagweaveError
from ragweave.models.meter import Meter
from ragweave.models.text import clip

LONGEST = 1_500
"""Characters of a caption that are kept."""
CONTEXT = 3_000
"""Characters of transcript and screen that a vision model is shown beside the frames."""
SILENT = "the vision model did not answer; the next run asks it again"

Prompt = Callable[[str, str], Sequence[tuple[str, str]]]
"""Makes the messages of a context and the name of a language, such as `ragweave.prompts.captions`."""
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


async def caption(
    images: Sequence[bytes], context: str, *, prompt: Prompt, language: str, node: str, meter: Meter
) -> str | None:
    """Return what a vision model says about JPEG pictures, or None where there is no model, or it says nothing.

    Raises:
        ModelError: the model cannot be reached, or refuses.
        BudgetSpent: a limit of the run would be passed.
    """
    model = chat("vision")
    if model is None or not images:
        return None
    said = await model.text(prompt(context, language), node=node, meter=meter, images=images)
    return clip(" ".join(said.split()), LONGEST) or None


def why_down(captioner: Captioner) -> str:
    """Return why a vision model cannot be asked, in words, or ""."""
    try:
        asyncio.run(captioner.check())
    except RagweaveError as error:
        return str(error)
    return ""
