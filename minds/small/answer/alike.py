"""Words of the evidence that stand in for those of a question: made from the same word, or listed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set

from ragweave.minds.small.answer.reading import Read
from ragweave.minds.small.question.asked import Asked
from ragweave.minds.small.question.likes import likes
from ragweave.models.calendar import ENGLISH, MONTHS, WEEKDAYS
from ragweave.models.text import stem

KIN, LIKE = 0.9, 0.8
"""What a word counts that goes on or stops short (Kenya, Kenyan), or that is listed as standing for another (buy,
purchase)."""
_SHORT = [{stem(f) for f in (*MONTHS, *WEEKDAYS) if name.startswith(f)} for name in ENGLISH]
"""Stems of the name of each month and day, and of its short forms (December, dec)."""


def stand_ins(asked: Asked, read: Sequence[Read]) -> dict[str, dict[str, float]]:
    """Return, by stem of the slot, the stems of the evidence that stand in for it, and how well."""
    out = _kin(asked, {t for r in read for t in r.have})
    for t, alike in likes(asked.question).items():
        if t in asked.slot:
            out[t] = {**dict.fromkeys(alike, LIKE), **out.get(t, {})}
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
