"""What a question asks of a table: which operation, by its words, and which of them it leaves to be explained."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Literal

from ragweave.models.calendar import NUMBER_WORDS
from ragweave.models.text import STOP, content_terms, stem, words
from ragweave.models.values import CURRENCIES, month_of

Operation = Literal["most", "least", "sum", "mean", "difference", "count", "cell"]

_MONEY = "price cost charg fee rent amount rate euro eur pound dollar money worth valu".split()
_DIMENSIONS: dict[str, tuple[str, Sequence[str]]] = {
    form: (side, names.split(","))
    for side, listed in (
        (
            "least",
            "cheapest:money shortest:length,duration nearest:distance lightest:weight youngest:age smallest:size,area "
            "lowest:height slowest:speed coldest:temperature coolest:temperature earliest:date oldest:date,year",
        ),
        (
            "most",
            "dearest:money priciest:money costliest:money longest:length,duration farthest:distance furthest:distance "
            "heaviest:weight tallest:height highest:height deepest:depth biggest:size,area largest:size,area "
            "fastest:speed hottest:temperature warmest:temperature latest:date newest:date,year",
        ),
    )
    for form, _, names in [row.partition(":") for row in listed.split()]
}
"""Superlatives: which end they mean, and of what where the question does not say it."""
_WORDS_OF = {
    "money": _MONEY,
    "length": "length long km kilometr mile metr meter cm mm distanc".split(),
    "distance": "distanc km kilometr mile away".split(),
    "duration": "durat minut min hour second day week month time length".split(),
    "weight": "weight kg gram mass kilo ton tonn".split(),
    "age": "age old".split(),
    "size": "size".split(),
    "area": "area squar sqm m² ha hectar surfac".split(),
    "height": "height elev altitud metr".split(),
    "depth": "depth".split(),
    "speed": "speed mph pace".split(),
    "temperature": "temperatur celsius degre °c".split(),
    "date": "date day".split(),
    "year": "year built found sinc made".split(),
}
"""Stems of heads and units that measure a dimension."""
_ADJECTIVES = {
    form: dimension
    for dimension, forms in {
        "money": "expensive costly cheaper dearer cost costs price prices worth charge charged pay",
        "length": "longer shorter",
        "duration": "long last take",
        "weight": "heavy heavier lighter weigh weighs",
        "size": "larger bigger smaller",
        "height": "tall taller high higher lower",
        "depth": "deep deeper",
        "speed": "fast faster slower",
        "date": "older newer",
    }.items()
    for form in forms.split()
}
_MOST = frozenset("most highest largest greatest biggest maximum max".split())
_LEAST = frozenset("least fewest lowest smallest minimum min".split())
_SUM = re.compile(
    r"\b(?:altogether|in total|total|together|sum|summed|combined|in all|add(?:s|ed)? up|all in all|overall|insgesamt|"
    r"zusammen|summe|au total|en tout|ensemble|en total)\b",
    re.I,
)
_MEAN = re.compile(r"\b(?:on average|average|mean|durchschnitt\w*|im mittel|en moyenne|moyenne)\b", re.I)
_DIFFERENCE = re.compile(
    r"\b(?:difference|how (?:much|many) (?:\w+ ){0,3}?(?:more|less|fewer|higher|lower|cheaper|dearer|longer|"
    r"shorter|heavier|lighter|larger|smaller)\b(?=.*\bthan\b)|how (?:much|many) (?:more|fewer|less)\b)",
    re.I,
)
_COUNT = re.compile(r"\b(?:how many|number of|wie viele|combien de)\b", re.I)
_ASKED = re.compile(
    r"\b(?:which|what|whose|welche[rsnm]?|quel(?:le)?s?)\s+"
    r"(?!(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|ist|sind|est|sont)\b)"
    r"((?:[^\W\d_][\w'’-]*\s?){1,3})",
    re.I,
)
_OVER = "more than|over|above|greater than|exceeding|(?:long|dear|heavi|larg|bigg|high)er than"
_UNDER = "less than|under|below|(?:few|cheap|short|light|small|low)er than"
_COMPARED = re.compile(
    rf"\b(?:(?P<over>{_OVER})|(?P<under>{_UNDER})|(?P<least>at least|no (?:less|fewer) than|minimum of)|"
    rf"(?P<most>at most|up to|no more than|not more than|maximum of))\s+"
    rf"(?P<sign>[€$£])?\s?(?P<n>\d[\d,.]*|{'|'.join(NUMBER_WORDS)})\s*(?P<unit>[€$£%]|[^\W\d_][\w-]*)?",
    re.I,
)
_GENERIC = frozenset(
    map(
        stem,
        "table list listing sheet spreadsheet row column entry item thing figure number value record kind one each "
        "every single different got get has have had make made come came be there show find according look us".split(),
    )
)
"""Stems that say nothing of what is asked for."""
_PLACE = re.compile(
    r"\b(?:in|on|of|from|according to|by)\s+(?:the|my|our|your|this|that)?\s*(?:\w+['’]?s?\s)?"
    r"(?:table|list|sheet|spreadsheet|file|chart)(?:\s+of\s+(?:the\s+)?\w+)?",
    re.I,
)
"""Where it stands: “in the table of charges”."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound on numbers: `>`, `<`, `>=` or `<=`, the amount, words that say of which column, and its place."""

    sign: str
    amount: Decimal
    near: frozenset[str]
    place: tuple[int, int]

    def holds(self, amount: Decimal) -> bool:
        """Tell whether an amount is within it."""
        return {">": amount > self.amount, "<": amount < self.amount, ">=": amount >= self.amount}.get(
            self.sign, amount <= self.amount
        )


