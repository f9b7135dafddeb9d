"""What an answer is written from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragweave.components.evidence import Evidence, Reply, Strip
from ragweave.models.relevance import LOWER


@dataclass(frozen=True)
class GenerationInput:
    """What a writer writes from.

    Attributes:
        question: question of the turn.
        strips: what is known, recalled passages last.
        rows: evidence of the turn, by id.
        turn: the question as it was asked, without what condensing put in front of it.
        searched: something was to be searched.
        chunks: ids of the clips that are read beside the strips, in the order of their chunks.
        reply: the answer of the reasoning turn, where there is one.
        lower: relevance below which the last evaluator calls a row irrelevant.
        queries: what the question was rewritten to.
    """

    question: str
    strips: Sequence[Strip]
    rows: Mapping[str, Evidence]
    searched: bool
    chunks: Sequence[str] = ()
    reply: Reply | None = None
    turn: str = ""
    lower: float = LOWER
    queries: Sequence[str] = ()

    @property
    def own(self) -> list[Strip]:
        """The strips that are no model's memory."""
        return [s for s in self.strips if s["origin"] != "model"]
