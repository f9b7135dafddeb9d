"""What a question asks of whom: the kind of value that answers, the words of the subject, and those of the slot."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ragweave.minds.small.question.facts import UNITS, facts, units
from ragweave.models.calendar import ENGLISH, MONTHS, WEEKDAYS, years_in_digits
from ragweave.models.text import STOP, content_terms, fold, names, sentences, stem, terms, verb_form, words

Idf = Callable[[str], float]
"""How rare a term is in the library."""


def share(wanted: Iterable[str], have: Container[str], idf: Idf) -> float:
    """Return the share of the wanted terms, weighted by rarity, that is there; 0 where nothing is wanted."""
    weights = {t: idf(t) for t in wanted}
    total = sum(weights.values())
    return sum(w for t, w in weights.items() if t in have) / total if total else 0.0


_QUESTION_WORD = re.compile(
    r"\b(?:who|whom|whose|which|what|where|when|why|how (?:many|much|long|far|old|tall|often|big|heavy|wide|high))\b",
    re.I,
)
_NUMERAL = r"[\d〇零一二三四五六七八九十]"
_DATE = re.compile(
    rf"\b(?:1\d{{3}}|20\d{{2}})\b|\b(?:{'|'.join(m for m in MONTHS if len(m) > 3 or m in ('may', 'mai'))})\b"
    rf"|\b\d{{1,2}}\.? (?:{'|'.join(MONTHS)})\b|\b(?:{'|'.join(WEEKDAYS)})s?\b|\d{{1,2}}:\d{{2}}"
    r"|\b\d{1,2} ?(?:a\.?m|p\.?m|uhr|h)\b"
    rf"|(?<!{_NUMERAL}){_NUMERAL}+\s*[年月日号点时]|\b(?:century|decade|noon|midnight|summer|autumn|winter)\b"
)
"""A time, in a folded text."""
_MONEY = (
    r"[€$£¥₹₽₩]|\b(?:euros?|dollars?|pounds?|pence|(?<!per )cents?|eur|usd|gbp|yuan|francs?|crowns?|kron(?:a|or|er|e)"
    r"|chf|yen|livres?|libras?|pfund|rupees?|rou?bles?|pesos?|shillings?|forints?|zloty)\b|[元円]|gratis"
    r"|free\b(?! (?:on|at|in|from|until|till|again|that|this|to)\b)"
    r"|\d[.,][-–—]{1,2}(?![\w-])|\b(?:price|cost|fee|rent|charge):? \d{1,3}(?:[.,]\d\d)?(?![\d%])"
)
_MEASURES: tuple[tuple[str, str, str], ...] = (
    ("money", r"how (?:much|expensive)\b.*\b(?:cost|pay|paid|charg|price|fee|rent|earn|spen[dt]|owe|worth|insur)"
              r"|for how much|^how much (?:is|are|was|were) (?:the|an?|one)\b"
              r"|\b(?:what|how much) (?:do|does|did|will|would|is|are|was|were)\b.* cost\b"
              r"|\bwhat .*\b(?:price|fee|rent|deposit)\b"
              r"|\bwhat (?:do|does|did|must|should|would|will|can)\b.* (?:pay|charge|owe|earn)\b"
              r"|was kostet|combien coûte|多少钱", _MONEY),
    ("weight", r"how heavy|how much .*\bweigh|what weight",
     r"\d ?(?:kg|g|t|lbs?|oz)\b|\b(?:kilo|kilogram|pound|ton|tonne|gram|stone)"),
    ("length", r"how (?:tall|high|wide|deep|thick|far)|what (?:height|width|length|distance)|wie (?:hoch|breit|weit)",
     r"\d ?(?:km|m|cm|mm|ft|in|mi)\b|(?<!square )\b(?:kilo|centi)?met(?:re|er)s?\b"
     r"|\b(?:feet|foot|inch(?:es)?|miles?|yards)\b|[米厘]"),
    ("size", r"(?:what|which) size|how (?:big|large)\b", r"\d"),
    ("share", r"(?:what|which) (?:share|percentage|proportion)\b",
     r"%|\bper ?cent|\b(?:half|third|quarter|fifth|tenth|prozent)|百分|\bout of (?:every )?(?:\d|[a-z]+)"
     r"|\bone in (?:every )?(?:\d|two|three|four|five|six|seven|eight|nine|ten|twenty|(?:a )?hundred)\b"),
    ("age", r"how old|quel âge|wie alt|多大",
     r"(?<!\bfor )\b[a-z\d-]+ years?\b(?! (?:ago|later|with|of|in|before|after|earlier)\b)"
     r"|\b(?:aged?|old|jahre?|ans|born)\b|岁"),
    ("heat", r"how (?:warm|hot|cold)|(?:what|which) temperature", 
     r"°|\bdegrees?\b|\d ?[CFK]\b|[℃度]|\bminus [a-z\d]|\b(?:below|above) (?:zero|freezing)"),
)  # fmt: skip
"""Dimension, questions for it, and what a value of it looks like: the value says what the question names."""
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("time", re.compile(
        r"\b(?:when|(?:year|date|day|time) (?:did|does|do|was|were|is|has|will)"
        r"|(?:what|which)(?: \w+)? (?:year|date|days?|month|time|century|decade)"
        # Of “the day job of” no day is asked.
        r"|(?:what|which)(?: \w+)? the (?:year|date|days?|month|time|century|decade)\b(?! [a-z]+ (?:of|for|in|at)\b)"
        r"|wann|quand|welche[sm] (?:jahr|tag)"
        r"|quelle (?:année|date)|à quelle heure|wie viel uhr)\b|何时|什么时候|哪一?[年天]|几[月点号时]", re.I)),
    ("count", re.compile(
        r"\b(?:how (?:many|much|long|far|old|tall|big|often|deep|high|large|heavy|wide|warm|hot|cold|expensive|fast)"
        r"|what (?:percentage|number|share|temperature|height|width|length|weight|price|fee|amount)"
        r"|(?:up to|above|below) what(?! (?:year|date|day|time))"
        r"|wie ?viele?|wie (?:lange|alt|hoch|oft)"
        r"|combien|quel âge|(?:phone|telephone|house|account|customer|flat) number)\b"
        r"|多少|几[个年天次]|多[长大高远]", re.I)),
    ("person", re.compile(r"\b(?:who|whom|whose|wer|wem|wen|qui)\b|谁", re.I)),
    ("name", re.compile(
        r"\b(?:where|wohin|wo|où|which"
        r"|what (?:is the (?:sur|last |first )?name|city|country|town|team|person|company|firm)|wie heißt)\b"
        r"|哪里|哪儿|哪个|何处|叫什么", re.I)),
)  # fmt: skip
ASKING = frozenset(
    terms(
        "year date day month time name person people kind place much many often long far old new number amount"
        " currently actually exactly apparently per must belong"
    )
)
"""Words that say what kind of thing is asked for, and need not stand beside it."""
_ABROAD = frozenset(
    terms(
        "wer wen wem wessen was wann wo wie warum welche welcher welches welchem welchen qui quand quel quelle quels"
        " quelles comment combien pourquoi où quién quiénes qué cuándo cuánto cuánta cuántos cuántas cuál cuáles"
        " dónde cómo"
    )
)
"""How questions in other languages open: no names of anybody."""
_LIGHT = frozenset(terms("go come get take"))
"""Verbs that alone ask for nothing: “On which days can she go there?”."""
_DONE = frozenset(terms("insure insured earn owe"))
"""What a sum of money may be for: it does not say so itself."""
_ATTRIBUTE = re.compile(
    r"^(?:[a-z]+ )?(?:who|what|which|where|when|how \w+)(?: \w+)? (?:is|are|was|were) "
    r"(?:(?:the|our|my)(?: (?:current|present|new|old|first|last))? |.*\w['’]s? )"
    r"(?P<noun>(?-i:[a-z-]+(?: [a-z-]+)??))(?= (?:of|for|in|at|on|to|from|by|with)\b|\W*$)",
    re.I,
)
"""What is asked of something: “the *code* of the cupboard”, “Wren's *phone number*”."""
_FOR_WHAT = re.compile(
    r"^(?:what|how much) (?:do|does|did|will|would) (?:the|an?|our|my) (?:[a-z-]+ ){0,2}?(?P<noun>[a-z-]+)"
    r" (?:for|of|at|to|from|by|with) .*\b(?:cost|weigh)\b",
    re.I,
)
"""What a price is asked of: “the new *table* for the printer”."""
_TOLD = frozenset(
    terms(
        "size price cost fee height width length depth weight age distance temperature sum colour term word"
        " expression title nickname location population percentage rate range estimate result goal aim purpose"
        " idea reason process role"
    )
)
"""Attributes that their value tells by itself: “the term for ...”."""
_YES_NO = re.compile(
    r"^(?:and |but |so )?(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|should|will|would)\b", re.I
)


