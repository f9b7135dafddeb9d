"""Whether a text holds what its question asks for: a time, a number, a measure, a code, a person, a denial."""

from __future__ import annotations

import re

from ragweave.minds.small.question.asked import DAY, Asked, has_clause
from ragweave.minds.small.question.facts import UNITS, facts, negations, units
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
_ACROSS = re.compile(
    r"(?<![\w.,])[\w.,]+(?:(?<=[\w.,][a-z])| [a-z]+| ?[′″'\"]) (?:wide|high|tall|deep|thick|broad|across|old|away)\b",
    re.I,
)
"""A measure of something else than of length."""
_HOW_LONG = re.compile(r"(?:and |for )*how long\b", re.I)
HOW_MUCH = re.compile(r"\bhow much ([a-z-]+)", re.I)
_CODED = re.compile(
    r"\b(?:password|passcode|passwort|kennwort|mot de passe|contraseña|pin"
    r"|(?<!dress )(?<!source )code(?! ?word| of (?:conduct|practice|ethics|honou?r))"
    # “The best combination of colours” opens nothing, that “of the safe” does.
    r"|combination(?! of (?!(?:the|an?|this|that|my|our|your|his|her|their)\b)))\b",
    re.I,
)
_QUOTED = re.compile(
    r"[\"“‘„«]|: \S"
    r"|\b(?:password|passcode|passwort|kennwort|pin|code)(?: (?:of|for|to|für|von) [^.;]{1,40}?)? (?:is|was|ist|lautet)"
    r" (?!(?:\w+ed|kept|known|given|written|taken|shown|hidden|secret|private|easy|safe|here|there|missing|wrong|new"
    r"|old|it|this|that|not|geheim|hier|neu|falsch)\b)[^\W\d_][\w-]*"
    r"(?=\W*$|[.,;!?)](?:\s|$)| (?:and|but|since|now|und|seit)\b)",
    re.I,
)
"""How a code without figures is shown: quoted, behind its label, or as the one word that it is said to be."""
_WHICH = re.compile(
    r"(?:(?:and|but|so|or|und|et|y|under|on|at|by|with|in|unter|auf) )*"
    r"(?:what(?:['’]?s)?(?! (?:do|does|did|can|could|should|happens)\b)|which"
    r"|was (?:ist|war)|welche[nrsm]?|wie (?:ist|lautet|war)|quel(?:le)?s?|cu[aá]l)\b",
    re.I,
)
_ASKS = re.compile(
    r"\b(?:who|whose|when|where|why|how|wer|wann|wo|warum|wie|qui|quand|où|comment|quién|cuándo|dónde"
    r"|is|are|was|were|do|does|did|has|have|had|can|could|may|must|should|will|would)\b",
    re.I,
)
"""What a few words typed into a search box do not hold."""
_IDENTIFIED = re.compile(
    r"\b(?<!\ba )(?<!\ban )(?:(?P<thing>(?!(?:the|an?|our|my|this|that|what|which|any|some|total|whole|exact|average"
    r"|usual|right|same|in|of|on|by|to|for|from|with|about"
    # Those are counted with, and not called by.
    r"|prime|atomic|quantum|natural|real|complex|rational|irrational|even|odd|perfect|cardinal|ordinal"
    r"|maximum|minimum|(?:high|low|larg|small|great|bigg)e(?:r|st)|large|small|high|low)\b)[^\W\d_]+)(?: id)?"
    r" (?:numbers?|no\b\.?|nr\b\.?)(?! (?:plates?|theor\w+|systems?|line|sequence|games?|puzzles?)\b)"
    r"|(?:which|what) numbers?(?= (?:do|does|can|could|should|shall|must|did) (?:i|we|you|one|they|people)\b))"
    # “The number of her passport”, and not that of the guests.
    r"|\bnumber of (?:[^\W\d]+['’]s?|the|my|our|his|her|their|your) (?:[\w-]+ )??[\w-]*[^\Ws]\b"
    r"(?= (?:of|for|with)\b|\W*$)"
    r"|\b[^\W\d]*(?:nummer|nr)n?\b|\bnum[eé]ro\b(?! de (?:personas|veces))",
    re.I,
)
"""A number is asked for that tells one from its like: of a telephone, a passport, a customer."""
_PLACED = frozenset("house street flat apartment door room bus tram line lane seat shirt haus wohnungs zimmer".split())
"""Things whose number may stand anywhere: “14 Mill Street”."""
_LABEL = r"\b(?:numbers?|no|nr|nummer|num[eé]ro|id|code|is|are|was|ist|lautet|est|es)\b|[#=°№]"
_IDENTIFIER = re.compile(
    r"(?<![^\W_])(?:[^\W\d_]+[./-]?\d|\d+[./-]?(?!(?:st|nd|rd|th|am|pm|a|p|h)\b)[^\W\d_]|\d{3}|\d+(?:[ /-]\d+)+)"
    rf"|(?:{_LABEL}|:)\W{{0,3}}\d",
    re.I,
)
"""Three figures, figures with letters or in groups, or a number behind what says that it is one."""
_NO_YEAR = re.compile(rf"(?:{_LABEL}|[-_])\W{{0,2}}$", re.I)
"""What stands before a number that only looks like a year."""
_MAILED = re.compile(
    r"\b(?:e-?)?mail[ -]?addres\w*|\badresse (?:e-?)?mail|\badresse électronique|\bcorreo electr[oó]nico"
    r"|\be-?mail(?: of\b|\W*$)|\bwhich e-?mail\b",
    re.I,
)
_AT = re.compile(r"\w@\w|\bat [\w-]+ (?:dot|point|punkt) \w", re.I)
"""An address of mail, written or spoken."""
_DENIES = re.compile(r"(?<!\()\b(?:not|never|nobody|cannot)\b(?! \w+ing\b)|n['’]t\b")

