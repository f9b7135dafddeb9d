"""Split a passage and a question into stems and sentences for the relevance evaluator."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragweave.models import tables, text

Idf = Callable[[str], float]
"""Returns the inverse document frequency of a stemmed term (`ragweave.models.text.terms`)."""

Matrix = NDArray[np.float64]

LIMIT = 12_000
"""Most characters of a passage that are read."""

LEAST = 0.1
"""The least weight of a term."""

FUNCTION_HAN = re.compile("[的了吗呢吧么谁哪什几怎是在和与及有我你他她它这那何]|多少")
"""Chinese function characters; a pair of characters with one of them carries no content."""
_BRACKETS = re.compile(r"\s*[(（][^)）]*[)）]")


@dataclass(frozen=True)
class Passage:
    """A text to score, and the title of its document."""

    title: str
    text: str
    item: str = ""
    """Id of the library item whose vector gives the similarity to a question."""


@dataclass
class Read:
    """The stems and sentences of one passage."""

    title: list[str]
    have: set[str]
    content: list[str]
    """The stems of the text that carry content, in order."""
    holding: dict[str, list[int]]
    """The indices of the sentences that hold each stem."""
    count: int
    """The number of sentences, at least one."""
    phrase: str
    flat: str

    def joins(self, pair: tuple[str, str]) -> bool:
        """Return whether the second of two stems follows the first in the text, with at most one between."""
        first, second = pair
        if first not in self.holding or second not in self.holding:
            return False
        for index, stem in enumerate(self.content):
            if stem == first and second in self.content[index + 1 : index + 3]:
                return True
        return False


def _flat(words: Sequence[str]) -> str:
    """Join words so that a phrase is a substring that starts and ends at word boundaries."""
    return f" {' '.join(words)} "


def read(p: Passage) -> Read:
    """Split a passage; the last ones are cached, because each step of a question reads them again."""
    return _taken_apart(p.title, p.text)


@lru_cache(maxsize=1_000)
def _taken_apart(title: str, of: str) -> Read:
    bare = _BRACKETS.sub("", title).strip() or title
    body = of[:LIMIT]
    cut = tables.statements(body) or [body]
    body_words: list[str] = []
    content: list[str] = []
    holding: defaultdict[str, list[int]] = defaultdict(list)
    for index, sentence in enumerate(cut):
        words = text.words(sentence)
        body_words += words
        stems = [*map(text.stem, words)]
        content += _without_stop_words(stems)
        for stem in set(stems):
            holding[stem].append(index)
    title_words = text.words(title)
    return Read(
        title=text.content_terms(bare),
        have={*map(text.stem, title_words), *holding},
        content=content,
        holding=holding,
        count=len(cut),
        phrase=_flat(text.words(bare)),
        flat=_flat(body_words),
    )


def _without_stop_words(stems: Sequence[str]) -> list[str]:
    return [stem for stem in stems if stem not in text.STOP]


@dataclass
class Asked:
    """The stems of a question and its pairs of neighbouring stems, with their weights and sums."""

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
    found: dict[str, None] = {}
    for word in text.words(of):
        if word not in text.STOP and not FUNCTION_HAN.search(word):
            found.setdefault(text.stem(word))
    return list(found)


def ask(question: str, idf: Idf) -> Asked:
    """Split a question into weighted stems and pairs."""
    terms = content_stems(question)
    weights = np.array([idf(t) for t in terms])
    unspaced = np.array([bool(text.UNSPACED_LETTER.match(term)) for term in terms], dtype=bool)
    if unspaced.any():
        # Character pairs across two words occur in no text, so their high idf must not decide.
        weights[unspaced] = np.minimum(weights[unspaced], np.median(weights[unspaced]))
    content = _without_stop_words(text.terms(question))
    pairs = {(a, b): idf(a) + idf(b) for a, b in pairwise(content)}
    weight = dict(zip(terms, weights.tolist(), strict=True))
    flat = _flat(text.words(question))
    return Asked(weight, weights, sum(weight.values()) or 1.0, pairs, sum(pairs.values()), flat)
