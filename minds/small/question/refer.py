"""What a question leaves to what was said before, put into words: pronouns, ellipses, “the newer one”."""

from __future__ import annotations

import re

from ragweave.minds.contracts import Said
from ragweave.minds.small.question import cjk
from ragweave.minds.small.question.ellipsis import carry, is_owned, is_part
from ragweave.minds.small.question.nouns import DETERMINER, DO, group, phrases, topic
from ragweave.models.text import content_terms, fold, names, plural, script, terms, verb_form

_HE = r"he|him|his|she|her|hers"
_IT = r"it|its"
_THEY = r"they|them|their|theirs"
_PRONOUN = re.compile(rf"\b(?P<who>{_HE})\b|\b(?P<what>{_IT})\b|\b(?P<many>{_THEY})\b", re.I)
_POSSESSIVE = frozenset("his her its their".split())
_OBJECT_NEXT = re.compile(
    r"\s*(?:$|[?.!,;:]|(?:in|on|at|to|for|from|by|with|of|and|or|now|again|back|then|there|up|down|out|off)\b)", re.I
)
"""What follows “her” where it stands for a person and not before a thing of hers."""
_POINTS = re.compile(
    r"\b(?:this|these|those|such)\b(?!\s+(?:week|month|year|morning|evening|afternoon|time)\b)"
    r"|\b(?:of|in|for|on|to|from|by|with|at|about|after|before|does|did|do|is|was|were|has|had|can|will|and|than)"
    r"\s+that\b|\bthat\s+\w+['’]s\b"
    r"|\bthere\b(?!\s+(?:is|are|was|were|any|an?)\b)(?<!\b(?:is|as) there)(?<!are there)(?<!was there)(?<!were there)"
    r"|\b(?:which|the other|the (?:new|old)er|the same|other) ones?\b",
    re.I,
)
_LOOSELY = re.compile(
    r"\bthe (?:former|latter|other|others|first|second|older|newer|same|two|three|rest)\b"
    r"|\b(?:both|also|the one|which one|one of them)\b",
    re.I,
)
_NOBODY = re.compile(r"\bhow (?:warm|cold|hot|wet|dark|loud|far|late)(?: (?:or|and) \w+)? (?:is|was) $", re.I)
_EMPTY = re.compile(
    r"\b(?:is|was)\s+it\s+(?:that|who|which|you|we|i|one|he|she|they|people|again\s+\w+)\b"
    r"|\b(?:(?:is|was)\s+it\s+(?:\w+\s+){1,2}|it\s+take\s+)to\s+(?!(?:the|a|an|my|our|your)\b)[a-z]+\s+\w"
    r"|\b(?:is|was)\s+it\s+\w+\s+from\s.+\sto\s|\bhow (?:much|many)\s+\w+\s+(?:is|was)\s+it\s+(?:for|in|on|to|per)\b"
    r"|\bit\s+(?:is|was|['’]s)\s+(?:getting|late|time)\b",
    re.I,
)
"""“It” that stands for nothing: “what is it you have to do”, “is it allowed to park here”, “how much oil was it”."""
_DOER = re.compile(rf"\b(?:{'|'.join(DO)})\s+(?:the|our|my|an?)\s+\w+\s", re.I)
"""Somebody who does something in the question itself: “What did the club want for their help?”."""
_SOMEWHERE = re.compile(r"\s+(?:in|at|on|to|from)\s+(?!there\b|here\b)\w", re.I)
"""“How warm is it in the cellar”: “it” stands for nothing there."""
_ONWARD = re.compile(r"\b(?:back|else|too|as well|instead|next|afterwards|later|otherwise)\b", re.I)
_SUB = re.compile(r"\b(?:if|when|while|because|that|who|which|after|before|and|whose|where|so)\b|,", re.I)


def leans(question: str, context: str = "", strict: bool = True) -> bool:
    """Tell whether a question refers to something that it does not name itself.

    Args:
        question: the question.
        context: what stands before it in the same turn.
        strict: only pronouns and what points back count; otherwise a shared noun with an article does as well.
    """
    if _pronoun(question) or _POINTS.search(question):
        return True
    if strict:
        return False
    shared = set(content_terms(context)) & set(content_terms(question)) - {t for n in names(question) for t in terms(n)}
    lone = len(content_terms(question)) < 2 and not names(question)
    led = re.finditer(r"\b(?:the|that|this)(?=((?:\s+\w+){1,3}))", question)
    return lone or bool(_LOOSELY.search(question)) or any(shared & set(terms(m[1])) for m in led)


def _pronoun(question: str) -> re.Match[str] | None:
    """Return the first pronoun that stands for something outside the question."""
    empty = [m.span() for m in _EMPTY.finditer(question)]
    for m in _PRONOUN.finditer(question):
        before = question[: m.start()]
        if m["what"] and any(a <= m.start() < b for a, b in empty):
            continue
        if m["what"] and _NOBODY.search(before) and _SOMEWHERE.match(question, m.end()):
            continue
        if fold(m.group()) == "their" and _DOER.search(before):
            continue
        own = [n for n in names(before) if not before.lstrip().startswith(n)]
        clause = _SUB.search(before, max((before.rfind(n) for n in own), default=0))
        if own and (clause or fold(m.group()) in _POSSESSIVE):
            continue
        if m["what"] and clause and re.search(r"\b(?:the|a|an|my|our)\s+\w+", before[: clause.start()], re.I):
            continue
        return m
    return None