_IF = re.compile(r"\b(?:if|unless|because|in case)\b[^,?]*|, (?:and )?not (?!\w+ing\b)[^,?]*", re.I)
"""What is not so there is a condition or a contrast (“the hall, not the bays”), and not what is asked."""
_WHY = re.compile(r"\W*(?:(?:and|but|so) )?why\b", re.I)
_REASON = re.compile(r"\b(?:because|due to|owing to|so that|reasons?)\b", re.I)
_STOPS = re.compile(r"\b(?:closed|shut|cancell?ed|called off|except|breaks?|holidays?)\b", re.I)
"""What says without a no why something is not so, and when: “closed because of damp”, “a break from 1 to 15 August”."""


def unidentified(asked: Asked, text: str) -> bool:
    """Tell whether a text shows no code, address of mail or number of a thing where one is asked for, in any language.

    A day, an hour, an amount and a measure are no such number.
    """
    question = asked.question
    few = asked.kind not in ("time", "person", "yes") and not _ASKS.search(question)
    if not (few or _WHICH.match(question)):
        return False
    if _CODED.search(question) and not (_QUOTED.search(text) or re.search(r"\d", _numbers(text))):
        return True
    if _MAILED.search(question):
        return not _AT.search(text)
    if (found := _IDENTIFIED.search(question)) is None:
        return False
    numbers, thing = _numbers(text), fold(found["thing"] or "")
    if thing in _PLACED or re.match(rf"(?:{'|'.join(_PLACED)})n", fold(found[0])):
        return not re.search(r"\d", numbers)
    beside = thing and re.search(rf"\b{re.escape(thing)}\W{{1,2}}\d", numbers)
    return not (beside or _IDENTIFIER.search(numbers))


def _numbers(text: str) -> str:
    """Return a folded text without its days, hours, amounts and measures."""
    plain = fold(text)
    for measured in (f.shown for f in facts(text) if f.unit):
        plain = plain.replace(measured, " ")
    return DAY.sub(lambda m: m[0] if m[0].isdigit() and _NO_YEAR.search(plain[: m.start()]) else " ", plain)


def lacks(asked: Asked, text: str) -> bool:
    """Tell whether a text holds no time, number, measure or person where one is asked for."""
    if asked.kind in ("time", "person"):
        return not asked.fits(text)
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
    told = _REASON if _WHY.match(question) else _STOPS if asked.kind == "time" else None
    return not (negations(text) or (told and told.search(text)))