@dataclass(frozen=True)
class Asked:
    """A question taken apart.

    Attributes:
        question: as it was asked.
        kind: `time`, `count`, `person`, `name`, `yes`, or empty.
        value: what a value of the dimension asked for looks like (an amount of money, a weight), or None.
        subject: stems that name what it is asked of: names, numbers, codes.
        slot: the other stems: what is asked of it.
        implied: those of the slot that a value of the dimension says itself (“how heavy”: 24 kg).
        counted: the stem of what is counted (“how many seats”), or empty.
    """

    question: str
    kind: str
    value: re.Pattern[str] | None
    subject: frozenset[str]
    slot: frozenset[str]
    implied: frozenset[str] = frozenset()
    counted: str = ""

    @property
    def typed(self) -> bool:
        """Whether it is no sentence but a few words, as typed into a search box."""
        return not self.kind and not set(words(self.question)) & STOP

    @cached_property
    def attribute(self) -> frozenset[str]:
        """Stems of what is asked of something, where it is said by a noun: “the code of the cupboard”."""
        m = _ATTRIBUTE.match(self.question) or _FOR_WHAT.match(self.question)
        named = [w for w in m["noun"].split() if not verb_form(w)] if m else []
        said = frozenset(content_terms(" ".join(named))) - ASKING - _TOLD - self.implied if m else _DONE
        return said & self.slot

    @cached_property
    def foreign(self) -> bool:
        """Whether it is not English: too few of its words are function words of English."""
        said = words(self.question)
        return not self.typed and sum(w in STOP for w in said) < 0.2 * len(said)

    def fits(self, text: str) -> float:
        """Return how far a text holds a value of the kind asked for, and not one that the question says, in [0, 1]."""
        if self.value is not None:
            return float(bool(self.value.search(text)) and self.numbered(text))
        if self.kind == "time":
            return float(any(m.group() not in fold(self.question) for m in _DATE.finditer(years_in_digits(fold(text)))))
        if self.kind == "count":
            there = not self.counted or self.counted in terms(text) or self.counted in units(text)
            return float(self.numbered(text)) * (1.0 if there else 0.2 if self.counted in UNITS else 0.5)
        said = fold(self.question)
        able = [n for n in names(text) if fold(n) not in said]
        if self.kind == "person":
            able = [n for n in able if not (n.isupper() or re.search(r"\d", n))]
        return float(self.kind not in ("person", "name") or bool(able))

    def numbered(self, text: str) -> bool:
        """Tell whether a text holds a number beside those of the question, one that may count."""
        found = facts(text)
        if _MANY.search(self.question) and self.counted not in UNITS:  # no day, hour or measure
            text = DAY.sub(" ", fold(text))
            found = tuple(f for f in facts(text) if not self.counted or f.unit in ("", "%", "celsius", "fahrenheit"))
        return bool({f.value for f in found} - self._said or _ONCE.search(text))

    @cached_property
    def _said(self) -> frozenset[str]:
        """The numbers that the question says."""
        return frozenset(f.value for f in facts(self.question))


