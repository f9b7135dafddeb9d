"""How what was found hangs together over the hops of a turn: global scores.

Asking on is easy, keeping what comes back is hard: read against the first question alone, an item of a later
hop looks like noise. It therefore also earns a share of what led to it (hop rank): the query that fetched it,
and the best items that name its title. docs/results.md has the figures.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence

from ragweave.components.evidence import Evidence, Hop
from ragweave.components.passages import as_read, scores_of
from ragweave.corpora.store.library import Library
from ragweave.models.text import words

BEST = 3
"""Best items that lead to the items whose titles they name."""
HOP_WEIGHT = 0.4
"""What an item of a later hop earns from the item that led to it (docs/results.md)."""
LINK = 0.8
"""Share of its score that an item passes to an item whose title it names."""
_BRACKETS = re.compile(r"\s*[(（][^)）]*[)）]")
_SHORTEST_TITLE = 5
"""Characters of a title, with the blanks around it, that must be exceeded: shorter ones turn up anywhere."""


async def scored(
    library: Library, question: str, rows: Sequence[Evidence], hops: Sequence[Hop]
) -> list[Evidence]:
    """Score everything found against the question, and add hop rank; return the rows, best first."""
    if not rows:
        return []
    passages = [as_read(e) for e in rows]
    order = (await asyncio.to_thread(scores_of, library, question, passages)).order
    own = {e["id"]: float(o) for e, o in zip(rows, order, strict=True)}
    total = hop_rank(spread(own), [hop["evidence"] for hop in hops[1:]], links(question, rows))
    placed = [Evidence(**{**e, "global_score": round(total[e["id"]], 4)}) for e in rows]
    return sorted(placed, key=lambda e: (-total[e["id"]], e["id"]))


def spread(scores: Mapping[str, float]) -> dict[str, float]:
    """Scale scores to [0, 1]; all 1 where they do not differ."""
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {i: (s - low) / (high - low) if high > low else 1.0 for i, s in scores.items()}


def hop_rank(
    own: Mapping[str, float],
    fetched: Sequence[Sequence[str]],
    named: Mapping[str, Collection[str]],
    weight: float = HOP_WEIGHT,
) -> dict[str, float]:
    """Add to each item a share for what led to it; the best share counts.

    A later query leads to what it fetched: the share is the reciprocal rank. The best items lead to the items
    whose
    titles they name: the share is LINK of their score.

    Args:
        own: score by itself in [0, 1], by item.
        fetched: what the query of each later hop fetched, best first.
        named: items that an item names, by item.
        weight: weight of what is added.
    """
    total = dict(own)
    earned: dict[str, float] = {}

    def earn(item: str, share: float) -> None:
        if item in own and share > earned.get(item, 0.0):
            earned[item] = share
            total[item] = own[item] + weight * share

    for items in fetched:
        for rank, item in enumerate(items, 1):
            earn(item, 1 / rank)
    for lead in sorted(total, key=lambda i: (-total[i], i))[:BEST]:
        for item in named.get(lead, ()):
            earn(item, min(total[lead], 1.0) * LINK)
    return total


def links(question: str, rows: Sequence[Evidence]) -> dict[str, set[str]]:
    """Return, by item, the other items whose titles its text names and the question does not."""
    titles = {e["id"]: _flat(_BRACKETS.sub("", e["title"])) for e in rows}
    said = _flat(question)
    able = {i: t for i, t in titles.items() if len(t) > _SHORTEST_TITLE and t not in said}
    texts = {e["id"]: _flat(e["text"]) for e in rows}
    return {e: {i for i, t in able.items() if t in text and t != titles[e]} for e, text in texts.items()}


def _flat(text: str) -> str:
    """Return the words of a text so that a phrase can be looked up between word ends."""
    return f" {' '.join(words(text))} "
