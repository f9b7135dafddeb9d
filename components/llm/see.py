"""Understand a question without its pictures: a vision model names in it what they show."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.components.attachments import Attachment
from ragweave.components.run_context import RunContext
from ragweave.models.text import clip
from ragweave.prompts import load, quote

_TOLD = 2_000
"""Characters of the words in pictures that the model is told."""


async def see(run: RunContext, question: str, pictures: Sequence[Attachment]) -> str | None:
    """Return the question with what its pictures show, or None where the reply is something else."""
    words = quote(clip("\n".join(p.words for p in pictures), _TOLD) or "(none)")
    reply = await run.text(load("see", question=question, words=words), "vision", [p.image for p in pictures])
    if not 0 < len(reply) <= max(600, 4 * len(question)) or "\n" in reply:
        return None  # an answer or a refusal, not a question
    run.note(f"With what was sent as a picture, the question was read as: “{reply}”")
    return reply