_MANY = re.compile(r"\bhow (?:many|much)\b", re.I)
_MONTH = "|".join(m for m in MONTHS if m.isascii() and m.isalpha())
DAY = re.compile(
    r"\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.(?:\d{2,4})?|\d{1,2}:\d\d|\b(?:1\d|20)\d\d\b(?! [a-z]+s\b)"
    rf"|(?:\d{{1,2}}(?:st|nd|rd|th)?(?:,| and| to|-) ?){{0,30}}\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTH})\b"
    rf"|\b(?:{_MONTH}) \d{{1,2}}\b"
)
"""Days, hours and years, in a folded text."""
_ONCE = re.compile(
    r"\b(?:once|twice|never|none|one|half|hundred|thousand|dozen|every)\b|[一二两三四五六七八九十百千]", re.I
)


@lru_cache(maxsize=64)
def asked_of(question: str, cased: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())) -> Asked:
    """Take a question apart.

    Args:
        question: standing by itself.
        cased: stems that the evidence writes with capitals alone (names in a question that was typed without them), and
            those that it writes without (no names, where they open a question).
    """
    capitals, lower = cased
    part = asked_part(question)
    kind = _kind(part) or _kind(question)
    if not kind and _YES_NO.match(question.strip()):
        kind = "yes"
    found = next(((re.compile(v, re.I), m) for _, f, v in _MEASURES if (m := re.search(f, question, re.I))), None)
    # “How heavy”, “what does it cost”: what stands between the two names what it is asked of.
    measuring = found[1].group().split() if found else []
    implied = frozenset(content_terms(" ".join([*measuring[1:2], *measuring[-1:]]))) - _DONE
    wanted = content_terms(question)
    named = {t for n in names(question) for t in content_terms(n)} | {t for t in wanted if any(c.isdigit() for c in t)}
    if question[:1].isupper():
        # Who writes with capitals writes names with them; only the first word may be anything.
        named -= (lower | _ABROAD) & set(terms(question.split()[0]))
    else:
        named |= capitals & set(wanted)
    named = (named | (CALENDAR & set(wanted))) - ASKING
    slot = frozenset(wanted) - named - ASKING
    slot = frozenset() if slot <= _LIGHT and kind in ("time", "name") else slot
    many = _HOW_MANY.search(question)
    counted = (content_terms(many[1]) or [""])[-1] if many else ""  # of “how many days do” the days
    return Asked(question, kind, found[0] if found else None, frozenset(named), slot, implied & slot, counted)


