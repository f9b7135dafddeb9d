"""Fuse ranked lists: by standardised scores within one query, by reciprocal ranks across queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from statistics import fmean

from ragweave.components.context import Context
from ragweave.components.evidence import RankedList
from ragweave.models.relevance import weights

ALPHA = 0.8
"""Weight of a picture's look against the text about it (UniversalRAG, section 3.3)."""
Ranking = list[tuple[str, float]]
"""(item id, score), best first."""


def standardise(scores: Sequence[float]) -> list[float]:
    """Return z-scores; all 0 if the scores do not differ."""
    if not scores or min(scores) == max(scores):
        return [0.0] * len(scores)
    mean = fmean(scores)
    spread = math.sqrt(fmean([(s - mean) ** 2 for s in scores]))
    return [(s - mean) / spread for s in scores]


def fuse_scores(lists: Sequence[tuple[float, Ranking, float | None]]) -> Ranking:
    """Add weighted z-scores over the items of all lists.

    Args:
        lists: (weight, ranking, score of an item that the list lacks) of one query over one corpus. None as
            the last is the lowest score of the list. A lexical list needs 0: by its own lowest score, a
            single hit would count nothing.
    """
    total: dict[str, float] = {}
    for _, ranking, _ in lists:
        for item, _ in ranking:
            total[item] = 0.0
    for weight, ranking, lacking in lists:
        table = dict(ranking)
        low = min(table.values(), default=0.0) if lacking is None else lacking
        scores = standardise([table.get(item, low) for item in total])
        for item, z in zip(total, scores, strict=True):
            total[item] += weight * z
    return ordered(total)


def mix(text: Ranking, visual: Ranking, alpha: float, *, cosines: bool = False) -> Ranking:
    """Mix the text and the look of pictures (UniversalRAG, section 3.3), both as z-scores.

    The score of an item in both rankings is alpha of its look and the rest of its text; an item in one
    ranking keeps that score. With `cosines`, the scores are mixed unchanged, as in the paper.
    """
    words = dict(text) if cosines else _standardised(text)
    seen = dict(visual) if cosines else _standardised(visual)
    total = {**words, **seen}
    for item in words.keys() & seen.keys():
        total[item] = alpha * seen[item] + (1 - alpha) * words[item]
    return ordered(total)


def _standardised(ranking: Ranking) -> dict[str, float]:
    scores = standardise([score for _, score in ranking])
    table: dict[str, float] = {}
    for (item, _), score in zip(ranking, scores, strict=True):
        table[item] = score
    return table


def fuse_ranks(lists: Sequence[tuple[float, Ranking]], k: int = 60) -> Ranking:
    """Fuse by reciprocal ranks: the score of an item is the sum of weight / (k + rank) over its lists."""
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

    Scores are compared at twelve decimals, because sums of the same terms in another order differ in their
    last digits.
    """
    return sorted(scores.items(), key=lambda row: (-round(row[1], 12), row[0]))


def dense_weight(context: Context) -> float:
    """Return the weight of a dense list against a lexical one: of the run, or of the kind of encoder."""
    chosen = context.method.dense_weight
    return weights().dense if chosen is None else chosen


@dataclass
class _Group:
    """The lists of one query over one corpus.

    Attributes:
        lists: (weight, ranking, score of an item that the list lacks).
        visual: ranking by the look of pictures.
        cosines: whether the scores of all lists are cosines of the text encoder.
    """

    lists: list[tuple[float, Ranking, float | None]] = field(default_factory=list)
    visual: Ranking = field(default_factory=list)
    cosines: bool = True


def fused(found: list[RankedList], query: str, context: Context) -> Ranking:
    """Fuse all lists of a hop into one ranking."""
    groups = _grouped(found, context)
    several = any(own != query for _, own in groups)
    joined: list[tuple[float, Ranking]] = []
    for (_, own), group in sorted(groups.items(), key=itemgetter(0)):
        weight = context.method.original_weight if several and own == query else 1.0
        if context.method.fusion == "rrf":
            text_weight = weight * (1 - ALPHA) if group.visual else weight
            for list_weight, ranking, _ in group.lists:
                joined.append((text_weight * list_weight, ranking))
            if group.visual:
                joined.append((weight * ALPHA, group.visual))
        else:
            joined.append((weight, _by_score(group, context)))
    return joined[0][1] if len(joined) == 1 else fuse_ranks(joined, context.method.rrf_k)


def _grouped(found: Sequence[RankedList], context: Context) -> dict[tuple[str, str], _Group]:
    """Group the lists of a hop by corpus and query.

    With `dense`, the text encoder's lists of all corpora are one group, whose cosines compare: they are of
    one space. Those of a corpus whose pictures were compared as well stay apart.
    """
    groups: dict[tuple[str, str], _Group] = {}
    one_space = context.method.fusion == "dense"
    looked = set()
    for row in found:
        if row["kind"] == "visual":
            looked.add((str(row["corpus"]), row["query"]))
    for row in found:
        ranking = list(zip(row["ids"], row["scores"], strict=True))
        if not context.method.by_scores:  # dense scores of lexical hits, beyond the pool, have no ranks
            ranking = ranking[: context.method.pool]
        place = (str(row["corpus"]), row["query"])
        if one_space and row["kind"] in ("dense", "lexical") and place not in looked:
            place = ("", row["query"])
        group = groups.setdefault(place, _Group())
        if row["kind"] == "visual":
            group.visual = ranking
        elif row["kind"] != "lexical":
            weight = dense_weight(context) if row["kind"] == "dense" else 1.0
            group.lists.append((weight, ranking, None))
            group.cosines = group.cosines and row["kind"] == "dense"
        elif not one_space:
            group.lists.append((1.0, ranking, 0.0))
    return groups


def _by_score(group: _Group, context: Context) -> Ranking:
    """Fuse the lists of one group by their scores."""
    cosines = context.method.fusion == "dense" and group.cosines
    text = _nearest(group) if cosines else fuse_scores(group.lists)
    return mix(text, group.visual, ALPHA, cosines=cosines) if group.visual else text


def _nearest(group: _Group) -> Ranking:
    """Return the items of all lists by their cosines; a single list keeps its order."""
    if len(group.lists) == 1:
        return group.lists[0][1]
    scores: dict[str, float] = {}
    for _, ranking, _ in group.lists:
        scores.update(ranking)
    return ordered(scores)
