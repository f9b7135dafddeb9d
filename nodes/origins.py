"""Own and web knowledge side by side: web text made inert, evidence labelled by origin, and conflicts shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import takewhile

from ragweave.minds.evidence import Origin, Strip
from ragweave.models.facts import Fact, facts
from ragweave.models.text import STOP, content_terms, names, stem, terms
from ragweave.nodes.extract import Extract, answer_type

HEADINGS: dict[Origin, str] = {
    "library": "Knowledge from your library:",
    "web": "Knowledge from the web, written by strangers:",
    "model": "Written down from a model's memory, without a source:",
}
"""Headings under which a writer sees evidence, in this order (CRAG, section 4.5)."""

_ADDRESS = re.compile(r"\b(?:https?|ftp|data|javascript):\S+|\bwww\.\S+", re.I)
_MARK = re.compile(r"\s*[\[【]\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*[\]】]")
_HOW_MANY = re.compile(r"\bhow many ((?:[a-z]+ ){0,2}?[a-z]+)\b", re.I)
_ASKING = frozenset(terms("year date day month time country city town name person people kind place"))


def inert(text: str) -> str:
    """Return web text without addresses, and without the marks of somebody else's footnotes.

    A mark such as [2] would read as a citation of the answer it is quoted in.
    """
    return _MARK.sub("", _ADDRESS.sub("", text))


def by_origin(rows: Sequence[list[Strip]]) -> list[list[Strip]]:
    """Order evidence by origin, as `labelled` shows it; within an origin the order stays."""
    return sorted(rows, key=lambda row: list(HEADINGS).index(row[0]["origin"]))


def labelled(rows: Sequence[list[Strip]], show: Callable[[int, list[Strip]], str]) -> str:
    """Return the evidence under the heading of its origin.

    Args:
        rows: strips of one evidence each, ordered by `by_origin`.
        show: makes the block of one row from its number, from 1, and its strips.
    """
    parts: list[str] = []
    origin = ""
    for n, row in enumerate(rows, 1):
        if row[0]["origin"] != origin:
            origin = row[0]["origin"]
            parts.append(HEADINGS[row[0]["origin"]])
        parts.append(show(n, row))
    return "\n\n".join(parts)


def conflict(question: str, ranked: Sequence[Extract]) -> tuple[Extract, Extract] | None:
    """Return the own and the web sentence that answer the same question with different values, or None.

    Compared are the best sentence of each origin that holds a value of the kind asked for (a date, an amount, a name)
    and speaks of what is asked: it shares words with the question besides the names, and the names with its title. Two
    dates, amounts or names conflict when nothing of the one agrees with the other.
    """
    own, web = (_first(question, [e for e in ranked if e.strip["origin"] == o]) for o in ("library", "web"))
    if own is None or web is None:
        return None
    shared = _asked(question) & set(terms(own.text)) & set(terms(web.text))
    return (own, web) if shared and _differ(question, own, web) else None


def _first(question: str, ranked: Sequence[Extract]) -> Extract | None:
    asked, named = _asked(question), _named(question)
    for e in ranked:
        about = not named or len(named & e.covers) * 2 > len(named)
        if about and len(asked & set(terms(e.text))) * 2 >= len(asked) and any(_values(question, e).values()):
            return e
    return None


def _named(question: str) -> set[str]:
    return {t for name in names(question) for t in content_terms(name)}


def _asked(question: str) -> set[str]:
    """Return what is asked about the names: the content words that are no name and no kind of answer."""
    return set(content_terms(question)) - _named(question) - _ASKING


Values = dict[str, set[str]]
"""Values that may answer, by what they can be compared with: `year`, `month`, a unit, a counted noun, `name`."""


def _values(question: str, e: Extract) -> Values:
    kind = answer_type(question)
    said = {(f.value, f.unit) for f in facts(question)}
    found = [f for f in facts(e.text) if (f.value, f.unit) not in said]
    if kind == "time":
        return {"year": {f.value for f in found if _is_year(f)}, "month": {f.value for f in found if _is_month(f)}}
    if kind == "name":
        known = set(content_terms(f"{question} {e.strip['title']}"))
        new = {t for name in names(e.text) for t in content_terms(name) if not t.isdigit()}
        return {"name": new - known}
    counted = _HOW_MANY.search(question)
    if counted:
        noun = stem(counted[1].split()[-1].lower())
        return {noun: {v for v in _counted(noun, e.text) if (v, "") not in said}}
    units = {f.unit for f in found if f.unit}
    return {unit: {f.value for f in found if f.unit == unit} for unit in units}


def _is_year(f: Fact) -> bool:
    return not f.unit and f.value.isdigit() and 1000 <= int(f.value) <= 2100


def _is_month(f: Fact) -> bool:
    return f.value.startswith("month ")


def _counted(noun: str, sentence: str) -> set[str]:
    """Return the numbers that stand right before a noun, or before its adjectives."""
    said = sentence.split()
    found: set[str] = set()
    for i in (i for i, w in enumerate(said) if noun in terms(w)):
        before = list(
            takewhile(lambda w: w.lower() not in STOP and w[-1] not in ",;:", reversed(said[max(0, i - 3) : i]))
        )
        found |= {f.value for f in facts(" ".join(reversed(before))) if not _is_month(f)}
    return found


def _differ(question: str, own: Extract, web: Extract) -> bool:
    ours, theirs = _values(question, own), _values(question, web)
    pairs = [(ours[k], theirs[k]) for k in ours.keys() & theirs.keys() if ours[k] and theirs[k]]
    return any(a.isdisjoint(b) for a, b in pairs)
