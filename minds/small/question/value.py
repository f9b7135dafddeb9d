"""Whether a text holds what its question asks for: a time, a number, a measure, a code, a person, a denial."""

from __future__ import annotations

import re

from ragweave.minds.small.question.asked import Asked, has_clause
from ragweave.minds.small.question.facts import UNITS, negations, units
from ragweave.models.calendar import NUMBER_WORDS
from ragweave.models.text import fold, stem, terms

_LASTS = re.compile(
    r"\b(?:\d+|an?|one|half|all|every|several|many|\w+(?:teen|ty|illion)|"
    + "|".join(NUMBER_WORDS)
    + r")\b[ -](?:[a-z]+ ){0,2}?"
    r"(?:sec(?:ond)?|min(?:ute)?|hour|day|night|week|month|year|decade|centur|season|summer|winter|(?:kilo|centi)?met(?:re|er)"
    r"|feet|foot|inch|mile|k?m\b|cm\b|mm\b|ft\b|h\b)|\d(?:h|s|k?m|cm|mm|ft)\b|\d:\d\d"
    r"|\b(?:until|till|since|always|from \d+ to)\b"
    r"|[秒分时天周月年米]",
    re.I,
)
"""How long something lasts or is."""
_ACROSS = re.compile(r"\b[\w.,]+ ?(?:[a-z]+|[′″'\"]) (?:wide|high|tall|deep|thick|broad|across|old|away)\b", re.I)
"""A measure of something else than of length."""
_HOW_LONG = re.compile(r"(?:and |for )*how long\b", re.I)
HOW_MUCH = re.compile(r"\bhow much ([a-z-]+)", re.I)
_CODED = re.compile(
    r"(?:what|which)\b.*\b(?:password|passcode|pin|code(?! ?word)|combination"
    r"|(?:serial|phone|telephone|customer|account|contract|policy|meter) number)\b",
    re.I,
)
_CODE = re.compile(r"\d|[\"“‘]|: \S")
"""What a code has: a figure, or that it is quoted or stands behind its label."""
_DENIES = re.compile(r"(?<!\()\b(?:not|never|nobody|cannot)\b(?! \w+ing\b)|n['’]t\b")

_IF = re.compile(r"\b(?:if|unless|because|in case)\b[^,?]*|, (?:and )?not (?!\w+ing\b)[^,?]*", re.I)
"""What is not so there is a condition or a contrast (“the hall, not the bays”), and not what is asked."""


def lacks(asked: Asked, text: str) -> bool:
    """Tell whether a text holds no time, number, measure, code or person where one is asked for."""
    if asked.kind in ("time", "person"):
        return not asked.fits(text)
    if _CODED.match(asked.question) and not _CODE.search(text):
        return True
    if asked.kind == "count":
        measured = asked.counted not in UNITS or asked.counted in units(text)
        if not measured or not asked.numbered(text):
            return True
        if _HOW_LONG.match(asked.question):
            return not _LASTS.search(_ACROSS.sub(" ", text))
    much = HOW_MUCH.search(asked.question)
    named = much is not None and stem(fold(much[1])) in terms(text)
    return asked.value is not None and not (named or asked.value.search(text))


def affirms(asked: Asked, text: str) -> bool:
    """Tell whether a text denies nothing where it is asked what is not so: “What must he not eat?”."""
    question = _IF.sub("", asked.question)
    denied = _DENIES.search(question)
    if denied is None or asked.kind == "yes" or has_clause(question[: denied.start()]):
        return False
    return not negations(text)
