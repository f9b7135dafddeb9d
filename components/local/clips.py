"""Keep the clips that may bear on a query, by the shipped relevance head."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.components.local.grade import passages as relevance_of
from ragweave.components.protocols import Kept
from ragweave.components.run_context import RunContext
from ragweave.models.relevance import Passage

FLOOR = -0.85
"""Relevance in [-1, 1] below which a clip is filtered out; a language model's `irrelevant` lies below it."""
AT_LEAST = 5
"""Clips that stay where the head keeps fewer, the first ones: paraphrase looks irrelevant to it."""


async def keep(run: RunContext, query: str, passages: Sequence[Passage]) -> Kept:
    """Return the places of the clips that stay, in order."""
    return Kept(select(await relevance_of(run, query, passages)))


def select(scores: Sequence[float], at_least: int = AT_LEAST) -> list[int]:
    """Return the places of scores at or above the floor, and of the first others up to `at_least`, in order."""
    kept = [n for n, s in enumerate(scores) if s >= FLOOR]
    others = [n for n, s in enumerate(scores) if s < FLOOR]
    return sorted([*kept, *others[: max(0, at_least - len(kept))]])