def follow(question: str, before: Said, onward: bool) -> str:
    """Return a question, without its frames, that stands by itself; `onward`: it opened with a word that goes on."""
    if not before.question:
        return question
    if script(question) in ("han", "kana", "hangul"):
        return cjk.follow(question, before)
    if is_owned(question):
        return resolve(f"What is {question}", before)
    if is_part(question, onward):
        made = carry(question, before.question)
        return resolve(made, before) if _pronoun(question) else made
    if leans(question):
        return resolve(question, before)
    abroad, more = _ABROAD.search(question), _ONWARD.search(question)
    if abroad or (onward and (len(content_terms(question)) <= _LITTLE or more)):
        own = [n for n in names(question) if not question.startswith(n)]
        beside = _beside(question, before)
        if beside and (abroad or more or not (own or _OWNER.search(question))):
            return f"{question} ({', '.join(beside)})"
    return question


_OWNER = re.compile(r"\b(?:the|our|my|your)\s+\w+['’]s\s+\w", re.I)
"""Whose it is stands in the question itself: “the lorry's own test”."""
_LITTLE = 2
"""Content words up to which “and ...” may be a part of a question; one with more stands by itself."""
_ABROAD = re.compile(
    r"\b(?:er|sie|ihn|ihm|ihr|ihre[mnrs]?|sein(?:e[mnrs]?)?|dessen|deren|da|dort|dorthin|davon|damit|il|elle|ils|elles|lui|leur|leurs|son|sa|ses|celui-ci|él|ella|ellos"
    r"|su|sus|eso|esto)\b(?<!\bson of)",
    re.I,
)
"""Pronouns of other languages: the names before stand behind the question, for want of a grammar."""


def resolve(question: str, before: Said) -> str:
    """Return a question with what it refers to in the place of its pronoun; as it is where nothing fits."""
    m = _pronoun(question)
    if m is None:
        return _pointed(question, before)
    owns = fold(m.group()) in _POSSESSIVE and not (fold(m.group()) == "her" and _OBJECT_NEXT.match(question, m.end()))
    many = "them" if fold(m.group()) == "them" else "they"
    kind = "who" if m["who"] else many if m["many"] else "what"
    stands = _entity(kind, before, _OTHERS.get(fold(m.group())))
    several = any(plural(w) or w.istitle() for w in stands.split()[:3])
    if m["many"] and not several and _POINTS.search(question, m.end()):
        # “What do they have to bring for that?”, after the trip: “they” are whoever goes.
        return _pointed(question, before)
    if not stands or fold(stands) in fold(question):
        return question
    stands = re.sub(rf"^(?:{'|'.join(DETERMINER)})\b", lambda d: d.group().lower(), stands, flags=re.I)
    thing = stands + ("’s" if owns and not stands.endswith("s") else "’" if owns else "")
    said = question[: m.start()] + thing + question[m.end() :]
    # “What does she charge for it?”
    further = _pronoun(question[m.end() :]) if kind == "who" else None
    return resolve(said, before) if further and further["what"] else said


def _beside(question: str, before: Said) -> list[str]:
    """Return the names of the question before that this one lacks."""
    asked = before.question
    return [n for n in names(asked) if fold(n) not in fold(question) and not asked.startswith(n)]


def _pointed(question: str, before: Said) -> str:
    if not _POINTS.search(question):
        return question
    stands = _entity("place" if re.search(r"\bthere\b", question, re.I) else "what", before)
    return question if not stands or fold(stands) in fold(question) else f"{question} ({stands})"


_ASKS_WHO = re.compile(
    r"\b(?:who|whom|whose|wer|qui)\b|\b(?:which|what)\s+(?:\w+\s+)?(?:person|man|woman|people)\b|\bname of\b", re.I
)
_ASKS_WHICH = re.compile(
    r"\b(?:(?P<place>in|on|at|from|to|by|with) )?(?:which|what)\s+"
    r"(?!is\b|are\b|was\b|were\b|do|did\b|has\b|have\b|time\b|year\b|day\b|date\b)\w+"
    r"|\b(?:what|which) is the name\b",
    re.I,
)
_WHICH_IS = re.compile(r"\W*(?:which|what) (\w+) ((?:is|was|are|were|has|had)\b.+?)\W*$", re.I)
_HOW_MANY = re.compile(r"\W*how many ([a-z]+s) (.+?)\W*$", re.I)
_WHO_OR_WHICH = re.compile(
    r"\W*(?:who|(?:which|what)\s+(?!(?:is|are|was|were|does|do|did|has|have|had|can|will)\b)(\w+))\b", re.I
)
_TITLED = re.compile(r"^(?:Dr|Mr|Mrs|Ms|Prof|Professor|Miss|Sir|Lady|Aunt|Uncle|Mum|Dad|Herr|Frau|Madame|Monsieur)\b")
_OTHERS = {
    **dict.fromkeys(("he", "him", "his"), re.compile(r"(?:Mrs|Ms|Miss|Lady|Aunt|Mum|Frau|Madame)\b")),
    **dict.fromkeys(("she", "her", "hers"), re.compile(r"(?:Mr|Sir|Uncle|Dad|Herr|Monsieur)\b")),
}
"""How names begin that a pronoun cannot stand for: “her” is not Mr Pell’s."""
_NO_PERSON = re.compile(
    r"\d|\b(?:Street|Road|Lane|Court|Square|Bridge|House|Hall|Museum|Choir|Club|Society|School|University|College"
    r"|Institute|Ltd|Inc|GmbH|Co|Company|Observatory|River|Lake|Mount|Island|Church|Station|Park|Committee|Council|Union|Bank|Award|Prize|Festival)\b"
)


