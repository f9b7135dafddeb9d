"""Condense a follow-up by rule: what it leaves to the turn before is put into words."""

from __future__ import annotations

import re

from ragweave.minds.contracts import Talk
from ragweave.minds.desk import Desk
from ragweave.models.text import content_terms, content_words, fold, names, script

_REFERS = re.compile(
    r"\b(it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|one|ones|there|then|same|former|latter"
    r"|above|previous|er|sie|ihr|ihre|sein|seine|dessen|il|elle|ils|elles|son|sa|ses|él|ella|ellos|su|sus|eso|esto)\b",
    re.I,
)
_REFERS_CJK = re.compile("它|他|她|这|那|其|该|此|前者|后者|呢")
_CONTINUES = re.compile(
    r"^\W*(and|but|so|also|what about|how about|why|when|where|who|how (?:many|much|long|old|far)|und|et|y)\b"
    r"|^\W*(那|那么|还有)",
    re.I,
)
_OPENS = re.compile(r"\W*(?:why|when|where|who|how (?:many|much|long|old|far))\b.*\bthe \w+", re.I)
"""A question that says itself what it is about, such as “Who replaced the crane?”."""
_ABOUT = re.compile(r"\W*(?:and )?(?:what|how) about\b", re.I)
_POSSESSIVE = {"its", "their", "theirs", "his", "hers"}
_PERSON = re.compile(r"\b(he|him|his|she|her|hers|they|them|their|it|its)\b", re.I)
_CJK_PRONOUN = re.compile("它们|他们|她们|它|他|她")

_CONTINUED = 2
"""Content words up to which “and ...” may be a part of a question; one with more stands by itself."""


async def condense(desk: Desk, asked: str, talk: Talk) -> str:
    """Resolve a follow-up.

    A turn follows up when it refers back (pronoun, demonstrative) or continues (“and ...”, “what about ...”) without
    naming anything itself. The topic is what the previous question named, else the title the previous answer cited
    first. A personal pronoun is replaced by the topic; otherwise the topic is added in brackets.
    """
    previous = talk.previous
    cjk = script(asked) in {"han", "kana", "hangul"}
    refers = bool((_REFERS_CJK if cjk else _REFERS).search(asked))
    whole = len(content_terms(asked)) > _CONTINUED
    continues = (bool(_CONTINUES.search(asked)) and not whole) or (cjk and len(asked) <= 12)
    own = [n for n in names(asked) if fold(n) not in {fold(w) for w in asked.split()[:1]}]
    if own and _ABOUT.match(asked):
        return _same_question_about(previous, own[0]) or f"{asked} ({previous})"
    if not refers and not (continues and not own):
        return asked
    topic = _topic(talk, guess=refers or cjk or not _OPENS.match(asked))
    if not topic or fold(topic) in fold(asked):
        return asked
    pronoun = (_CJK_PRONOUN if cjk else _PERSON).search(asked)
    if pronoun:
        ending = "'s" if not cjk and pronoun.group().lower() in _POSSESSIVE else ""
        return asked[: pronoun.start()] + topic + ending + asked[pronoun.end() :]
    return f"{asked} ({topic})"


def _topic(talk: Talk, guess: bool) -> str:
    """Return the name that the turn before was about; without one, a guess for a question that leans on it."""
    named = [n for n in names(talk.answered) if len(n) > 1]
    if named:
        return max(named, key=lambda n: (len(n.split()) > 1, len(n)))
    if not guess:
        return ""
    return talk.cited or " ".join(content_words(talk.answered)[:6])


def _same_question_about(previous: str, name: str) -> str:
    named = names(previous)
    return previous.replace(named[0], name) if len(named) == 1 else ""
