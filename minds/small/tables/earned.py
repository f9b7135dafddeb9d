"""Who gets money: what somebody earns or is paid is no price of a thing that stands beside him in a table."""

from __future__ import annotations

import re

from ragweave.minds.small.tables.ask import Asked
from ragweave.minds.small.tables.measures import COSTS, EARNINGS, SELLERS, WORDS_OF
from ragweave.minds.small.tables.rows import Choice, measured
from ragweave.models.table import Column, Table
from ragweave.models.text import terms, words

_EARNS = re.compile(
    r"\bearn(?:s|ed|ing|t)?\b|\bhow much (?:do|does|did|can|could|will|would|has|have|had) "
    r"(?:[\w'’.-]+ ){1,4}(?:make|made|get|got|receive[ds]?)\b(?! for\b)"
    r"|\bhow much (?:is|was|are|were|does|did|do|has|have|had) (?:[\w'’.-]+ ){1,4}paid\b(?! for\b)",
    re.I,
)
"""What somebody gets; “how much did we get for the sofa” asks for a price."""
_PAYS = re.compile(
    r"\b(?:pay(?:s|ing)?|paid|owes?|owed)\s+(?:to\s+)?(?:(?:the|our|my|your|his|her|their)\s+)?([\w'’.-]+)", re.I
)
_TIMED = re.compile(r"\b(?:per|an?|each|every|pro|par)\s+(?:hour|day|week|month|year)\b|/\s?(?:h|hour|month)\b", re.I)


def able(asked: Asked, table: Table, choice: Choice, column: Column) -> bool:
    """Tell whether a column can hold what a question asks for, where it asks what somebody gets.

    What a thing costs is nobody's pay, and an amount without a name of its own is that of what its row is of.
    """
    if asked.names(column.terms) or not measured(column) & set(WORDS_OF["money"]):
        return True
    texts = [n for n, c in enumerate(table.columns) if c.kind == "text"][:1]
    if _EARNS.search(asked.question):
        first = table.columns[0]
        listed = 0 in texts and len({*first.cells}) == len(first.cells)
        theirs = listed and (
            0 in choice.by or (asked.superlative is not None and asked.heads(frozenset(terms(first.head))))
        )
        own = bool({"i", "we", "us"} & set(asked.said)) or theirs
        costs = column.terms & COSTS and "earn" in asked.stems
        return bool(column.terms & EARNINGS or _TIMED.search(column.head) or (own and not costs))
    if (m := _PAYS.search(asked.question)) is None or not column.terms & COSTS:
        return True
    # Behind “pay” stands who is paid: a shop for what it sells, and whoever only has the thing not at all.
    named = words(m[1])[:1]
    paid = [n for n in choice.by - {*texts} if any(named == words(table.body[i].cells[n])[:1] for i in choice.rows)]
    return not paid or any(set(words(table.heads[n])) & SELLERS for n in paid)
