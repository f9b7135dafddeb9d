"""What a library is asked about well: sentences that state a date, a number, a maker or a place, turned into questions.

Rules of form alone: every word of a question stands in the sentence that answers it, but for the question words.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from ragweave.corpora.types import Item
from ragweave.models.text import fold, sentences
from ragweave.models.values import days, names_day

_SHORTEST, _LONGEST = 25, 220
"""Characters of a sentence that is told as it stands."""
_PARTICIPLE = (
    r"(?:\w{2,}ed|built|made|lost|lit|sold|bought|given|written|drawn|laid|born|sunk|begun|held|brought|taken|struck|"
    r"hung|won|set|put|led|run|kept|cast|cut|found|known|shown|grown|won|paid|sent|dug|carved|woven|founded)"
)
_SUBJECT = r"(?P<subject>(?:The |A |An )?[^\W\d_][^,;:.!?()“”\"|]{2,60}?)"
_DATE = r"(?:\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}|1[0-9]{3}|20[0-4]\d)"
_NUMBER = (
    r"(?:\d[\d,.]*(?: (?:thousand|million|billion))?|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty)"
)
_OPEN = re.compile(
    r"(?:it|he|she|they|we|i|you|this|that|these|those|there|here|one|both|all|most|some|each|who|which|what|when|where|"
    r"if|as|in|on|at|by|from|for|to|of|with|since|until|after|before|besides?|but|and|or|so|then|today|now|his|her|its|"
    r"their|our|my|your|another|other|such|every|no|not|many|several|few|how|why|because|while|although|during|"
    r"(?:every|no|some)(?:thing|body|one)|the (?:ones?|others?|same|rest|former|latter|present))\b",
    re.I,
)
"""Words that open a sentence whose subject stands elsewhere, or that has none at its head."""
_CLAUSE = re.compile(
    r"\b(?:which|that|who|whose|when|where|why|how|and|or|but|is|are|was|were|has|have|had|not|never|no|to)\b"
    r"|\b\w{3,}(?:ed|es|ins) (?:the|this|these|an?)\b",
    re.I,
)
"""Words of a subject that is a clause, or that has a verb of its own: “Romans achieved this approximation by ...”."""
_BASE = {"has": "have", "have": "have", "had": "have", "held": "hold", "carries": "carry", "gives": "give"}


@dataclass(frozen=True)
class Fact:
    """A sentence of an item, [start, end) of its text; a question that it answers, or the date of an event, or both.

    `precise` tells what of the date stands there: day, month or year.
    """

    item: Item
    start: int
    end: int
    question: str = ""
    when: date | None = None
    precise: str = ""

    @property
    def text(self) -> str:
        """The sentence."""
        return " ".join(self.item.text[self.start : self.end].split())


_ABOUT = r"(?:about |some |nearly |only |over )?"
_HAVE = r"has|have|had|owns?|holds?|held|contains?|employs?|carries|carry|seats?|gives?"
_NAME = r"(?:[A-Z][\w’'-]+ ){1,3}?[A-Z][\w’'-]+"
_FORMS = tuple(
    (re.compile(f"{_SUBJECT} {form}"), question)
    for form, question in (
        (
            rf"(?P<be>was|were) (?P<verb>(?:first |finally )?{_PARTICIPLE}\b[^,;:.!?()]{{0,50}}?) (?:on|in) {_DATE}\b",
            "When {be} {subject} {verb}?",
        ),
        (rf"(?P<be>is|are|was|were) (?P<verb>{_PARTICIPLE}) by {_NAME}", "Who {be} {subject} {verb} by?"),
        (
            rf"(?P<verb>{_HAVE}) {_ABOUT}{_NUMBER} (?P<noun>(?:[a-z-]+ )??[a-z-]+[^\Ws_]s)\b",
            "How many {noun} {does} {subject} {base}?",
        ),
        (rf"(?P<verb>costs?) {_ABOUT}[€$£]?{_NUMBER}", "What {does} {subject} cost?"),
        (r"(?P<verb>stands|lies|hangs) (?:in|on|at|beside|behind|above|below|near) ", "Where does {subject} {base}?"),
    )
)
"""What a sentence says of its subject, and the question that it answers; `base` is its verb without an ending."""


def facts(items: Sequence[Item]) -> Iterator[Fact]:
    """Yield the sentences of items that answer a question or tell when something was."""
    common = set[str]().union(*(re.findall(r"\b[a-z][a-z]+", item.text) for item in items))
    for item in items:
        for a, b in sentences(item.text):
            said = item.text[a:b].strip()
            if not _SHORTEST <= len(said) <= _LONGEST or "\n" in said or "|" in said:
                continue
            question, (when, precise) = _question(said, common), _when(said)
            if question or when:
                yield Fact(item, a, b, question, when, precise)


def _question(said: str, common: Container[str]) -> str:
    """Return the question that a sentence answers; its first word keeps its capital unless it is a common one."""
    if _OPEN.match(said) or not said[0].isupper():
        return ""
    first, _, rest = said.partition(" ")
    if first in ("The", "A", "An") or (first.lower() in common and not rest[:1].isupper()):
        said = f"{first.lower()} {rest}"
    for form, question in _FORMS:
        if (m := form.match(said)) and not _CLAUSE.search(m["subject"]):
            verb = m["verb"]
            base = _BASE.get(verb, verb.removesuffix("s"))
            does = "did" if verb in ("had", "held", "cost") else "do" if verb == base else "does"
            return question.format(**m.groupdict(), base=base, does=does)
    return ""


def _when(said: str) -> tuple[date | None, str]:
    """Return the first date of a sentence and what of it stands there."""
    for a, b, when in days(said):
        return when, "day" if names_day(fold(said)[a:b]) else "month"
    if m := re.search(r"\b(?:in|since|until|of|by) (1[0-9]{3}|20[0-4]\d)\b(?![-–/]\d)", said):
        return date(int(m[1]), 1, 1), "year"
    return None, ""
