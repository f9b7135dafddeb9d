"""Define what the reasoner of a turn reads, and what it decides."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ragweave.components.evidence import Evidence, Hop, Strip
from ragweave.components.tables import TablePart
from ragweave.models.relevance import LOWER
from ragweave.models.text import content_terms


@dataclass(frozen=True)
class Decision:
    """The outcome of one round of reasoning; with an empty query, the answer can be written.

    Attributes:
        learnt: new knowledge of the round, in words.
        missing: missing knowledge, in words.
        query: next query, or empty.
        again: whether the query repeats an earlier one and now goes to other corpora.
        more: further queries of the same turn.
        answer: the answer in the reasoner's words, or empty.
        shown: ids of the evidence that the reasoner read, in the order of their numbers.
        table: table of the statement, `Table 3` or `Table library`.
        statement: a SELECT over that table, to run before the answer is written.
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
"""Takes a sentence with the numbers of its sources, and the ids that these numbers mean, in their order."""


@dataclass(frozen=True)
class Knowledge:
    """What the reasoner reads of a turn.

    Attributes:
        question: question of the turn.
        hops: its rounds; no decision follows the last one yet. Empty before the first search.
        rows: evidence, best first, without passages from a model's memory.
        strips: strips kept of it.
        unsearched: whether other corpora have items and were not searched for the last query.
        last: whether no further search is possible.
        tell: shows a sentence of an answer while it is being written.
        plan: (learnt, missing) before the first search (Auto-RAG's R0), or empty.
        lower: relevance below which the evaluator calls a row irrelevant.
        tables: tables of which rows show a part, by the id of the row.
        statements: number of further statements over tables that are allowed.
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
        """Return whether a query has the same content words as an earlier one of the turn."""
        if not query or not self.hops:
            return False
        earlier = [self.question]
        for hop in self.hops:
            earlier += [hop["query"], *hop.get("also", ())]
        key = sorted(content_terms(query))
        return any(sorted(content_terms(one)) == key for one in earlier)

    def is_new(self, table: str, statement: str) -> bool:
        """Return whether a statement was not run yet in this turn."""
        return f"{table}: {statement}" not in {hop["query"] for hop in self.hops}
