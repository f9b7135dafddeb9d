"""Bounds that a question sets on numbers: “more than 1.5 million”, “not over 10 €”."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from ragweave.minds.small.tables.measures import ADJECTIVES, WORDS_OF
from ragweave.models.calendar import NUMBER_WORDS
from ragweave.models.text import stem, words
from ragweave.models.values import CURRENCIES, number

_TIMES = {
    name: Decimal(times)
    for times, names in {
        12: "dozen dutzend",
        100: "hundred hundert",
        1_000: "k thousand tausend",
        1_000_000: "million millions millionen mio mn",
        1_000_000_000: "billion billions bn milliarde milliarden milliard milliards mrd",
    }.items()
    for name in names.split()
}
_OVER = "more than|over|above|greater than|exceeding|(?:long|dear|heavi|larg|bigg|high)er than"
_UNDER = "less than|under|below|(?:few|cheap|short|light|small|low)er than"
_HOW = (
    rf"(?P<over>{_OVER})|(?P<under>{_UNDER})|(?P<least>at least|no (?:less|fewer) than|minimum of)|"
    r"(?P<most>at most|up to|no more than|not more than|maximum of)"
)
_COMPARED = re.compile(
    rf"\b(?:{_HOW})\s+(?P<sign>[€$£])?\s?(?P<n>\d[\d,.]*|{'|'.join(NUMBER_WORDS)})\s*"
    rf"(?:(?P<times>{'|'.join(_TIMES)})\b\s*)?(?P<unit>[€$£%]|[^\W\d_][\w-]*)?",
    re.I,
)
BESIDE = re.compile(
    rf"\b(?:{_HOW}|(?<!how many )(?<!how much )(?:(?P<more>more)|less|fewer) (?P<one>(?:[^\W\d_][\w-]* ){{1,5}}?)than) "
    rf"(?:(?:its|their|his|her|the) )?(?!(?:{'|'.join(NUMBER_WORDS)})\b)(?P<two>(?:[^\W\d_][\w-]* ?){{1,4}})",
    re.I,
)
"""Where columns of a row may be compared: “below their minimum”, “more boys than girls”."""
_NOT = re.compile(r"(?:\bnot|n['’]t|\bnever|\bnicht|\bpas)(?:\s+([^\W\d_]+)){0,2}\s+$", re.I)
"""What denies a bound right behind it, or behind a verb: “does not cost more than”."""
_SIGNS = {">": "over", "<": "under", ">=": "least", "<=": "most"}
_TURNED = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+")
_MEASURING = frozenset(map(stem, "be cost weigh have need take last hold seat measure pay earn spend go get".split()))
"""Verbs that a bound may follow: of “not vegan over 10 €” nobody knows what is denied."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound on numbers: `>`, `<`, `>=` or `<=`, the amount, words that say of which column, and its place.

    The sign is empty where the bound is denied and it is not certain that it is meant.
    """

    sign: str
    amount: Decimal
    near: frozenset[str]
    place: tuple[int, int]
    unit: str = ""
    """The word or sign beside its number, which may be no unit."""
    written: str = ""
    times: Decimal = Decimal(1)

    def beside(self, mark: str) -> Bound:
        """Return it as it reads beside numbers of a decimal mark: “over 1.000 €” beside 1.250,50."""
        amount = _amount(self.written, mark) if self.written else None
        return self if amount is None else replace(self, amount=amount * self.times)


def compared(one: Decimal, sign: str, other: Decimal) -> bool:
    """Tell whether one amount is as a sign says to another."""
    return (">" in sign and one > other) or ("<" in sign and one < other) or ("=" in sign and one == other)


def bounds(question: str) -> list[Bound]:
    """Return the bounds that a question sets."""
    out = []
    for m in _COMPARED.finditer(question):
        written = m["n"].strip(".,").lower()
        spelt = NUMBER_WORDS.get(written)
        amount = _amount(written) if spelt is None else Decimal(spelt)
        if amount is None:
            continue
        sign = sign_of(m, question)
        times = _TIMES.get((m["times"] or "").lower(), Decimal(1))
        unit = m["sign"] or m["unit"] or ""
        near = {stem(unit.lower()), CURRENCIES.get(unit.lower(), "")} - {""}
        near |= {t for w in m.group().lower().split() if w in ADJECTIVES for t in WORDS_OF[ADJECTIVES[w]]}
        read = written if spelt is None else ""
        out.append(Bound(sign, amount * times, frozenset(near), m.span(), unit, read, times))
    return out


def sign_of(m: re.Match[str], question: str) -> str:
    """Return the sign of a bound, turned round by a no before it; "" where it is not certain that this is meant."""
    said = m.groupdict()
    sign = next((s for s, how in _SIGNS.items() if said.get(how)), ">" if said.get("more") else "<")
    denied = _NOT.search(question[: m.start()])
    turns = denied and (not denied[1] or stem(denied[1].lower()) in _MEASURING)
    return (_TURNED[sign] if turns else "") if denied else sign


def bounding(question: str) -> list[str]:
    """Return the words by which a question bounds numbers."""
    return [w for m in _COMPARED.finditer(question) for w in words(m[0])]


def _amount(written: str, mark: str = ".") -> Decimal | None:
    """Read the number of a bound; of two marks the last is decimal, and 1,000 is a thousand beside any numbers."""
    if "," in written and "." in written:
        mark = max(",.", key=written.rfind)
    elif _GROUPED.fullmatch(written):
        mark = "."
    read = number(written, mark)
    return None if read is None or read.unit else read.amount
