"""Features of a question for the router: four hashed bags and an embedding.

The bags hold phrases of one and two words; phrases of the question's *skeleton*; pieces of words; and the
form, which is length, names and numbers. The skeleton keeps function words and replaces other words by their
shape and ending, so that the structure of a question counts and not its subject.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragweave.models.embed import encoder
from ragweave.models.text import STOP, UNSPACED, fold, words

PLACES = {"words": 16_384, "skeleton": 16_384, "pieces": 16_384, "form": 256}
"""Number of hash buckets of each bag."""

_OPTION = re.compile(r"^\s*(?:\(?[A-Ha-h1-9][.):]\)?|[-*•])\s+\S")
_TOKEN = re.compile(
    rf"\d[\d.,:/]*|[^\W\d_{UNSPACED}]+(?:['’-][^\W\d_{UNSPACED}]+)*|[{UNSPACED}]|[?!,.;:\"“”()-]"
)


def clean(question: str) -> str:
    """Return the part of a question that is routed: one line without answer options.

    Of a very long question both ends are kept.
    Answer options on further lines say nothing about where the answer lies, and the published trained routers
    read the first line only (UniversalRAG, appendix on training).
    """
    kept: list[str] = []
    for line in map(str.strip, question.splitlines()):
        if line and not (kept and _OPTION.match(line)):
            kept.append(line)
    text = " ".join(" ".join(kept).split())
    return text if len(text) <= 800 else f"{text[:600]} {text[-200:]}"


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """Features of several questions: the buckets of each bag and vectors (questions, 256)."""

    bags: dict[str, list[NDArray[np.int64]]]
    vectors: NDArray[np.float32]


def read(questions: Sequence[str]) -> QuestionFeatures:
    """Return the features of questions; one without words has empty bags and a vector of zeros.

    The embedding always comes from wordllama, whatever the library uses, because the router was fitted to it.
    """
    texts = [clean(q) for q in questions]
    readers: dict[str, Callable[[str], Collection[str]]] = {
        "words": lambda text: _phrases(words(text)),
        "skeleton": lambda text: _phrases(skeleton(text)),
        "pieces": lambda text: _pieces(fold(text)),
        "form": _form,
    }
    bags: dict[str, list[NDArray[np.int64]]] = {}
    for name, places in PLACES.items():
        reader = readers[name]
        bags[name] = [_hashed(reader(text), places) for text in texts]
    return QuestionFeatures(bags, np.asarray(encoder("wordllama").texts(texts), dtype=np.float32))


def _hashed(features: Collection[str], places: int) -> NDArray[np.int64]:
    """Return the sorted buckets of some features."""
    buckets: set[int] = set()
    for feature in features:
        buckets.add(zlib.crc32(feature.encode("utf-8", "replace")) % places)
    return np.array(sorted(buckets), dtype=np.int64)


def _phrases(tokens: Sequence[str]) -> set[str]:
    return {*tokens, *map(" ".join, pairwise(tokens))}


def _pieces(text: str) -> set[str]:
    """Return the runs of two to five characters of each word; spaces mark its edges, every digit is a 0."""
    pieces: set[str] = set()
    for word in set(re.sub(r"\d", "0", text).split()):
        padded = f" {word} "
        for size in (2, 3, 4, 5):
            for start in range(len(padded) - size + 1):
                pieces.add(padded[start : start + size])
    return pieces


def _form(text: str) -> set[str]:
    """Return the length of a question, its numbers of names and digits, its beginning and its end."""
    tokens = _TOKEN.findall(text)
    if not tokens:
        return set()
    length = min(len(tokens), 40)
    names = -tokens[0][0].isupper()  # The first word has a capital anyhow.
    numbers = 0
    for token in tokens:
        names += token[0].isupper()
        numbers += token[0].isdigit()
    counts = {f"len{length // 3}", f"len{length // 6}b", f"cap{min(names, 6)}", f"num{min(numbers, 3)}"}
    return counts | {f"low{text[:1].islower()}", f"end{text[-1:]}"}


def skeleton(text: str) -> list[str]:
    """Replace names by CAP, numbers by NUM or YEAR and other content words by their ending.

    >>> skeleton("Who wrote Dune in 1965?")
    ['^who', '_ote', 'CAP', 'in', 'YEAR', '?']
    """
    return [_shape(token, i == 0) for i, token in enumerate(_TOKEN.findall(text))]


def _shape(token: str, first: bool) -> str:
    low = fold(token)
    if low in STOP:
        return f"^{low}" if first else low
    if token[0].isdigit():
        return "YEAR" if re.fullmatch(r"1\d{3}|20\d{2}", token) else "NUM"
    if not token[0].isalpha() or len(token) == 1:
        return token
    if first:
        return "^_" + low[-3:]
    return "CAP" if token[0].isupper() else "_" + low[-3:]