class Asked:
    """A question, read as one that is asked of a table."""

    def __init__(self, question: str) -> None:
        self.question = question
        self.said = words(_PLACE.sub(" ", question))
        """Its words, without where it says that the answer stands."""
        self.stems = [stem(w) for w in self.said]
        self.terms = frozenset(content_terms(question))
        self.numbers = {w for w in words(question) if w.isdigit()}

    @cached_property
    def superlative(self) -> tuple[str, int] | None:
        """The end that is asked for and the position of the word, or None."""
        for n, w in enumerate(self.said):
            before = self.said[n - 1] if n else ""
            if w in ("most", "least") and (before == "at" or self.said[n + 1 : n + 2] == ["of"]):
                continue
            if w in _DIMENSIONS:
                return _DIMENSIONS[w][0], n
            if w in _MOST or w in _LEAST:
                return ("most" if w in _MOST else "least"), n
        return None

    @cached_property
    def operation(self) -> Operation:
        """What is to be done; `cell` where nothing is said."""
        if _DIFFERENCE.search(self.question) and not self.bounds:
            return "difference"
        if _MEAN.search(self.question):
            return "mean"
        if self.superlative is not None:
            return "most" if self.superlative[0] == "most" else "least"
        if _SUM.search(self.question):
            return "sum"
        return "count" if _COUNT.search(self.question) else "cell"

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Kinds of cells that can answer its question word."""
        first = next((w for w in self.said if w in ("who", "whom", "whose", "where", "why", "when")), "")
        if first == "when":
            return frozenset({"date", "key", "text"})
        return frozenset({"text"} if first else {"text", "date", "key", "number", "yes"})

    @cached_property
    def dimensions(self) -> frozenset[str]:
        """Stems of heads and units that the question means by an adjective or verb: “cheap”, “cost”, “how long”."""
        found = {d for w in self.said for d in (_DIMENSIONS[w][1] if w in _DIMENSIONS else ())}
        found |= {_ADJECTIVES[w] for w in self.said if w in _ADJECTIVES}
        if not found and "much" in self.said:
            found = {"money"}
        return frozenset(t for d in found for t in _WORDS_OF[d])

    @cached_property
    def measured(self) -> frozenset[str]:
        """Stems of what the superlative compares, where it says so itself, as “longest” does and “largest” does not."""
        word = self.said[self.superlative[1]] if self.superlative else ""
        if word in _MOST or word in _LEAST:
            return frozenset()
        return frozenset(t for d in _DIMENSIONS.get(word, ("", ()))[1] for t in _WORDS_OF[d])

    @cached_property
    def named(self) -> frozenset[str]:
        """Stems of what is asked for by name: of “which animals” the animal."""
        m = _ASKED.search(self.question)
        return frozenset(content_terms(m[1])) if m else frozenset()

    @cached_property
    def bounds(self) -> list[Bound]:
        """The bounds that it sets."""
        out = []
        for m in _COMPARED.finditer(self.question):
            written = m["n"].strip(".,").lower()
            amount = Decimal(NUMBER_WORDS[written]) if written in NUMBER_WORDS else _amount(written)
            if amount is None:
                continue
            sign = ">" if m["over"] else "<" if m["under"] else ">=" if m["least"] else "<="
            unit = (m["sign"] or m["unit"] or "").lower()
            near = {stem(unit), CURRENCIES.get(unit, "")} - {""}
            near |= {t for w in m.group().lower().split() if w in _ADJECTIVES for t in _WORDS_OF[_ADJECTIVES[w]]}
            out.append(Bound(sign, amount, frozenset(near), m.span()))
        return out

    @cached_property
    def operating(self) -> frozenset[str]:
        """Stems of the words that say what is to be done, and those that say nothing."""
        found = {
            stem(w) for m in (_SUM, _MEAN, _DIFFERENCE, _COUNT) for f in m.finditer(self.question) for w in words(f[0])
        }
        found |= {stem(w) for f in _COMPARED.finditer(self.question) for w in words(f[0])}
        found |= {stem(w) for w in self.said if w in _DIMENSIONS or w in _ADJECTIVES or w in _MOST or w in _LEAST}
        return frozenset(found | _GENERIC | {stem(w) for w in STOP})

    @cached_property
    def months(self) -> frozenset[int]:
        """The months that it names."""
        return frozenset(
            m for w in self.said if len(w) > 2 and (m := month_of(w)) and not (w == "may" and self._modal(w))
        )

    def _modal(self, word: str) -> bool:
        """Tell “may” in “may I” from the month."""
        at = self.said.index(word)
        return self.said[at - 1 : at] not in (["in"], ["of"], ["since"], ["until"], ["last"], ["this"])

    def beside(self, head: frozenset[str]) -> list[int]:
        """Return the numbers that stand right before or after a word of a head: “flat 34”, “one room”."""
        out = []
        for n, w in enumerate(self.said):
            value = NUMBER_WORDS.get(w, int(w) if w.isdigit() and len(w) < 10 else None)
            if value is not None and (head & set(self.stems[max(0, n - 1) : n] + self.stems[n + 1 : n + 2])):
                out.append(value)
        return out

    def denies(self, head: frozenset[str]) -> bool:
        """Tell whether a no stands in front of a word of a head."""
        places = [n for n, s in enumerate(self.stems) if s in head]
        before = {w for n in places for w in self.said[max(0, n - 4) : n]}
        return bool(
            before & {"no", "not", "out", "without", "t", "lack", "lacks", "kein", "keine", "keinen", "ohne", "sans"}
        )


def _amount(written: str) -> Decimal | None:
    plain = re.sub(r",(?=\d{3}\b)", "", written).replace(",", ".")
    return Decimal(plain) if re.fullmatch(r"\d+(?:\.\d+)?", plain) else None