def _kind(text: str) -> str:
    """Return the kind that the first question word asks for (“who ... when he was a boy”, “what do I do when ...”)."""
    first = _QUESTION_WORD.search(text)
    found = [(m.start(), n, k) for n, (k, form) in enumerate(_KINDS) if (m := form.search(text))]
    if first:
        found = [row for row in found if row[0] <= first.start() or not _QUESTION_WORD.match(text, row[0])]
    return min(found, default=(0, 0, ""))[2]


_HOW_MANY = re.compile(r"\bhow many ((?:[a-z-]+ ){0,1}?[a-z-]+)\b", re.I)
CALENDAR = frozenset(terms(" ".join(w for w in ENGLISH if w != "may")))
"""Stems of the months and days."""


def asked_part(question: str) -> str:
    """Return what a question asks for: its last sentence from the first question word on, or all of that sentence.

    What stands before (“X won her seat because somebody gave it up. Who ...”) leads there.
    """
    spans = sentences(question)
    last = question[slice(*spans[-1])] if spans else question
    found = _QUESTION_WORD.search(last)
    return last[found.start() :] if found else last


def cases(texts: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of words that texts write with a capital inside a sentence and never without, and the others."""
    upper: set[str] = set()
    lower: set[str] = set()
    for text in texts:
        for m in _CASED.finditer(text):
            (upper if m[1][0].isupper() else lower).add(stem(fold(m[1])))
    return frozenset(upper - lower), frozenset(lower)


_CASED = re.compile(r"(?<=[a-z,;] )([^\W\d_][^\W\d_]+)")


def has_clause(question: str) -> bool:
    """Tell whether an English question describes something by a relative clause instead of naming it."""
    return any(len(question[: m.start()].split()) >= _OPENING for m in _RELATIVE.finditer(question))


_RELATIVE = re.compile(r"(?<=\s)(?:that|which|who|whom|whose|where)\b", re.I)
_OPENING = 3
"""Words in which a question word only opens the question (“in which year”)."""
