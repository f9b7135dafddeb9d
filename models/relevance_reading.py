"""What the relevance evaluator reads: a passage and a question, taken apart."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from ragweave.models import tables, text

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


@dataclass(frozen=True)
class Passage:
    """What is scored: a text and the title of the document it stands in."""

    title: str
    text: str
    item: str = ""
    """Id of the item of a library whose vector tells how near it is to a question."""


@dataclass
class Read:
    """One passage, taken apart."""

    title: list[str]
    have: set[str]
    content: list[str]
    """The stems of the text that carry content, in order."""
    holding: dict[str, list[int]]
    """The sentences that hold each stem, by their number."""
    count: int
    """How many sentences there are, at least one."""
    phrase: str
    flat: str

    def joins(self, pair: tuple[str, str]) -> bool:
        """Tell whether the second of two stems follows the first in the text, or the stem that follows it."""
        first, second = pair
        if first not in self.holding or second not in self.holding:
            return False
        return any(t == first and second in self.content[n + 1 : n + 3] for n, t in enumerate(self.content))


def _flat(words: Sequence[str]) -> str:
    """Join words so that a phrase can be looked up as a substring that starts and ends at word ends."""
    return f" {' '.join(words)} "


def read(p: Passage) -> Read:
    """Take a passage apart; the last ones are kept, because each step of a question reads them again."""
    return _taken_apart(p.title, p.text)


@lru_cache(maxsize=1_000)
def _taken_apart(title: str, of: str) -> Read:
    bare = _BRACKETS.sub("", title).strip() or title
    body = of[:LIMIT]
    cut = tables.statements(body) or [body]
    by_sentence = [text.words(s) for s in cut]
    stems = [[*map(text.stem, ws)] for ws in by_sentence]
    body_words = [*chain.from_iterable(by_sentence)]
    title_words = text.words(title)
    holding: defaultdict[str, list[int]] = defaultdict(list)
    for n, sentence in enumerate(stems):
        for stem in set(sentence):
            holding[stem].append(n)
    return Read(
        title=text.content_terms(bare),
        have={*map(text.stem, title_words), *holding},
        content=[t for t in chain.from_iterable(stems) if t not in text.STOP],
        holding=holding,
        count=len(cut),
        phrase=_flat(text.words(bare)),
        flat=_flat(body_words),
    )


@dataclass
class Asked:
    """The question, taken apart: its stems and pairs of neighbours with their weights, and what these sum up to."""

    weight: dict[str, float]
    weights: Matrix
    total: float
    pairs: dict[tuple[str, str], float]
    paired: float
    flat: str

    @property
    def terms(self) -> list[str]:
        """The stems, in order of appearance."""
        return [*self.weight]


def title_terms(p: Passage) -> list[str]:
    """Return the stems of a passage's title that carry content."""
    return read(p).title


def content_stems(of: str) -> list[str]:
    """Return the stems of the words that carry content, each once, in order of appearance."""
    carrying = (w for w in text.words(of) if w not in text.STOP and not FUNCTION_HAN.search(w))
    return [*dict.fromkeys(map(text.stem, carrying))]


def ask(question: str, idf: Idf) -> Asked:
    """Take a question apart."""
    terms = content_stems(question)
    weights = np.array([idf(t) for t in terms])
    unspaced = np.array([bool(text.UNSPACED_LETTER.match(t)) for t in terms], dtype=bool)
    if unspaced.any():
        # Pairs that straddle two words are in no text; their high idf must not decide.
        weights[unspaced] = np.minimum(weights[unspaced], np.median(weights[unspaced]))
    content = [t for t in text.terms(question) if t not in text.STOP]
    pairs = {(a, b): idf(a) + idf(b) for a, b in pairwise(content)}
    weight = dict(zip(terms, weights.tolist(), strict=True))
    flat = _flat(text.words(question))
    return Asked(weight, weights, sum(weight.values()) or 1.0, pairs, sum(pairs.values()), flat)
