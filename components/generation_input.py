"""The input of the components that write an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragweave.components.evidence import Evidence, Reply, Strip
from ragweave.models.relevance import LOWER


@dataclass(frozen=True)
class GenerationInput:
    """The input of a writer.

    Attributes:
        question: question of the turn.
        strips: strips of the evidence, recalled passages last.
        rows: evidence of the turn, by id.
        turn: the question as the user wrote it, before condensing.
        searched: whether the turn needed a search.
        chunks: ids of the clips that are read in addition to the strips, in the order of their chunks.
        reply: the answer of the reasoning turn, if there is one.
        lower: relevance below which the last evaluator calls a row irrelevant.
        queries: rewrites of the question.
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
        """The strips that are not a model's own knowledge."""
        return [strip for strip in self.strips if strip["origin"] != "model"]
