"""Score evidence over all hops of a turn (global scores).

Scored against the first question alone, an item of a later hop looks like noise. It therefore also earns a
share from what led to it (hop rank): the query that fetched it, and the best items that name its title.
docs/results.md has the figures.
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
"""Best items that pass a share to the items whose titles they name."""
HOP_WEIGHT = 0.4
"""Weight of the share that an item earns (docs/results.md)."""
LINK = 0.8
"""Share of its score that an item passes to an item whose title it names."""
_BRACKETS = re.compile(r"\s*[(（][^)）]*[)）]")
_SHORTEST_TITLE = 5
"""Characters that a title must exceed, with a blank at each end: shorter ones occur anywhere."""


async def scored(
    library: Library, question: str, rows: Sequence[Evidence], hops: Sequence[Hop]
) -> list[Evidence]:
    """Score all evidence against the question, add hop rank, and return the rows, best first."""
    if not rows:
        return []
    passages = list(map(as_read, rows))
    scores = await asyncio.to_thread(scores_of, library, question, passages)
    own: dict[str, float] = {}
    for row, score in zip(rows, scores.order, strict=True):
        own[row["id"]] = float(score)
    later: list[Sequence[str]] = []
    for hop in hops[1:]:
        later.append(hop["evidence"])
    total = hop_rank(spread(own), later, links(question, rows))
    placed: list[Evidence] = []
    for row in rows:
        placed.append({**row, "global_score": round(total[row["id"]], 4)})
    return sorted(placed, key=lambda e: (-total[e["id"]], e["id"]))


def spread(scores: Mapping[str, float]) -> dict[str, float]:
    """Scale scores to [0, 1]; all 1 if they do not differ."""
    low = min(scores.values(), default=0.0)
    high = max(scores.values(), default=0.0)
    if not high > low:
        return dict.fromkeys(scores, 1.0)
    return {item: (score - low) / (high - low) for item, score in scores.items()}


def hop_rank(
    own: Mapping[str, float],
    fetched: Sequence[Sequence[str]],
    named: Mapping[str, Collection[str]],
    weight: float = HOP_WEIGHT,
) -> dict[str, float]:
    """Add to the score of each item its best share from what led to it.

    A later query leads to its results; the share is the reciprocal rank. The best items lead to the items
    whose titles they name; the share is LINK of their score.

    Args:
        own: score of each item by itself, in [0, 1].
        fetched: results of each later hop, best first.
        named: items that each item names.
        weight: weight of a share.
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
    asked = _flat(question)
    titles: dict[str, str] = {}
    for row in rows:
        titles[row["id"]] = _flat(_BRACKETS.sub("", row["title"]))
    found: dict[str, set[str]] = {}
    for row in rows:
        text = _flat(row["text"])
        named: set[str] = set()
        for item, title in titles.items():
            usable = len(title) > _SHORTEST_TITLE and title not in asked
            if usable and title in text and title != titles[row["id"]]:
                named.add(item)
        found[row["id"]] = named
    return found


def _flat(text: str) -> str:
    """Return the words of a text between blanks, so that a phrase matches whole words only."""
    return f" {' '.join(words(text))} "
