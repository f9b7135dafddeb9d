"""Recordings that a question names as the place to look: by their title, or by words of it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragweave.minds.small.windows import KINDS
from ragweave.models.text import content_terms, fold, stem, terms

IN_TITLE = (
    r"\s*\b(?:in|of|from|during|throughout)\s+(?:the\s+)?"
    rf"(?:{KINDS}\s+)?(?:called\s+|titled\s+)?[\"“«]?{{}}[\"”»]?(?!\w)"
)
_DESCRIBED = re.compile(
    rf"\b(?:in|of|from|during|throughout) (?:the|this|that|my|our) (?P<before>(?:[\w'’-]+ ){{0,4}}?)(?P<kind>{KINDS})\b"
    r"(?: (?:on|about|called|named|titled) (?:the |a |an )?(?P<after>[\w'’-]+(?: [\w'’-]+){0,3}))?",
    re.I,
)
_LEAST = 4
"""Letters from which a word may be the beginning of one of a title: `laion400m` is the LAION talk."""


def named_in(question: str, titles: Iterable[str]) -> list[str]:
    """Return the titles of recordings that a question says it is about.

    By its title: “in lecture 3”, “of the film Sintel”. Else by words that all stand in the titles: “of the LAION talk”,
    “in the lecture on Make”. Else by the kind, where one title has it: “in the trailer”. What fits all of them tells
    nothing.
    """
    known = list(dict.fromkeys(titles))
    folded = fold(question)
    whole = [t for t in known if len(t) > 2 and re.search(IN_TITLE.format(re.escape(fold(t))), folded)]
    return whole or next((found for found in _described(question, known) if found), [])


def _described(question: str, titles: list[str]) -> Iterable[list[str]]:
    held = {t: terms(t) for t in titles}
    for m in _DESCRIBED.finditer(question):
        for said in (m.group("before"), m.group("after")):
            wanted = content_terms(said or "")
            fitting = [t for t in titles if wanted and all(_in(w, held[t]) for w in wanted)]
            if len(fitting) < len(titles):
                yield fitting
        kind = stem(m.group("kind").lower())
        of_kind = [t for t in titles if kind in held[t]]
        yield of_kind if len(of_kind) == 1 < len(titles) else []


def _in(term: str, title: list[str]) -> bool:
    return any(term == word or (len(term) >= _LEAST and word.startswith(term)) for word in title)
