"""What a turn knows when it reasons, and what reasoning decides."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ragweave.components.evidence import Evidence, Hop, Strip
from ragweave.components.tables import TablePart
from ragweave.models.relevance import LOWER
from ragweave.models.text import content_terms


@dataclass(frozen=True)
class Decision:
    """Outcome of one round of reasoning; an empty query means that the answer can be written.

    Attributes:
        learnt: what the round added, in words.
        missing: what is not known yet, in words.
        query: next query, or empty.
        again: the query was asked before, and goes to other corpora now.
        more: further queries of the same turn.
        answer: the answer in the reasoner's words, where it gave one.
        shown: ids of the evidence that it was shown, in the order of their numbers.
        table: `Table 3` or `Table library`, of which the statement is asked.
        statement: a SELECT over that table; the answer is not written yet.
    """

    learnt: str = ""
    missing: str = ""
    query: str = ""
    again: bool = False
    more: tuple[str, ...] = ()
    answer: str = ""
    shown: tuple[str, ...] = ()
    table: str = ""
    statement: str = ""


Tell = Callable[[str, Sequence[str]], Awaitable[None]]
"""Takes a sentence, with the numbers of what it rests on, and the ids that the numbers mean, in their order."""


@dataclass(frozen=True)
class Knowledge:
    """What a turn knows.

    Attributes:
        question: question of the turn.
        hops: its rounds; the last one has just ended, and nothing is decided of it. None before the first
            search.
        rows: what was found, best first; without what a model wrote from memory.
        strips: what was kept of it.
        unsearched: other corpora hold something that was not searched for the last query.
        last: nothing more can be searched.
        tell: shows a sentence of an answer while it is being written.
        plan: what was thought before the first search, and what was missing (Auto-RAG's R0); empty where
            nothing was.
        lower: relevance below which the round's evaluator calls a row irrelevant.
        tables: tables that the rows show a part of, by the id of the row.
        statements: how many more may be asked of tables.
    """

    question: str
    hops: Sequence[Hop] = ()
    rows: Sequence[Evidence] = ()
    strips: Sequence[Strip] = ()
    unsearched: bool = False
    last: bool = False
    tell: Tell | None = None
    plan: Sequence[str] = ()
    lower: float = LOWER
    tables: Mapping[str, Sequence[TablePart]] = field(default_factory=dict)
    statements: int = 0

    def asked(self, query: str) -> bool:
        """Tell whether a query has the same content words as one that was asked before."""
        before = (
            [self.question, *(q for h in self.hops for q in (h["query"], *h.get("also", ())))]
            if self.hops
            else []
        )
        key = sorted(content_terms(query))
        return bool(query) and any(sorted(content_terms(a)) == key for a in before)

    def is_new(self, table: str, statement: str) -> bool:
        """Tell whether a statement was not run yet in this turn."""
        return f"{table}: {statement}" not in {hop["query"] for hop in self.hops}
