"""A part of a question, asked again with the rest of the one before: “And rabbits?”, “where?”, “the newer one?”."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragweave.minds.small.question.nouns import DETERMINER, Phrase, phrases
from ragweave.models.embed import encoder
from ragweave.models.text import content_terms, fold, names, plural

_PART = 4
"""Content words that a part of a question may have after “and” or “what about”; without them it may have one."""
_WHOLE = re.compile(
    r"(?:(?:in|on|at|to|for|from|by|with|of|since|until|within|after|before|during|under|through|into|over|without)\s+)?"
    r"(?:who|whom|whose|which|what|where|when|why|how|is|are|was|were|do|does|did|has|have|had|can|could|may|must"
    r"|will|would|should|list|show|find|give|summari[sz]e|describe|explain|compare|count|tell|wer|was|wann|wo|wie|warum|welche\w*|qui|que|quand|où|comment|combien)"
    r"(?:['’]\w+)?\b",
    re.I,
)


_OWNED = re.compile(r"(?:his|her|its|their)\s+[\w-]+(?:\s+[\w-]+)?\W*$(?<!['’]s)(?<!['’]s\?)", re.I)


def is_owned(question: str) -> bool:
    """Tell whether a turn names something that belongs to what was spoken of, and nothing else: “his garage?”."""
    return bool(_OWNED.match(question))


def is_part(question: str, onward: bool) -> bool:
    """Tell whether a turn is a part of a question, to be read with the one before."""
    if _BARE.match(question) or _ONE.match(question.strip(" ?.!")):
        return True
    if _WHOLE.match(question):
        return False
    n = len(content_terms(question))
    return (
        n <= _PART
        if onward
        else n <= 1
        and question.rstrip().endswith("?")
        and not re.search(r"\b(?:it|they|them|he|she|him|her)\b", question, re.I)
    )


_WH_PHRASE = re.compile(
    r"\W*(?P<wh>(?:(?:in|on|at|to|for|from|by|with|of|since|until)\s+)?"
    r"(?:how (?:long|often|far|tall|old|big|high|deep|heavy)"
    r"|(?:which|what) (?:year|day|date|time|month|city|town|place|country|street)|who|whom|where|when|why|how))\b",
    re.I,
)
_BARE = re.compile(
    rf"{_WH_PHRASE.pattern}(?:\s+(?:exactly|then|though|precisely))?\W*$|\W*(?P<what>(?:(?:in|on|at|to|for|from|by|with|of)\s+)?"
    r"(?:which|what|how many|how much)\s+\w+)\W*$",
    re.I,
)
_ONE = re.compile(
    r"^(?:(?P<prep>in|on|at|from|for|with|of|by)\s+)?(?:the\s+)?(?P<how>(?:\w+\s+){0,2}\w+)\s+ones?\W*$", re.I
)
_HEADED = re.compile(
    r"^(?P<prep>in|on|at|from|for|with|of|by|to|without|during|after|before|since|until|under|over|near)\s+"
    r"(?P<rest>.+?)\W*$",
    re.I,
)
_TIME = re.compile(
    r"\b(?:(?:in|since) (?:1\d|20)\d\d|(?:this|last|next) (?:year|month|week|season)|a (?:year|month|week) ago"
    r"|now|today|nowadays|the year before)\b",
    re.I,
)
"""A time that takes the place of another: “And this year?”."""
_NEWER = {"newer": "newest", "older": "oldest", "later": "latest", "earlier": "earliest", "new": "new", "old": "old"}


def carry(fragment: str, before: str) -> str:
    """Ask the question before of something else: “And rabbits?”, “where?”, “on the newer one?”.

    The fragment takes the place of what is most like it: a name that of a name, a year or a day that of another, what
    has a preposition that of the phrase with the same, else the noun phrase whose meaning is nearest.
    """
    plain = fragment.strip(" ?？.!,")
    if not plain:
        return before
    if m := _BARE.match(fragment):
        asked, led, first = m["wh"] or m["what"], _WH_PHRASE.match(before), phrases(before)
        return f"{asked} {before[led.end('wh') if led else first[0].start if first else 0 :].strip()}"
    if m := _ONE.match(plain):
        return _other_one(m["how"].lower(), m["prep"] or "", before)
    if _TIME.fullmatch(plain):
        then = _TIME.search(before)
        return f"{before[: then.start()]}{plain}{before[then.end() :]}" if then else f"{before.rstrip(' ?.!')} {plain}?"
    found = phrases(before)
    if " of " in plain or fold(plain.split()[0]) in DETERMINER:
        found = _measured(found, before)
    if m := _HEADED.match(plain):
        for p in reversed(found):
            if fold(before[: p.start].split()[-1] if before[: p.start].split() else "") == fold(m["prep"]):
                return before[: p.start] + m["rest"] + before[p.end :]
        return f"{before.rstrip(' ?？.!')} {plain}?"
    if not found:
        return f"{plain}: {before}"
    at = _nearest(plain, found, before)
    text = re.sub(r"['’]s?$", "", plain)
    if owner := re.search(r"['’]s?$", at.text):
        text = (text[:-1] if text == plain and text.endswith("s") and text.islower() else text) + owner.group()
    return before[: at.start] + text + before[at.end :]


def _measured(found: Sequence[Phrase], before: str) -> list[Phrase]:
    """Return the phrases with a measure and what it is of as one: “a pint of beer” is replaced whole.

    A measure is one word: the kind of price in “a full load of bisque” stays.
    """
    out: list[Phrase] = []
    for p in found:
        last = out[-1] if out else p
        measure = fold(last.text.split()[0]) in ("a", "an") and len(last.text.split()) == 2
        if measure and fold(before[last.end : p.start].strip()) == "of":
            out[-1] = Phrase(last.start, p.end, before[last.start : p.end], p.head)
        else:
            out.append(p)
    return out


def _nearest(fragment: str, found: Sequence[Phrase], before: str) -> Phrase:
    """Return the noun phrase that a fragment stands beside."""
    owned = [_owner(p) for p in found]
    found = [p for pair in zip(owned, found, strict=True) for p in pair if p is not None]
    named = [p for p in found if p.head[:1].isupper()]
    if names(f"x {fragment}") and named:
        found = named
    elif re.search(r"['’]s?$", fragment) and any(owned):
        found = [p for p in owned if p is not None]
    mind = encoder()
    near = mind.texts([p.text for p in found]) @ mind.queries([fragment])[0]
    many, some = plural(fragment), fold(fragment.split()[0]) in DETERMINER

    def fit(n: int) -> float:
        p = found[n]
        alike = (plural(p.text) == many) + (some and fold(p.text.split()[0]) in DETERMINER)
        placed = fold(before[: p.start]).split()[-1:] in (["at"], ["in"], ["on"])
        return float(near[n]) + ALIKE * alike - PLACED * placed + FIRST * (n == 0)

    return found[max(range(len(found)), key=lambda n: (fit(n), -n))]


ALIKE, FIRST, PLACED = 0.15, 0.1, 0.3
"""Weight of the same number or article, of standing first, and behind “at”, beside the cosine of the meanings."""


def _owner(p: Phrase) -> Phrase | None:
    """Return the possessor that a phrase opens with (“Gus’s birthday”)."""
    m = re.match(r"(?:\S+\s+)??(\S*['’]s?)(?=\s)", p.text)
    return Phrase(p.start + m.start(1), p.start + m.end(1), m.group(1), m.group(1)) if m else None


_VERSIONED = re.compile(r"(?:the|an?)\s+(?P<noun>(?:\w+\s+){0,2}?\w+)\s+(?:of|from|for|in)\s+(?:1\d|20)\d\d\b", re.I)
_VERSION = re.compile(rf"\s+(?:on|in|from|by|under|according to)\s+{_VERSIONED.pattern}", re.I)
_CURRENT = frozenset("newer newest new latest current later recent".split())
_QUALIFIED = re.compile(
    r"\b(?:the|an?)\s+(?P<how>old|new|older|newer|oldest|newest|first|second|third|last|next|previous|current|big|small|large|cheap|adult|left|right|upper|lower)\w*\s+(?P<noun>\w+)",
    re.I,
)


def _other_one(how: str, prep: str, before: str) -> str:
    """Ask of another one of the same kind: the noun is that which the question before told apart."""
    if how in _CURRENT and (m := _VERSION.search(before)):
        # What holds today is asked for as such: “on the newest list” would ask for a list.
        if len(content_terms(before[: m.start()] + before[m.end() :])) > 1:
            return f"{before[: m.start()]} now{before[m.end() :]}"
    how = " ".join(_NEWER.get(w, w) for w in how.split() if w != "the")
    if m := _VERSIONED.search(before) or _QUALIFIED.search(before):
        return f"{before[: m.start()]}the {how} {m['noun']}{before[m.end() :]}"
    found = phrases(before)
    if prep:
        found = [p for p in found if fold(before[: p.start].strip()).endswith(prep)] or found
    if not found:
        return f"{before} ({how})"
    p = found[-1]
    return f"{before[: p.start]}the {how} {p.head}{before[p.end :]}"
