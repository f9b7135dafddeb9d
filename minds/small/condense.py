"""Condense a follow-up by rule: what it leaves to the turn before is put into words."""

from __future__ import annotations

from ragweave.minds.contracts import Core, Talk
from ragweave.minds.desk import Desk
from ragweave.minds.small.question.refer import follow


async def condense(desk: Desk, asked: Core, talk: Talk) -> str:
    """Return the question with what it refers to; one that names a new subject stands as it is."""
    return asked.question if asked.fresh else follow(asked.question, talk.before, asked.onward)
