"""Which sentences are shown together: the one that answers, then those that add something asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ragweave.minds.small.answer.sentences import Extract, parts_of
from ragweave.minds.small.question.asked import Idf, asked_of
from ragweave.models import tables
from ragweave.models.text import content_terms, terms, verb_form, words
from ragweave.models.values import days

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
_EDGE = re.compile(r"\b(?:(most recent(?:ly)?|latest|newest|last|zuletzt)|first|earliest|zuerst)\b ?", re.I)
_SPANS = frozenset("year month week night day summer winter spring autumn name few".split())
"""What “the last” before it names no event of."""
_OPENS = 8
"""Characters before the day that a line of a log opens with: “- On Mon”."""


def edge_of(question: str) -> tuple[str, bool] | None:
    """Return a question without the word by which it asks for the last or first time, and whether that is the last."""
    for m in _EDGE.finditer(question):
        before, (after, *_) = words(question[: m.start()]), [*words(question[m.end() :]), ""]
        ours, word = before[-1:] in (["the"], ["our"], ["my"]), m[0].strip().lower()
        done = after in ("", "time") or verb_form(after) or (not ours and "did" in before)
        event = word == "last" and ours and after not in _SPANS and not after.isdigit()
        if "long" not in before and (word not in ("last", "first") or done or event):
            return f"{question[: m.start()]}{question[m.end() :]}", bool(m[1])
    return None


def at_edge(ranked: Sequence[Extract], late: bool) -> list[Extract]:
    """Let the last, or first, of the lines lead that open with a day and say as much as the best; none where one does.

    The others of them are left out: they tell of another time.
    """
    told = ((n, day) for n, e in enumerate(ranked) if e.covers >= ranked[0].covers for day in days(e.text)[:1])
    when = {n: day for n, (start, _, day) in told if start < _OPENS}
    if 0 not in when or len(set(when.values())) < 2:
        return []
    edge = (max if late else min)(when.values())
    return [*(ranked[n] for n, d in when.items() if d == edge), *(e for n, e in enumerate(ranked) if n not in when)]
