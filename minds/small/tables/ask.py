"""What a question asks of a table: which operation, by its words, and which of them it leaves to be explained."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise
from typing import Literal

from ragweave.minds.small.tables.bounds import Bound, bounding, bounds
from ragweave.minds.small.tables.counting import counting
from ragweave.minds.small.tables.measures import ADJECTIVES, DIMENSIONS, DONE, HEADS, NOUNS, PAID, WORDS_OF
from ragweave.models.calendar import NUMBER_WORDS
from ragweave.models.text import STOP, content_terms, stem, words
from ragweave.models.values import month_of

Operation = Literal["most", "least", "sum", "mean", "difference", "count", "often", "cell"]

_MOST = frozenset("most highest largest greatest biggest best maximum max".split())
_LEAST = frozenset("least fewest lowest smallest worst minimum min".split())
_BOUNDS, _BESIDE = frozenset("max min maximum minimum".split()), frozenset("above below over under than".split())
_SUM = re.compile(
    r"\b(?:altogether|in total|total|together|sum|summed|combined|in all|add(?:s|ed)? up|all in all|overall|insgesamt|"
    r"zusammen|summe|au total|en tout|ensemble|en total|(?:come|amount) to(?=\W*$))\b",
    re.I,
)
_MEAN = re.compile(r"\b(?:on average|average|mean|durchschnitt\w*|im mittel|en moyenne|moyenne)\b", re.I)
_DIFFERENCE = re.compile(
    r"\b(?:difference|how (?:much|many) (?:\w+ ){0,3}?(?:more|less|fewer|higher|lower|cheaper|dearer|longer|"
    r"shorter|heavier|lighter|larger|smaller)\b(?=.*\bthan\b)|how (?:much|many) (?:more|fewer|less)\b)",
    re.I,
)
_RECENT = re.compile(r"\bmost recent(?:ly)?\b", re.I)
_NTH = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 4}
_QUARTER = re.compile(r"\b(?:the )?(first|second|third|fourth|last|[1-4](?:st|nd|rd|th)) quarter(?: of\b)? ?", re.I)
_OFTEN = re.compile(r"\bhow (?:often|many times)\b", re.I)
_COUNTED = re.compile(r"\bhow (?:many|much)\s+([^\W\d_][\w'’-]*)", re.I)
_VERB = re.compile(
    r"\b(?:do|does|did|have|has|had)\s+(?:I|we|you|he|she|it|they|(?:the\s+|my\s+|our\s+)?[\w'’-]+)\s+([^\W\d_]+)", re.I
)
_PER = re.compile(r"\b(?:per|an?|each|every)\s(hour|day|night|week|month|quarter|year)\b", re.I)
_NONE = re.compile(r"\bnone\b|\b(?:sold|run|ran|are|is|we're) out\b", re.I)
_ASKED = re.compile(
    r"\b(?:which|what|whose|welche[rsnm]?|quel(?:le)?s?)\s+"
    r"(?!(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|ist|sind|est|sont)\b)"
    r"((?:[^\W\d_][\w'’-]*\s?){1,3})",
    re.I,
)
_OF = re.compile(r"^what(?:['’]?s| is| are| was| were) (?:the|our|my) ([a-z-]+) of\b", re.I)
_ALL = re.compile(
    r"\b(?:all|each|every|alle[rn]?|jede[rsmn]?|tous|toutes|chaque)\s+(?:of\s+)?(?:the|our|my|les|nos|mes)?\s*([^\W\d_][\w-]*)",
    re.I,
)
_LAST = re.compile(r"^what(?:['’]?s| is| are| was| were) .*?([a-z]+)\W*$", re.I)
_LABEL = re.compile(r"\b(?:number|code|address|phone|colou?r|password|price|name)\b", re.I)
_GENERIC = frozenset(
    map(
        stem,
        "table list listing sheet spreadsheet row column entry item thing figure number value record kind one "
        "each every among between single different got get has have had make made come came be there show find "
        "according look us use use need left since stand time portion serving helping yet".split(),
    )
)
"""Stems that say nothing of what is asked for."""
_HOLDS = frozenset(map(stem, ("table", "sheet", "spreadsheet", "column")))
"""Of them those that are no rows: who asks how many there are asks of furniture, or of linen."""
_DONE = frozenset(map(stem, "show find look use need make stand".split()))
"""Of them those that are done, and something where they are asked for: “which show”, unlike “show me which”."""
_PLACE = re.compile(
    r"\b(?:in|on|of|from|according to|by)\s+(?:the|my|our|your|this|that)?\s*(?:\w+['’]?s?\s)?"
    r"(?:table|list|sheet|spreadsheet|file|chart)(?:\s+of\s+(?:the\s+)?\w+)?",
    re.I,
)
"""Where it stands: “in the table of charges”."""


_BEFORE_MONTH = frozenset("in of since from until to between and last this the or for by".split())


_DAY = re.compile(r"([0-3]?\d)(?:st|nd|rd|th)?")
_JOINED = frozenset("of and or the und oder et".split())
_SPAN = re.compile(
    rf"\b(?:first|last|past|next|final|previous)\s+(?:\d+|{'|'.join(NUMBER_WORDS)})\s+(?:days?|weeks?|months?|years?)\b",
    re.I,
)


class Asked:
    """A question, read as one that is asked of a table."""

    def __init__(self, question: str) -> None:
        question = _QUARTER.sub(lambda m: f"Q{_NTH[m[1].lower()]} ", _RECENT.sub("latest", question))
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
            if w in _BOUNDS and {*self.said[max(0, n - 2) : n - 1]} & _BESIDE:
                continue  # what is “below its minimum” is not the least
            if w in ("most", "least") and before != "the" and (before == "at" or self.said[n + 1 : n + 2] == ["of"]):
                continue
            if w in DIMENSIONS:
                return DIMENSIONS[w][0], n
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
        if _OFTEN.search(self.question):
            return "often"
        return "count" if counting(self.question) else "cell"

    @cached_property
    def adds(self) -> bool:
        """Tell whether amounts of several rows are meant together: “how much did we spend”, but not “does it cost”."""
        amount = {"much", "many", "far", "long"} & set(self.said[1:2]) and self.said[0] == "how"
        return bool(amount) and not {"do", "does", "is", "are", "can", "should", "will", "would"} & set(self.said)

    @cached_property
    def per(self) -> str:
        """The time that an amount is asked for: “per week”."""
        m = _PER.search(self.question)
        return m[1].lower() if m else ""

    @cached_property
    def none(self) -> bool:
        """Tell whether it asks for what there is none of."""
        return bool(_NONE.search(self.question))

    @cached_property
    def counted(self) -> frozenset[str]:
        """Stems of what “how many” or “how much” asks for by name."""
        return frozenset(t for m in _COUNTED.finditer(self.question) for t in content_terms(m[1]))

    @cached_property
    def verbs(self) -> frozenset[str]:
        """Stems of what somebody does in it: “did I wear”."""
        return frozenset(t for m in _VERB.finditer(self.question) for t in content_terms(m[1]))

    def heads(self, terms: frozenset[str]) -> bool:
        """Tell whether a head answers its question word: “where” is met by a shop."""
        word = next((w for w in self.said if w in HEADS), "")
        return bool(terms & {stem(w) for w in HEADS.get(word, "").split()})

    def names(self, terms: frozenset[str]) -> bool:
        """Tell whether it names a head: by a word of it, or one of its family, as “supplies” does a supplier."""
        return bool(self.near(terms))

    def near(self, terms: frozenset[str]) -> set[str]:
        """Return its stems that are of one family with those of a head."""
        return {s for s in self.stems if s not in _GENERIC and any(_related(t, s) for t in terms)}

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Kinds of cells that can answer its question word."""
        if self.word == "when":
            return frozenset({"date", "key", "text"})
        return frozenset({"text"} if self.word else {"text", "date", "key", "number", "yes"})

    @cached_property
    def word(self) -> str:
        """The question word, where it tells the kind of its answer."""
        # Not the WHO.
        caps = set() if self.question.isupper() else {w.lower() for w in re.findall(r"\b[A-Z]{2,}\b", self.question)}
        asking = ("who", "whom", "whose", "where", "why", "when")
        return next((w for w in self.said if w in asking and w not in caps), "")

    @cached_property
    def dimensions(self) -> frozenset[str]:
        """Stems of heads and units that the question means by an adjective or verb: “cheap”, “cost”, “how long”."""
        ends = [DIMENSIONS[w][1] for w in self.said if w in DIMENSIONS]
        # “How much was the latest” asks of the row that is meant, and not how late it is.
        found = {d for end in ends if not ("date" in end and "much" in self.said) for d in end}
        found |= {ADJECTIVES[w] for w in self.said if w in ADJECTIVES}
        found |= {d for d, ws in NOUNS.items() if set(self.stems) & set(map(stem, ws.split()))}
        if not found and ("much" in self.said or ("many" not in self.said and set(self.stems) & PAID)):
            found = {"money"}
        return frozenset(t for d in found for t in WORDS_OF[d])

    def means(self, measured: frozenset[str]) -> frozenset[str]:
        """Return the stems that say no more than that a column measures what it does: “spend” of amounts of money."""
        found = [d for d, ws in WORDS_OF.items() if measured & set(ws)]
        named = " ".join(f"{NOUNS.get(d, '')} {DONE.get(d, '')}" for d in found)
        return frozenset(map(stem, named.split()))

    @cached_property
    def measured(self) -> frozenset[str]:
        """Stems of what the superlative compares, where it says so itself, as “longest” does and “largest” does not."""
        word = self.said[self.superlative[1]] if self.superlative else ""
        if word in _MOST or word in _LEAST:
            return frozenset()
        return frozenset(t for d in DIMENSIONS.get(word, ("", ()))[1] for t in WORDS_OF[d])

    @cached_property
    def named(self) -> frozenset[str]:
        """Stems of what is asked for by name: of “which animals” the animal."""
        m = _ASKED.search(self.question)
        return frozenset(content_terms(m[1])) if m else frozenset()

    @cached_property
    def all(self) -> frozenset[str]:
        """Stems of what it asks of all there is: “of all venues”, “for each guest”."""
        return frozenset(t for m in _ALL.finditer(self.question) for t in content_terms(m[1]))

    @cached_property
    def label(self) -> frozenset[str]:
        """Stems of what “which number” or “which address” asks for: only a column of that name holds it."""
        m = _ASKED.search(self.question)
        return frozenset(content_terms(m[1])) if m and _LABEL.search(m[1]) else frozenset()

    @cached_property
    def attribute(self) -> frozenset[str]:
        """Stems of what is asked of something: “the trade of the man who came second”."""
        m = _OF.match(self.question)
        return frozenset(content_terms(m[1])) if m else frozenset()

    @cached_property
    def last(self) -> frozenset[str]:
        """Stems of the word that “what is” leads to: “what is Anna's passport number”."""
        m = _LAST.match(self.question)
        return frozenset(content_terms(m[1])) if m else frozenset()

    @cached_property
    def bounds(self) -> list[Bound]:
        """The bounds that it sets."""
        return bounds(self.question)

    @cached_property
    def operating(self) -> frozenset[str]:
        """Stems of the words that say what is to be done, and those that say nothing."""
        found = {
            stem(w) for m in (_SUM, _MEAN, _DIFFERENCE, _OFTEN) for f in m.finditer(self.question) for w in words(f[0])
        }
        found |= {stem(w) for phrase in counting(self.question) for w in words(phrase)}
        found |= {stem(w) for w in bounding(self.question)}
        found |= {stem(w) for w in self.said if w in DIMENSIONS or w in ADJECTIVES or w in _MOST or w in _LEAST}
        m = _ASKED.search(self.question)
        things = self.counted & _HOLDS | ({stem(w) for w in words(m[1])[:1]} & _DONE if m else set())
        return frozenset(found | _GENERIC - things | {stem(w) for w in STOP})

    @cached_property
    def months(self) -> frozenset[int]:
        """The months that it names, and those between “from” one “to” another."""
        at = [
            (n, m)
            for n, w in enumerate(self.said)
            # “May” beside nothing that leads to a month is the verb: “how much may I spend in May”.
            if len(w) > 2 and (m := month_of(w)) and (w != "may" or self._is_may(n))
        ]
        between = {
            m
            for (a, first), (b, last) in pairwise(at)
            if {"to", "until", "till", "through", "bis"} & set(self.said[a + 1 : b])
            or self.said[max(0, a - 1)] in ("between", "zwischen", "entre")
            for m in (range(first, last) if first < last else (*range(first, 13), *range(1, last)))
        }
        return frozenset({m for _, m in at} | between)

    def _is_may(self, n: int) -> bool:
        """Tell whether “may” is the month at its place: behind “in”, or beside its day."""
        beside = [*self.said[max(0, n - 1) : n], *self.said[n + 1 : n + 2]]
        return any(map(_DAY.fullmatch, beside)) or bool(n and self.said[n - 1] in _BEFORE_MONTH)

    @cached_property
    def days(self) -> frozenset[int]:
        """The days of a month that it names right beside the month: “5 and 6 May”, “May 5th”."""
        found = set[int]()
        for n, w in enumerate(self.said):
            if len(w) > 2 and month_of(w) in self.months:
                before = n - 1
                while before >= 0 and ((day := _DAY.fullmatch(self.said[before])) or self.said[before] in _JOINED):
                    found |= {int(day[1])} if day else set()
                    before -= 1
                after = _DAY.fullmatch(self.said[n + 1]) if n + 1 < len(self.said) else None
                found |= {int(after[1])} if after else set()
        return frozenset(found)

    @property
    def span(self) -> bool:
        """Tell whether it asks of so many days or weeks at the end of a time: “the last 7 days of May”."""
        return bool(_SPAN.search(self.question))

    def beside(self, head: frozenset[str]) -> list[int]:
        """Return the numbers right before or after a word of a head: “flat 34”, “one room”, “weeks 4 to 7”."""
        out = list[int]()
        within = set(bounding(self.question))
        for n, w in enumerate(self.said):
            if w.isdigit() and w in within:
                continue
            value = NUMBER_WORDS.get(w, int(w) if w.isdigit() and len(w) < 10 else None)
            if value is not None and (head & set(self.stems[max(0, n - 1) : n] + self.stems[n + 1 : n + 2])):
                m = re.search(rf"\b{w}\s?(?:[-–]|to|until|till|through|bis)\s?(\w+\s)?(\d{{1,4}})\b", self.question)
                last = int(m[2]) if m and (not m[1] or stem(m[1].strip().lower()) in head) else value
                out += range(value, max(value, last) + 1)
        return out

    def tells(self, word: str) -> bool:
        """Tell whether a word says something beside what is to be done."""
        return word not in STOP and stem(word) not in self.operating


def _related(one: str, other: str) -> bool:
    """Tell whether two stems are of one family: the same, or all but three letters of the longer are shared."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= 5 and ((len(long) - len(short) <= 3 and long.startswith(short[:-1])) or long == f"{short}ship")
