"""Condense a follow-up without a model: it is searched with the question before it."""

from __future__ import annotations

from ragweave.components.protocols import Talk
from ragweave.components.run_context import RunContext
from ragweave.models.text import clip

BEFORE = 500
"""Characters of the previous question that are searched with a follow-up."""


async def condense(run: RunContext, question: str, talk: Talk) -> str:
    """Return the previous question, if there is one, in front of this one."""
    return f"{clip(talk.previous, BEFORE)} {question}" if talk.previous else question
