"""List what a search found in the order in which an answer without a model quotes it.

Every door lists by this one function: `search` on the command line, over HTTP, over MCP and in Python. What
holds no words that match follows in the order of the search.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ragweave.components.context import Context
from ragweave.components.evidence import Evidence
from ragweave.components.local.highlights import Stretches
from ragweave.components.local.quotes import Quote, best_quotes
from ragweave.components.passages import evidence_of
from ragweave.components.scope import Scope
from ragweave.corpora.store.library import Library
from ragweave.models.text import content_terms

RANKED = 8
"""Rows whose passages compete, at least: how many rows are wanted does not change which come first."""


class Listed(NamedTuple):
    """One row of a list, the lines of it that match, and the words in these that are highlighted."""

    row: Evidence
    text: str = ""
    marked: Stretches = ()


async def listed(
    library: Library, query: str, rows: Sequence[Evidence], context: Context, whole: bool = False
) -> list[Listed]:
    """Return what was found in the order of an answer's quotes, and at most `context.kept` rows of it.

    Args:
        library: holds the items.
        query: what was searched.
        rows: what was found, best first.
        context: knobs of the run.
        whole: return every row instead, also a document of which a passage is listed.
    """
    idf = await library.idf(content_terms(query))
    ranked = rows[: max(context.kept, RANKED)]
    times = Scope(start=context.from_time, end=context.to_time)
    weight = idf.__getitem__
    chosen = await asyncio.to_thread(
        best_quotes, library, query, ranked, weight, times=times, most=context.kept
    )
    found: dict[str, Listed] = {}
    for quoted in chosen:
        row = _row_of(quoted, query, rows, context)
        found.setdefault(row["id"], Listed(row, quoted.text, quoted.marked))
    files = {_file(entry.row) for entry in found.values()}
    for row in rows:
        covered = row["corpus"] == "document" and _file(row) in files
        if whole or not covered:
            found.setdefault(row["id"], Listed(row))
    kept = list(found.values())
    return kept if whole else kept[: context.kept]


def _row_of(quoted: Quote, query: str, rows: Sequence[Evidence], context: Context) -> Evidence:
    """Return the row of a quote; a quote from a neighbour of what was found gets a row of its own."""
    item = quoted.item
    for row in rows:
        if row["id"] == item.id:
            return row
    here = [row for row in rows if _file(row) == item.locator.get("file")]
    row = here[0] if here else rows[0]
    if context.corpora and item.corpus not in context.corpora:
        return row
    return evidence_of(item, query, row["hop"], row["score"], row["relevance"])


def _file(row: Evidence) -> object:
    locator: Mapping[str, object] = row["locator"]
    return locator.get("file")
