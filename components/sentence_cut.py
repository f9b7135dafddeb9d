"""Cut a long passage to the sentences and table rows that bear on given sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from ragweave.models import tables
from ragweave.models.text import content_terms, terms

_CUT = "[…]"


def cut(text: str, said: Sequence[str], question: str, limit: int) -> str:
    """Cut a text at the ends of sentences to at most `limit` characters, keeping what bears on sentences.

    Each sentence keeps its best place first; table rows stay below their column heads.
    """
    spans = tables.spans(text)
    found: list[set[str]] = []
    for start, end in spans:
        found.append(set(terms(text[start:end])))
    kept = _within(spans, _by_worth(said, question, found), limit)
    parts: list[str] = []
    last = -1
    for n in sorted(kept):
        start, end = spans[n]
        if n != last + 1:
            parts.append(_CUT)
            heads = tables.heads_above(text, start)
            if heads:
                parts.append(heads)
        parts.append(text[start:end])
        last = n
    if last < len(spans) - 1:
        parts.append(_CUT)
    return "\n".join(parts)


def _within(spans: Sequence[tuple[int, int]], order: Sequence[int], limit: int) -> set[int]:
    """Return the numbers of spans that fit in a limit, taken in an order, each with its neighbours."""
    kept: set[int] = set()
    left = limit
    for n in order:
        for near in (n, n - 1, n + 1):
            if not 0 <= near < len(spans) or near in kept:
                continue
            start, end = spans[near]
            length = end - start + len(_CUT) + 2
            if length <= left:
                kept.add(near)
                left -= length
    return kept


def _by_worth(said: Sequence[str], question: str, found: Sequence[set[str]]) -> list[int]:
    """Return the numbers of parts: the best of each sentence in turn, then the next best of each.

    `found` has the terms of each part. Rare terms weigh more; those of the question weigh 0.3.
    """
    asked = set(content_terms(question))
    wanted = [set(content_terms(sentence)) for sentence in said]
    counts = Counter(chain.from_iterable(found))
    rare: dict[str, float] = {}
    for term in asked.union(*wanted):
        rare[term] = 1 / (1 + counts[term])
    orders: list[list[int]] = []
    for own in wanted:
        worth: list[float] = []
        for part in found:
            worth.append(_weight(part & own, rare) + 0.3 * _weight(part & asked, rare))
        orders.append(sorted(range(len(found)), key=worth.__getitem__, reverse=True))
    best: dict[int, None] = {}
    for turn in zip(*orders, strict=True):
        best.update(dict.fromkeys(turn))
    return list(best)


def _weight(shared: Iterable[str], rare: Mapping[str, float]) -> float:
    return sum(rare[term] for term in shared)
