"""A question that compares, taken apart: its two sides, what is weighed, and a question for each side alone."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragweave.models.text import content_terms, names, terms

_LENGTHS = "km m cm mm mile ft"
_MEASURES = (
    (
        "longer",
        "shorter",
        "how long",
        "length long distance duration minutes hours lasts",
        f"{_LENGTHS} hour minute day week month year second",
    ),
    ("later", "earlier first last sooner", "when", "date day born birthday built made found since year", ""),
    ("younger newer", "older", "when born built made", "born birthday built made found founded", ""),
    ("heavier", "lighter", "how heavy weight", "weight weigh mass", "kg g pound ton"),
    (
        "dearer pricier costlier",
        "cheaper",
        "what cost price",
        "price cost charge fee rent euro eur pound dollar money",
        "euro dollar £ yuan",
    ),
    ("higher taller", "lower", "how high", "height high elevation altitude tall climb", _LENGTHS),
    ("deeper", "shallower", "how deep", "depth deep", _LENGTHS),
    ("wider broader", "narrower", "how wide", "width wide", _LENGTHS),
    ("farther further", "nearer closer", "how far", "distance far away", _LENGTHS),
    ("faster quicker", "slower", "how fast", "speed pace", "km mile knot"),
    ("bigger larger", "smaller", "how big", "size area square large big", ""),
    ("warmer hotter", "colder cooler", "temperature", "temperature", "celsius fahrenheit"),
    ("more", "less fewer", "how many much", "", ""),
)
"""Comparatives of more and of less, how their value is asked for, words that name it, and its units."""
_ADJECTIVES = {"expensive": 4, "costly": 4, "heavy": 3, "recent": 1}
_BY_FORM = {
    form: (sign, n)
    for n, (more, less, *_) in enumerate(_MEASURES)
    for sign, forms in ((1, more), (-1, less))
    for form in forms.split()
}
_FORM = rf"(?:(?:more|less) (?:{'|'.join(_ADJECTIVES)})|{'|'.join(_BY_FORM)})"
_COMPARATIVE = re.compile(rf"\b{_FORM}\b", re.I)
_VERB = r"(?:is|was|are|were|do|does|did|has|have|had|will)"
PREP = r"(?:in|on|at|of|for|with|by|under|from|during)"
_THE_ONE = re.compile(rf"^(?:(?:the )?(?:one|ones)|that|those) (?={PREP}\b)", re.I)
_RISE = (
    r"(?:rise|risen|grow|grown|fall|fallen|drop(?:ped)?|increased?|decreased?|changed?|(?:go|gone|come) (?:up|down))"
)
_ENDS = (
    "there get have has had costs? takes? needs? weigh earn hold last start open close pay been born present win won"
    " come came lie lies"
)
_TAIL = rf"(?: (?:{'|'.join(_ENDS.split())}|(?:were|was|are|is) there)\b.*)"
_MUCH = "how (?:much|many)"
_DIFFERENCES = tuple(
    re.compile(rf"^(?:by )?{form}$", re.I)
    for form in (
        rf"{_MUCH}(?P<ask>.*?) {_VERB} (?P<a>.+?) {_RISE} (?:from|between) (?P<from>\S.*?) (?:to|and) (?P<b>.+)",
        rf"how (?:much|many|\w+er)(?P<ask>.*?) {_VERB} (?P<a>.+?) than (?P<b>.+)",
        rf"{_MUCH}(?P<ask>) (?P<a>(?:{_FORM}) .+?) than (?P<b>.+?)(?P<rest>{_TAIL})?",
        rf"{_MUCH}(?P<ask>) (?:more|less|fewer) than (?P<b>.+?) (?P<a>(?:{_VERB}|would|must|should|can) .+)",
        rf"{_MUCH}(?P<ask>.*?) {_VERB} (?P<a>.+?) (?:exceed|surpass|outweigh|beat) (?P<b>.+)",
        r"(?:what(?:['’]s| is| was)|how (?:big|large|much) (?:is|was)) the (?:price )?difference"
        r" (?P<ask>in .+? )?between (?P<a>.+?) and (?P<b>.+)",
        rf"{_MUCH} (?P<ask>.+?) (?:lie|lies|lay|passed|went by|{_VERB} there) between (?P<a>.+?) and (?P<b>.+)",
    )
)
_CHOICES = (
    re.compile(r"^(?P<ask>.*?)[,:;] (?P<a>[^,]+?),? or (?P<b>[^,]+)$", re.I),
    re.compile(rf"^(?:which|who|what) of (?P<a>.+?) (?:and|or) (?P<b>.+?) (?P<ask>{_VERB}\b.*)$", re.I),
    re.compile(r"^(?:between|of) (?P<a>.+?) and (?P<b>.+?), (?P<ask>(?:which|who|what)\b.*)$", re.I),
    re.compile(r"^(?P<a>[^,:;]+) or (?P<b>[^,:;]+)[,:;] (?P<ask>(?:which|whose|who|what)\b.*)$", re.I),
    re.compile(rf"^(?P<ask>.*\b{_FORM}\b.*?) (?P<a>{PREP} .+?) or (?P<b>{PREP} .+)$", re.I),
    re.compile(rf"^(?P<ask>{_VERB}) (?P<a>.+?) or (?P<b>.+?)(?P<rest> {_FORM}\b.*|{_TAIL})$", re.I),
    re.compile(rf"^(?P<ask>.*\b{_FORM}\b.*? (?P<prep>in|at|on|for|with|by)) (?P<a>\S+(?: \S+)?) or (?P<b>.+)$", re.I),
)  # fmt: skip
_LESS_THAN = re.compile(
    rf"^(?P<ask>{_VERB}) (?P<a>.+?) (?P<rest>(?:(?:{'|'.join(_ENDS.split())}) )?{_FORM}\b.*?) than (?P<b>.+)$", re.I
)


@dataclass(frozen=True)
class Sides:
    """Two things that a question weighs against each other.

    Attributes:
        a: the first, in the question's words.
        b: the second.
        ask: what is asked of both, without the comparative.
        sign: 1 where the greater one is asked for, -1 for the lesser; for times the later and the earlier.
        measure: place in the table of measures.
        how: `which` is asked for, the `difference`, or whether it is so (`yes`).
    """

    a: str
    b: str
    ask: str
    sign: int
    measure: int
    how: str

    @property
    def heads(self) -> frozenset[str]:
        """Stems that name what is weighed, in a label or the head of a column."""
        return frozenset(terms(_MEASURES[self.measure][3]))

    @property
    def units(self) -> frozenset[str]:
        """Units that it is measured in; empty where any may be."""
        return frozenset(_MEASURES[self.measure][4].split())

    @property
    def dated(self) -> bool:
        """Whether times are weighed."""
        return self.measure in (1, 2)

    @property
    def asks(self) -> tuple[str, str]:
        """A question for each side alone."""
        how = _MEASURES[self.measure][2].capitalize()
        named = [bool(names(f"x {side}") or re.search(r"\d", side)) for side in (self.a, self.b)]
        # “The offer” alone is any offer.
        beside = ["" if all(named) else other for other in (self.b, self.a)]
        pairs = zip((self.a, self.b), beside, strict=True)
        one, two = (" ".join(f"{how} {self.ask} {side} {other}".split()) + "?" for side, other in pairs)
        return one, two


def sides(question: str) -> Sides | None:
    """Return the two sides of a question that compares; None where it compares nothing."""
    plain = " ".join(question.split()).strip(" ?.!")
    for form in _DIFFERENCES:
        if m := form.match(plain):
            return _made(plain, m, "difference")
    if not _COMPARATIVE.search(plain):
        return None
    for form in _CHOICES:
        if m := form.match(plain):
            return _made(plain, m, "which")
    m = _LESS_THAN.match(plain)
    return _made(plain, m, "yes") if m else None


def _made(question: str, m: re.Match[str], how: str) -> Sides | None:
    found = m.groupdict()
    a, b, ask = found["a"], found["b"], f"{found['ask'] or ''} {found.get('rest') or ''}"
    if found.get("from"):
        a, ask = found["from"], f"{ask} {found['a']}"
    same = _THE_ONE.sub("", re.sub(rf"^{PREP} (?=(?:the one|that|those)\b)", "", b.strip(), flags=re.I))
    # “The ticket of 2025 than that of 2023”: what differs is the last phrase with the same preposition.
    if lead := re.match(rf"{PREP}\b", same, re.I):
        stands = re.match(rf"{PREP}\b(?= the one\b)", b.strip(), re.I)  # “under the new lease than under the one of”
        lead = stands if stands and f" {stands.group()} " in a else lead
        if cuts := list(re.finditer(rf"(?:^|(?<= )){lead.group()} ", a, re.I)):
            a, b, ask = a[cuts[-1].start() :], same, f"{ask} {a[: cuts[-1].start()]}"
        elif cuts := list(re.finditer(rf"(?<= ){lead.group()} ", ask, re.I)):
            a, b, ask = ask[cuts[-1].start() :], same, f"{ask[: cuts[-1].start()]} {a}"
        elif same != b.strip():
            b = same
    said = list(_COMPARATIVE.finditer(question))
    first, _, adjective = said[0].group().lower().partition(" ") if said else ("more", "", "")
    sign, measure = _BY_FORM[first]
    measure = _ADJECTIVES.get(adjective, measure)
    if not _MEASURES[measure][3]:  # “costs less”
        measure = next((n for n, m in enumerate(_MEASURES) if m[4] and {*terms(ask)} & {*terms(m[3])}), measure)
    if not said and re.search(r"\byears?\b", ask):
        measure, ask = 2, re.sub(r"\byears?\b", "", ask)
    clean = [_plain(x) for x in (a, b, re.sub(r"^(?:which|who|what|whose)\b", "", ask.strip(), flags=re.I))]
    one, two = (set(content_terms(x)) for x in clean[:2])
    if not one - two or not (two - one or two):
        return None
    return Sides(clean[0], clean[1], clean[2], sign, measure, how)


def _plain(text: str) -> str:
    """Take comparatives, auxiliaries and what opens a side away."""
    text = _COMPARATIVE.sub(" ", text)
    text = re.sub(rf"\b(?:{_VERB}|there|the one|that for|that of)\b", " ", text, flags=re.I)
    return re.sub(r"^(?:it )?(?:the one|that|the)\s+|\s+that$", "", " ".join(text.split()), flags=re.I)