def _persons(text: str) -> list[str]:
    """Return the names of a text that may be those of persons, those in several words or with a title first."""
    led = re.compile(r"\b(the|a|an|in|at|near|to)\s+$", re.I)
    able = [n for n in names(text) if len(n.split()) <= 4 and not _NO_PERSON.search(n)]
    found = [n for n in able if _TITLED.match(n) or not led.search(text[: text.find(n)])]
    return sorted(found, key=lambda n: not (" " in n or _TITLED.match(n)))


def _entity(kind: str, before: Said, other: re.Pattern[str] | None = None) -> str:
    """Return what a pronoun stands for: what the answer named where it was asked for, else what was asked about.

    The kind is `who`, `what`, `they`, `them`, or `place`; `other` is how names begin that the pronoun cannot stand for.
    """
    asked, known = before.question, fold(before.question)
    tail = before.title.split(" · ")[-1]
    new = [n for n in names(before.answer) if fold(n) not in known]
    if kind == "who":
        told = _persons(before.answer) or [n for n in _persons(tail) if " " in n]
        told = [n for n in told if not (other and other.match(n))]
        own = [n for n in _persons(asked) if n in asked]
        fresh = [n for n in told if fold(n) not in known]
        if (_ASKS_WHO.search(asked) or _ASKS_WHICH.match(asked)) and fresh:
            return fresh[0]
        if own:
            return own[-1]
        spoken = [p.text for p in phrases(before.answer)[:1] if not asked]
        return (fresh or spoken or [""])[0]
    if kind == "place":
        led = [
            n
            for n in names(before.answer) + names(asked)
            if re.search(
                rf"\b(?:in|at|to|near|im|in der|am|à|en)\s+(?:the\s+)?{re.escape(n)}", f"{before.answer} {asked}"
            )
        ]
        # “The lamp of the lighthouse” is at the lighthouse; “the museum of clocks” is no place inside clocks.
        return led[0] if led else re.sub(r"^.*\b(?:of|in|at|on)\s+(?=the\s)", "", topic(asked))
    if kind in ("they", "them"):
        if m := _HOW_MANY.match(asked):
            # “How many hives does the school keep?” “Who looks after them?”
            rest = re.sub(r"^(?:do|does|did)\s+", "", m[2])
            if verb_form(rest.split()[0]) or (rest != m[2] and kind == "them"):
                return f"the {m[1]} that {rest}"
        if new and (m := _WHO_OR_WHICH.match(asked)) and not plural(m[1] or ""):
            joined = rf"{re.escape(new[0])}(?:(?:,| and|, and) (?:{'|'.join(map(re.escape, new[1:])) or '-'}))*"
            together = re.search(joined, before.answer)
            return together.group() if together else new[0]
        if asked:
            return group(asked, kind == "they")
    if kind == "what" and (which := _ASKS_WHICH.match(asked)):
        # “On which mountain ...?” “... on Mount Wilson.”
        before_it = rf"(?i:\b{which['place'] or '-'} (?:the )?)"
        named = [n for n in new if re.search(before_it + re.escape(n), before.answer)] or new
        if named:
            # “the Julian calendar” and not “Julian”.
            m = re.search(rf"\bthe {re.escape(named[0])} ([a-z]+)\b", before.answer)
            noun = m is not None and phrases(m[1]) and not verb_form(m[1]) and not m[1].endswith("s")
            return f"the {named[0]} {m[1]}" if m is not None and noun else named[0]
        if tail != before.title and fold(tail) not in known:
            return tail
        if not before.answer and (m := _WHICH_IS.match(asked)):
            return f"the {m[1]} that {m[2]}"
    if asked:
        return topic(asked)
    # What a reason names (“I was given a stove. How heavy is it?”): a name, else a thing, else what it begins with.
    things = [n for n in new if n not in _persons(before.answer)]
    said = [p.text for p in phrases(before.answer)]
    things += [t for t in said if re.match(r"an?\b", t, re.I)] + [t for t in said if fold(t.split()[0]) in DETERMINER]
    return re.sub(r"^an?\b", "the", things[0]) if things else ""
