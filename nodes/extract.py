"""Extractive answers: the few sentences that answer a question best, by stated rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ragweave.models.embed import encoder
from ragweave.models.text import content_terms, fold, names, numbers, sentences, terms, words
from ragweave.nodes.state import Strip

_TYPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "time",
        re.compile(
            r"\b(when|what (year|date|day|month|time)|which (year|date|day|month))\b"
            r"|何时|什么时候|哪一?年|几月",
            re.I,
        ),
    ),
    (
        "count",
        re.compile(
            r"\b(how (many|much|long|far|old|tall|big|often|deep|high|large)|what (percentage|number|share))\b"
            r"|多少|几[个年天次]|多[长大高远]",
            re.I,
        ),
    ),
    (
        "name",
        re.compile(
            r"\b(who|whom|whose|where|which|what (is the name|city|country|team|person|company))\b"
            r"|谁|哪里|哪儿|哪个|何处",
            re.I,
        ),
    ),
)
_DATE = re.compile(
    r"\b(1\d{3}|20\d{2})\b|\b(january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|\d{1,2}:\d{2}|\d+\s*[年月日]|\b(century|decade|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b",
    re.I,
)


@dataclass(frozen=True)
class Extract:
    """One sentence that may answer.

    Attributes:
        strip: the strip it stands in.
        start: first character in the strip's text.
        end: one past the last character.
        score: order among the sentences.
        coverage: share of the question, by rarity, that the sentence with its title covers.
        fits: it holds something of the kind that is asked for.
    """

    strip: Strip
    start: int
    end: int
    score: float
    coverage: float
    fits: bool

    @property
    def text(self) -> str:
        """The sentence."""
        return " ".join(self.strip["text"][self.start : self.end].split())


def answer_type(question: str) -> str:
    """Return what kind of thing is asked for: `time`, `count`, `name`, or empty."""
    return next((kind for kind, pattern in _TYPES if pattern.search(question)), "")


def fits(kind: str, question: str, sentence: str) -> bool:
    """Tell whether a sentence holds something of the kind asked for that the question does not say itself."""
    if kind == "time":
        return bool(_DATE.search(sentence))
    if kind == "count":
        return bool(set(numbers(sentence)) - set(numbers(question)))
    if kind == "name":
        said = fold(question)
        return any(fold(n) not in said for n in names(sentence))
    return False


def rank(question: str, strips: Sequence[Strip], idf: Callable[[str], float]) -> list[Extract]:
    """Order the sentences of the strips by how well they answer.

    A sentence is read with its title. Its score adds: coverage of the question by rarity, half the cosine, the strip's
    own relevance, a little for the kind of thing asked for and for a name that the question lacks. The query of a later
    hop counts like the question, because its strips answer that query.
    """
    spans = [(s, a, b) for s in strips for a, b in sentences(s["text"]) if len(words(s["text"][a:b])) >= 3]
    if not spans:
        return []
    vectors = encoder().texts([s["text"][a:b] for s, a, b in spans])
    asked = {question, *(s["query"] for s in strips)}
    by_query = {q: (content_terms(q), vectors @ encoder().queries([q])[0]) for q in asked}
    kind = answer_type(question)
    out: list[Extract] = []
    for i, (strip, a, b) in enumerate(spans):
        sentence = strip["text"][a:b]
        have = set(terms(f"{strip['title']} {sentence}"))
        covered, value = 0.0, -np.inf
        for q in {question, strip["query"]}:
            wanted, cosine = by_query[q]
            share = _share(wanted, have, idf)
            if share + 0.5 * cosine[i] > value:
                covered, value = share, share + 0.5 * float(cosine[i])
        fit = fits(kind, question, sentence)
        new_name = any(fold(n) not in fold(question) for n in names(sentence))
        value += 0.35 * strip["score"] + 0.15 * fit + 0.05 * new_name
        out.append(Extract(strip, a, b, value, covered, fit))
    return sorted(out, key=lambda e: (-e.score, e.strip["id"], e.start))


def _share(wanted: list[str], have: set[str], idf: Callable[[str], float]) -> float:
    total = sum(idf(t) for t in wanted)
    return sum(idf(t) for t in wanted if t in have) / total if total else 0.0


def choose(ranked: Sequence[Extract], limit: int, within: float = 0.3) -> list[Extract]:
    """Return the best sentences that are close to the best one, each text once, in reading order."""
    if not ranked:
        return []
    kept: dict[str, Extract] = {}
    for e in ranked:
        if len(kept) == limit or e.score < ranked[0].score - within:
            break
        kept.setdefault(fold(e.text), e)
    # Reading order within an item; items in the order of their best sentence.
    first: dict[str, int] = {}
    for n, e in enumerate(kept.values()):
        first.setdefault(e.strip["evidence"], n)
    return sorted(kept.values(), key=lambda e: (first[e.strip["evidence"]], _offset(e.strip), e.start))


def _offset(strip: Strip) -> int:
    return int(strip["id"].rsplit("#", 1)[1].split("-")[0])
