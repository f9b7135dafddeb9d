"""What the relevance evaluator reads: a passage and a question, taken apart."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count, pairwise

import numpy as np
from numpy.typing import NDArray

from ragweave.models import tables, text
from ragweave.models.encoders import VectorTable

Idf = Callable[[str], float]
"""Inverse document frequency of a stemmed term, as `ragweave.models.text.terms` makes them."""

Matrix = NDArray[np.float64]

LIMIT = 12_000
"""Characters of a passage that are read; a longer one is judged by its beginning."""

LEAST = 0.1
"""The least that a term weighs."""

FUNCTION_HAN = re.compile("[的了吗呢吧么谁哪什几怎是在和与及有我你他她它这那何]|多少")
"""Chinese function characters: a character pair with one of them is no content."""
_BRACKETS = re.compile(r"\s*[(（][^)）]*[)）]")
_WHEN = re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|century)\b|什么时候|何时|哪年|哪一年", re.I)
_COUNT = re.compile(r"\bhow (?:many|much|old|long|far|tall|large|big|high)\b|多少|几", re.I)
_PERSON = re.compile(r"\bwho(?:m|se)?\b|谁", re.I)


@dataclass(frozen=True)
class Passage:
    """What is scored: a text and the title of the document it stands in."""

    title: str
    text: str


@dataclass
class Read:
    """One passage, taken apart."""

    title: list[str]
    have: set[str]
    rare: list[str]
    """What it has that is no function word."""
    numbers: NDArray[np.intp]
    """The numbers of those terms, alike for all passages."""
    pairs: set[tuple[str, str]]
    sentences: list[str]
    titled: list[str]
    """The whole and each sentence under its title, as they are encoded."""
    sentence_terms: list[set[str]]
    words: list[str]
    phrase: str
    flat: str
    placed: tuple[VectorTable | None, NDArray[np.intp]] = (None, np.zeros(0, np.intp))
    """Where the vectors of `titled` and then of `words` are kept."""


numbered: dict[str, int] = {}
"""The number of each term."""
_numbering, _next = threading.Lock(), count()
_NUMBERED = 200_000
"""Terms that have a number, before all passages are read again; no number is given twice."""


def _numbers_of(terms: Sequence[str]) -> NDArray[np.intp]:
    with _numbering:
        if len(numbered) > _NUMBERED:
            numbered.clear()
            read.cache_clear()
        return np.array([numbered.setdefault(t, next(_next)) for t in terms], dtype=np.intp)


def _flat(words: Sequence[str]) -> str:
    """Join words so that a phrase can be looked up as a substring that starts and ends at word ends."""
    return f" {' '.join(words)} "


@lru_cache(maxsize=1_000)
def read(p: Passage) -> Read:
    """Take a passage apart; the last ones are kept, because each step of a question reads them again."""
    bare = _BRACKETS.sub("", p.title).strip() or p.title
    body = p.text[:LIMIT]
    cut = tables.statements(body) or [body]
    by_sentence = [text.words(s) for s in cut]
    stems = [[text.stem(w) for w in ws] for ws in by_sentence]
    body_words = list(chain.from_iterable(by_sentence))
    title_words = text.words(p.title)
    content = [t for t in chain.from_iterable(stems) if t not in text.STOP]
    have = dict.fromkeys(chain(map(text.stem, title_words), chain.from_iterable(stems)))
    rare = [t for t in have if t not in text.STOP]
    return Read(
        title=text.content_terms(bare),
        have=set(have),
        rare=rare,
        numbers=_numbers_of(rare),
        pairs={*pairwise(content), *zip(content, content[2:], strict=False)},
        sentences=cut,
        titled=[f"{p.title}. {s}" for s in (body, *cut)],
        sentence_terms=[set(s) for s in stems],
        words=[w for w in dict.fromkeys([*title_words, *body_words]) if w not in text.STOP],
        phrase=_flat(text.words(bare)),
        flat=_flat(body_words),
    )


@dataclass
class Asked:
    """The question, taken apart."""

    terms: list[str]
    words: list[str]
    weights: Matrix
    pairs: dict[tuple[str, str], float]
    names: list[set[str]]
    flat: str
    kind: str


def vocabulary(p: Passage) -> set[str]:
    """Return the stems of a passage and its title."""
    r = read(p)
    return r.have.union(r.title)  # a title that is parted by brackets has words without them


def title_terms(p: Passage) -> list[str]:
    """Return the stems of a passage's title that carry content."""
    return read(p).title


def rare_weights(p: Passage, idf: Idf) -> Matrix:
    """Return what the terms of a passage weigh that are no function words, in their order; none less than LEAST."""
    return np.array([max(idf(t), LEAST) for t in read(p).rare], dtype=np.float64)


def content_words(of: str) -> dict[str, str]:
    """Return the words that carry content by their stem, in order of appearance."""
    found: dict[str, str] = {}
    for w in text.words(of):
        if w not in text.STOP and not FUNCTION_HAN.search(w):
            found.setdefault(text.stem(w), w)
    return found


def ask(question: str, idf: Idf) -> Asked:
    """Take a question apart."""
    found = content_words(question)
    terms = list(found)
    weights = np.array([idf(t) for t in terms])
    unspaced = np.array([bool(text.UNSPACED_LETTER.match(t)) for t in terms], dtype=bool)
    if unspaced.any():
        # Pairs that straddle two words are in no text; their high idf must not decide.
        weights[unspaced] = np.minimum(weights[unspaced], np.median(weights[unspaced]))
    content = [t for t in text.terms(question) if t not in text.STOP]
    pairs = {(a, b): idf(a) + idf(b) for a, b in pairwise(content)}
    kinds = {"count": _COUNT, "when": _WHEN, "who": _PERSON}
    kind = next((name for name, pattern in kinds.items() if pattern.search(question)), "")
    names = [set(text.content_terms(n)) for n in text.names(question)]
    return Asked(
        terms, list(found.values()), weights, pairs, [n for n in names if n], _flat(text.words(question)), kind
    )
