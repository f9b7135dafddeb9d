"""Words of the evidence that stand in for those of a question: made from the same word, or alike in meaning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set

from ragweave.minds.small.answer.reading import Read
from ragweave.minds.small.question.asked import Asked
from ragweave.minds.small.question.likes import likes
from ragweave.models.calendar import ENGLISH, MONTHS, WEEKDAYS
from ragweave.models.relevance import embed
from ragweave.models.text import stem, terms, words

NEAR, KIN, LIKE = 0.55, 0.9, 0.8
"""Cosine at which a word stands in for another, and what a word counts that goes on or stops short (Kenya, Kenyan), or
that is listed as standing for another (buy, purchase)."""
_SHORT = [{stem(f) for f in (*MONTHS, *WEEKDAYS) if name.startswith(f)} for name in ENGLISH]
"""Stems of the name of each month and day, and of its short forms (December, dec)."""


def stand_ins(asked: Asked, read: Sequence[Read]) -> dict[str, dict[str, float]]:
    """Return, by stem of the slot, the stems of the evidence that stand in for it, and how well."""
    lacking = {w for w in words(asked.question) if w.isalpha() and w.isascii() and set(terms(w)) & asked.slot}
    around = {w for r in read for w in words(r.said) if w.isalpha() and w.isascii() and len(w) > 2}
    out = _kin(asked, {t for r in read for t in r.have})
    for t, alike in likes(asked.question).items():
        if t in asked.slot:
            out[t] = {**dict.fromkeys(alike, LIKE), **out.get(t, {})}
    if not lacking or not around:
        return out
    ours, theirs = sorted(lacking), sorted(around)
    vectors = embed([*ours, *theirs])
    found = vectors[: len(ours)] @ vectors[len(ours) :].T
    for w, row in zip(ours, found, strict=True):
        for at in (row >= NEAR).nonzero()[0]:
            held, other = out.setdefault(terms(w)[0], {}), terms(theirs[at])[0]
            held[other] = max(float(row[at]), held.get(other, 0.0))
    return out


def _kin(asked: Asked, held: Set[str]) -> dict[str, dict[str, float]]:
    """Return, by stem of the question, the stems that are made from the same word (Kenya, Kenyan)."""
    able = defaultdict[str, list[str]](list)
    for t in held:
        if len(t) > 3 and t.isalpha() and t.isascii():
            able[t[:4]].append(t)
    dated = {t: dict.fromkeys(forms, 1.0) for forms in _SHORT for t in forms & (asked.subject | asked.slot)}
    return dated | {
        t: dated.get(t, {})
        | {o: KIN for o in able.get(t[:4], ()) if abs(len(o) - len(t)) < 4 and (o.startswith(t) or t.startswith(o))}
        for t in asked.subject | asked.slot
        if len(t) > 3 and t.isalpha() and t.isascii()
    }
