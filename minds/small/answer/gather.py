"""Which sentences are shown together: the one that answers, then those that add something asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragweave.minds.small.answer.sentences import Extract, parts_of
from ragweave.minds.small.question.asked import Idf, asked_of
from ragweave.models import tables
from ragweave.models.text import content_terms, terms

GAIN, WITHIN, FLOW = 0.15, 0.8, 0.5
"""A further sentence must add so much of the question, lie so near the best one, or go on where it ends."""


def choose(ranked: Sequence[Extract], question: str, idf: Idf, limit: int) -> list[Extract]:
    """Return the best sentence, then those that add something asked for, each saying something of its own."""
    if not ranked:
        return []
    wanted = content_terms(question)
    total = sum(idf(t) for t in wanted) or 1.0
    best = _with_list(ranked[0])
    kept, covered = [best], set(best.covers)
    told = not asked_of(question).kind
    if (partner := ranked[0].partner) is not None and limit > 1:
        kept.append(_with_list(partner))
        covered |= partner.covers
    for e in ranked[1:]:
        if len(kept) == limit:
            break
        gap = ranked[0].score - e.score
        adds = sum(idf(t) for t in e.covers - covered) / total >= GAIN and gap <= WITHIN
        follows = told and e.strip["id"] == best.strip["id"] and 0 <= e.start - best.end <= 2 and gap <= FLOW
        if (adds or follows or gap <= (CLOSE if told else NARROW)) and not any(_same(e, k) for k in kept):
            kept.append(_with_list(e))
            covered |= e.covers
    return kept


NARROW, CLOSE = 0.3, 0.05
"""Lead of the best sentence within which the next one may as well be the answer; less where no kind of value is asked
for: there the text that goes on says more."""


def _same(a: Extract, b: Extract) -> bool:
    one, two = set(terms(a.text)), set(terms(b.text))
    return a.told in b.told or len(one & two) >= 0.8 * min(len(one), len(two))


def _with_list(e: Extract) -> Extract:
    """Let a sentence that ends with a colon go on to the list, code or table that it introduces."""
    if not e.text.endswith((":", "：")):
        return e
    text, end = e.strip["text"], e.end
    for a, b in parts_of(e.strip):
        if a >= end and b - e.start <= _LISTED and (tables.is_item(text, a) or tables.is_row(text[a:b])):
            end = b
    return replace(e, end=end)


_LISTED = 600
"""Characters that a sentence and the list it introduces may have."""
