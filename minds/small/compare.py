"""Weigh two things against each other, or tell by how much they differ: both values are looked up, then compared."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import NamedTuple

from ragweave.minds.evidence import Strip
from ragweave.minds.small.asked import Idf
from ragweave.minds.small.conflict import counted
from ragweave.minds.small.facts import Fact, facts
from ragweave.minds.small.sentences import Extract, rank
from ragweave.models.text import content_terms, terms
from ragweave.models.values import written

_LESS = r"older|earlier|first|less|fewer|shorter|smaller|cheaper|lower|lighter|nearer|closer|slower|narrower|lesser"
_MORE = r"more|longer|later|last|bigger|larger|higher|taller|heavier|dearer|younger|newer|farther|further|faster|wider"
_OLDER = re.compile(r"\b(?:older|younger|earlier|later|first|last|newer)\b", re.I)
_EITHER = (
    re.compile(r"^(?P<ask>.*?)[,:;]\s*(?P<a>[^,]+?)\s+or\s+(?P<b>[^,?]+)\??$", re.I),
    re.compile(
        r"^(?P<ask>(?:do|does|did|is|are|was|were|has|have|had)) (?P<a>.+?) or (?P<b>.+?)"
        r"(?P<rest> (?:get|have|has|had|costs?|take|need|weigh|earn|hold|last|start|open|close|pay|been|born)\b.*)\??$",
        re.I,
    ),
    re.compile(
        r"^(?P<ask>.*?\b(?:in|at|on|for|with|by)) (?P<a>\S+(?: \S+)?) or (?:in |at |on )?(?P<b>[^,?]+)\??$", re.I
    ),
)
_MUCH = rf"^(?:by )?how (?:much|many [^ ]+(?: a [^ ]+)?) (?:(?:{_MORE}|{_LESS}) )?(?:is|was|are|were|do|does|did) "
_DIFFERENCE = (
    re.compile(rf"{_MUCH}(?P<ask>.+?) (?P<a>(?:in|of|for|at) [^ ]+) than (?P<b>(?:in|of|for|at) .+?)[?]?$", re.I),
    re.compile(rf"{_MUCH}(?P<a>.+?) (?P<ask>(?:{_MORE}|{_LESS}) )?than (?P<b>.+?)[?]?$", re.I),
    re.compile(r"^by how much (?:do|does|did) (?P<a>.+?) (?P<ask>exceed) (?P<b>.+?)[?]?$", re.I),
)
_SAME = re.compile(r"^(?:that|the one|those) ((?:of|in|from|for) .+)$", re.I)
"""Names the second thing by what differs alone."""
_UNITS_OF = (
    (r"long|far|short|near|high|tall|wide|low", ("km", "m", "mile", "cm", "hour", "minute", "day", "week", "year")),
    (r"heav|light", ("kg", "g", "pound", "ton")),
    (r"dear|cheap|expensive|cost|pay|price", ("euro", "dollar", "£", "yuan")),
)


class Weighed(NamedTuple):
    """What a comparison gives, in words, and the two sentences it rests on; without words it cannot be told."""

    text: str
    rests: tuple[Extract, ...]


def compare(question: str, strips: Sequence[Strip], idf: Idf) -> Weighed | None:
    """Return what a question that compares two things gives; None where it compares nothing.

    Args:
        question: standing by itself.
        strips: the evidence.
        idf: rarity of terms.
    """
    found = next(
        ((m, form in _DIFFERENCE) for form in (*_DIFFERENCE, *_EITHER) if (m := form.search(question.strip()))), None
    )
    if found is None:
        return None
    m, difference = found
    less = bool(re.search(rf"\b(?:{_LESS})\b", question, re.I))
    if not difference and not less and not re.search(rf"\b(?:{_MORE})\b", question, re.I):
        return None
    rest = m.groupdict().get("rest") or ""
    a, b = (re.sub(r"^(?:the one |the |that )(?=[^o])", "", m[k].strip()) for k in ("a", "b"))
    if (same := _SAME.match(m["b"].strip())) and (cut := re.search(r" (?:of|in|from|for) [^ ]+$", a)):
        b = a[: cut.start()] + " " + same[1]
    base = re.sub(rf"^(?:which|who|what)\b|\b(?:{_LESS}|{_MORE})\b", " ", f"{m['ask'] or ''} {rest}").strip()
    sides = [_value(f"{base} {x}", x, other, strips, idf, question) for x, other in ((a, b), (b, a))]
    if sides[0] is None or sides[1] is None:
        return Weighed("", ())
    (one, first), (two, second) = sides[0], sides[1]
    left, right = Decimal(one.value), Decimal(two.value)
    if left == right or (one.unit and two.unit and one.unit != two.unit):
        return Weighed("", ())
    if difference:
        gap = abs(left - right)
        return Weighed(
            f"{written(gap)} {one.unit or two.unit}".strip() + f": {one.shown} against {two.shown}.", (first, second)
        )
    dated = _OLDER.search(question) is not None
    smaller = less if not dated else bool(re.search(r"\b(?:older|earlier|first)\b", question, re.I))
    win = (left < right) == smaller
    winner, loser = (a, b) if win else (b, a)
    shown = (one.shown, two.shown) if win else (two.shown, one.shown)
    return Weighed(f"{winner[0].upper()}{winner[1:]}: {shown[0]}, against {shown[1]} for {loser}.", (first, second))


def _value(
    ask: str, side: str, other: str, strips: Sequence[Strip], idf: Idf, question: str
) -> tuple[Fact, Extract] | None:
    """Return the number that stands for one side, in the best sentence that speaks of it."""
    mine = set(content_terms(side)) - set(content_terms(other))
    nouns = [t for t in content_terms(ask) if t not in content_terms(side)]
    able: list[Extract] = []
    for e in rank(ask, strips, idf):
        text = e.strip["text"]
        near = f"{e.strip['title']} {text if len(text) <= _SHORT else e.text}"
        if mine <= set(terms(near)):
            able.append(e)
    for strict in (True, False):
        for e in able:
            if (found := _number(e.text, nouns, question, mine, strict)) is not None:
                return found, e
    return None


def _number(sentence: str, nouns: Sequence[str], question: str, mine: Collection[str], strict: bool) -> Fact | None:
    """Return the number that is compared: a year for ages, what is counted, what has the unit, or the only one."""
    found = [f for f in facts(sentence) if f.value.replace(".", "").isdigit() and f.value not in mine]
    if _OLDER.search(question):
        return next((f for f in found if _YEAR.fullmatch(f.value)), None)
    for noun in nouns:
        if near := counted(noun, sentence):
            return next((f for f in found if f.value in near), None)
    for form, units in _UNITS_OF:
        if re.search(form, question, re.I) and (fits := [f for f in found if f.unit in units]):
            return fits[0]
    return found[0] if len(found) == 1 and not strict and not _YEAR.fullmatch(found[0].value) else None


_YEAR = re.compile(r"1\d{3}|20\d\d")
_SHORT = 400
"""Characters of a text whose pieces are said of all that it names."""
