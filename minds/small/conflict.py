"""Where the library and the web answer the same question with different values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from ragweave.minds.small.facts import facts
from ragweave.minds.small.sentences import Extract, answer_type
from ragweave.models.text import STOP, content_terms, names, stem, terms

_HOW_MANY = re.compile(r"\bhow many ((?:[a-z]+ ){0,2}?[a-z]+)\b", re.I)
_ASKING = frozenset(terms("year date day month time country city town name person people kind place"))


def conflict(question: str, ranked: Sequence[Extract]) -> tuple[Extract, Extract] | None:
    """Return the own and the web sentence that answer the same question with different values, or None.

    Compared are the best sentence of each origin that holds a value of the kind asked for (a date, an amount, a name)
    and speaks of what is asked: it shares words with the question besides the names, and the names with its title. Two
    dates, amounts or names conflict when nothing of the one agrees with the other.
    """
    named = {t for name in names(question) for t in content_terms(name)}
    asked = set(content_terms(question)) - named - _ASKING
    own, web = (_first(question, asked, named, [e for e in ranked if e.strip["origin"] == o]) for o in _SIDES)
    if own is None or web is None or not asked & set(terms(own.text)) & set(terms(web.text)):
        return None
    ours, theirs = _values(question, own), _values(question, web)
    differ = any(ours[k] and theirs[k] and ours[k].isdisjoint(theirs[k]) for k in ours.keys() & theirs.keys())
    return (own, web) if differ else None


_SIDES = ("library", "web")


def _first(question: str, asked: set[str], named: set[str], ranked: Sequence[Extract]) -> Extract | None:
    for e in ranked:
        about = not named or len(named & e.covers) * 2 > len(named)
        if about and len(asked & set(terms(e.text))) * 2 >= len(asked) and any(_values(question, e).values()):
            return e
    return None


def _values(question: str, e: Extract) -> dict[str, set[str]]:
    """Return the values that may answer, by what they can be compared with: a year, a month, a unit, a noun, a name."""
    kind = answer_type(question)
    said = {(f.value, f.unit) for f in facts(question)}
    found = [f for f in facts(e.text) if (f.value, f.unit) not in said]
    if kind == "time":
        years = {f.value for f in found if not f.unit and f.value.isdigit() and 1000 <= int(f.value) <= 2100}
        return {"year": years, "month": {f.value for f in found if f.value.startswith("month ")}}
    if kind == "name":
        known = set(content_terms(f"{question} {e.strip['title']}"))
        return {"name": {t for n in names(e.text) for t in content_terms(n) if not t.isdigit()} - known}
    if counted := _HOW_MANY.search(question):
        noun = stem(counted[1].split()[-1].lower())
        return {noun: {v for v in _counted(noun, e.text) if (v, "") not in said}}
    return {unit: {f.value for f in found if f.unit == unit} for unit in {f.unit for f in found if f.unit}}


def _counted(noun: str, sentence: str) -> set[str]:
    """Return the numbers that stand right before a noun, or before its adjectives."""
    said = sentence.split()
    found: set[str] = set()
    for i in (i for i, w in enumerate(said) if noun in terms(w)):
        before = takewhile(lambda w: w.lower() not in STOP and w[-1] not in ",;:", reversed(said[max(0, i - 3) : i]))
        found |= {f.value for f in facts(" ".join(reversed([*before]))) if not f.value.startswith("month ")}
    return found
