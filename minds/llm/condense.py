"""Condense a follow-up in one short call."""

from __future__ import annotations

from ragweave.minds.contracts import Core, Talk
from ragweave.minds.desk import Desk
from ragweave.models.text import clip
from ragweave.prompts import load

_TURNS = 6
"""Messages before the question that the model is shown."""


async def condense(desk: Desk, asked: Core, talk: Talk) -> str | None:
    """Return the turn as a question that stands by itself, or None where the reply is something else."""
    history = "\n".join(f"{who}: {clip(text, 500)}" for who, text in talk.messages[-_TURNS:])
    reply = await desk.text(load("condense", history=history, question=asked.text))
    # A reply far longer than the turn is an answer or a refusal, not a question.
    return reply if 0 < len(reply) <= max(400, 4 * len(asked.text)) and "\n" not in reply else None
