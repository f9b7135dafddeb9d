"""Rank fusion: standardised scores for lists of one query, reciprocal ranks where scores do not compare."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from ragweave.components.context import Context
from ragweave.components.evidence import RankedList
from ragweave.models.relevance import weights

ALPHA = 0.8
"""Weight of what a picture shows beside what is written about it (UniversalRAG, section 3.3)."""
Ranking = list[tuple[str, float]]
"""(item id, score), best first."""


def standardise(scores: Sequence[float]) -> list[float]:
    """Return z-scores; all 0 where the scores do not differ."""
    if not scores or min(scores) == max(scores):
        return [0.0 for _ in scores]
    mean = fmean(scores)
    spread = math.sqrt(fmean([(s - mean) ** 2 for s in scores]))
    return [(s - mean) / spread for s in scores]


def fuse_scores(lists: Sequence[tuple[float, Ranking, float | None]]) -> Ranking:
    """Add weighted z-scores over all items that the lists hold together.

    Args:
        lists: of one query over one corpus: weight, ranking, and what an item scores that the list lacks;
            None: as much as its lowest. By words that is 0: otherwise a single hit would tell nothing, having
            no lower one.
    """
    total = {item: 0.0 for _, ranking, _ in lists for item, _ in ranking}
    for weight, ranking, lacking in lists:
        table = dict(ranking)
        low = min(table.values(), default=0.0) if lacking is None else lacking
        for item, z in zip(total, standardise([table.get(i, low) for i in total]), strict=True):
            total[item] += weight * z
    return ordered(total)


def mix(text: Ranking, visual: Ranking, alpha: float, *, cosines: bool = False) -> Ranking:
    """Mix what is written about pictures with what they show (UniversalRAG, section 3.3), both as z-scores.

    An item's score is alpha of its visual and the rest of its text side where it has both, else the side that
    it has. With `cosines` the scores are mixed as they are, which is the paper's own form.
    """
    sides = []
    for ranking in (text, visual):
        z = [s for _, s in ranking] if cosines else standardise([s for _, s in ranking])
        sides.append(dict(zip((i for i, _ in ranking), z, strict=True)))
    words, seen = sides
    total = {**words, **seen}
    for item in words.keys() & seen.keys():
        total[item] = alpha * seen[item] + (1 - alpha) * words[item]
    return ordered(total)


def fuse_ranks(lists: Sequence[tuple[float, Ranking]], k: int = 60) -> Ranking:
    """Reciprocal rank fusion: an item's score is the sum of weight / (k + rank) over the lists that hold it."""
    total: dict[str, float] = {}
    for weight, ranking in lists:
        seen: set[str] = set()
        for item, _ in ranking:
            if item not in seen:
                total[item] = total.get(item, 0.0) + weight / (k + 1 + len(seen))
                seen.add(item)
    return ordered(total)


def ordered(scores: Mapping[str, float]) -> Ranking:
    """Sort by score, ties by id, so that equal runs give equal orders.

    Scores are compared to twelve decimals: sums of the same parts in another order differ in their last
    digits.
    """
    return sorted(scores.items(), key=lambda row: (-round(row[1], 12), row[0]))


def dense_weight(context: Context) -> float:
    """Return the weight of a dense list beside a lexical one: the run's own, or that of the encoder's kind."""
    chosen = context.method.dense_weight
    return weights().dense if chosen is None else chosen


def fused(found: list[RankedList], query: str, context: Context) -> Ranking:
    """Join every list of the hop into one ranking."""
    groups: dict[tuple[str, str], list[tuple[float, Ranking, float | None]]] = {}
    shown: dict[tuple[str, str], Ranking] = {}
    for row in found:
        key = (str(row["corpus"]), row["query"])
        ranking = list(zip(row["ids"], row["scores"], strict=True))
        if not context.method.by_scores:  # cosines of what the words found are no ranks of a list
            ranking = ranking[: context.method.pool]
        lists = groups.setdefault(key, [])
        if row["kind"] == "visual":
            shown[key] = ranking
        elif row["kind"] != "lexical" or context.method.fusion != "dense":
            weight = dense_weight(context) if row["kind"] == "dense" else 1.0
            lists.append((weight, ranking, 0.0 if row["kind"] == "lexical" else None))
    joined: list[tuple[float, Ranking]] = []
    several = any(of != query for _, of in groups)
    for key, lists in sorted(groups.items()):
        weight = context.method.original_weight if several and key[1] == query else 1.0
        seen = shown.get(key, [])
        if context.method.fusion == "rrf":
            text = 1 - ALPHA if seen else 1.0
            joined.extend((weight * text * own, ranking) for own, ranking, _ in lists)
            joined += [(weight * ALPHA, seen)] if seen else []
        else:
            # One dense list keeps its cosines.
            plain = context.method.fusion == "dense" and len(lists) == 1
            both = lists[0][1] if plain else fuse_scores(lists)
            joined.append((weight, mix(both, seen, ALPHA, cosines=plain) if seen else both))
    return joined[0][1] if len(joined) == 1 else fuse_ranks(joined, context.method.rrf_k)
