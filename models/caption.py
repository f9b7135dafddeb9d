"""Captions by a vision model, in the language of the reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragweave.models.chat import chat
from ragweave.models.meter import Meter
from ragweave.models.text import clip

LONGEST = 1_500
"""Characters of a caption that are kept."""

Prompt = Callable[[str, str], Sequence[tuple[str, str]]]
"""Makes the messages of a context and the name of a language."""


async def caption(
    images: Sequence[bytes], context: str, *, prompt: Prompt, language: str, node: str, meter: Meter
) -> str | None:
    """Return what a vision model says about pictures, or None where there is no model, or it says nothing.

    Args:
        images: JPEG pictures, in order; several are frames of one clip.
        context: text that is known beside them, as data for the prompt.
        prompt: makes the messages; `ragweave.prompts.captions` is the one that ships.
        language: name of the language to write in, or "" for that of the context.
        node: node that asks.
        meter: budget of the run.

    Raises:
        ModelError: the model cannot be reached, or refuses.
        BudgetSpent: a limit of the run would be passed.
    """
    model = chat("vision")
    if model is None or not images:
        return None
    said = await model.text(prompt(context, language), node=node, meter=meter, images=images)
    return clip(" ".join(said.split()), LONGEST) or None
