"""The small relevance evaluator: how well passages answer a question, in CPU milliseconds and without any key.

Two scores are given, because they serve two ends. `order` compares the candidates of one question and ranks them;
it means nothing across questions. `floor` is absolute: calibrated to [-1, 1] with 0 undecided, it carries CRAG's
verdict (section 4.3), the choice of strips and the check of sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragweave.models import text

Idf = Callable[[str], float]
"""Inverse document frequency of a stemmed term, as `ragweave.models.text.terms` makes them."""

UPPER = 0.5
"""CRAG's upper threshold for `floor`: the best candidate at or above it makes the verdict `correct`."""

LOWER = -0.85
"""CRAG's lower threshold for `floor`: every candidate below it makes the verdict `incorrect`."""


@dataclass(frozen=True)
class Passage:
    """What is scored: a text and the title of the document it stands in."""

    title: str
    text: str


@dataclass(frozen=True)
class Scores:
    """Scores of n passages.

    Attributes:
        order: (n,), higher is better among these passages.
        floor: (n,), absolute relevance in [-1, 1].
    """

    order: NDArray[np.float64]
    floor: NDArray[np.float64]


def score(question: str, passages: Sequence[Passage], idf: Idf) -> Scores:
    """Score passages against one question.

    Args:
        question: the question or query that fetched the passages.
        passages: candidates, in any order; may be empty.
        idf: weight of a stemmed term.
    """
    if not passages:
        return Scores(np.zeros(0), np.zeros(0))
    weights = {t: idf(t) for t in text.content_terms(question)}
    total = sum(weights.values()) or 1.0
    base = np.zeros(len(passages))
    for i, p in enumerate(passages):
        have = set(text.terms(f"{p.title} {p.text}"))
        named = text.coverage(text.content_terms(p.title), weights)
        base[i] = sum(w for t, w in weights.items() if t in have) / total + 0.5 * named
    base += 0.5 * _cosine(question, passages)
    return Scores(base, np.tanh(3.0 * (base - 0.95)))


def _cosine(question: str, passages: Sequence[Passage]) -> NDArray[np.float64]:
    vectors = _embed([question, *(f"{p.title}. {p.text}" for p in passages)])
    return np.asarray(vectors[1:] @ vectors[0], dtype=np.float64)


_wordllama: object | None = None


def _embed(texts: Sequence[str]) -> NDArray[np.float32]:
    global _wordllama
    import pathlib

    import wordllama

    if _wordllama is None:
        _wordllama = wordllama.WordLlama.load(cache_dir=pathlib.Path(wordllama.__file__).parent, disable_download=True)
    return np.asarray(_wordllama.embed(list(texts), norm=True))  # type: ignore[attr-defined]
