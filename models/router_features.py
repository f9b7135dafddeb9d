"""What the router reads of a question.

Four hashed bags: phrases of one and two words; the same of the question's *skeleton* (function words kept,
the rest by shape and ending, so that the build of a question counts and not its subject); pieces of words;
form, which is length, names and numbers. Then the embedding.
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
"""Places that each bag of features is hashed to."""

_OPTION = re.compile(r"^\s*(?:\(?[A-Ha-h1-9][.):]\)?|[-*•])\s+\S")
_TOKEN = re.compile(
    rf"\d[\d.,:/]*|[^\W\d_{UNSPACED}]+(?:['’-][^\W\d_{UNSPACED}]+)*|[{UNSPACED}]|[?!,.;:\"“”()-]"
)


def clean(question: str) -> str:
    """Return the part of a question that is routed: one line, no answer options, of a very long text both ends.

    Answer options on further lines say nothing about where the answer lies, and the published trained routers
    read the first line only (UniversalRAG, appendix on training).
    """
    lines = [line.strip() for line in question.splitlines() if line.strip()]
    text = " ".join(
        " ".join(line for i, line in enumerate(lines) if i == 0 or not _OPTION.match(line)).split()
    )
    return text if len(text) <= 800 else f"{text[:600]} {text[-200:]}"


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """What the head reads of some questions: for each bag the places of each question, and vectors (questions, 256)."""

    bags: dict[str, list[NDArray[np.int64]]]
    vectors: NDArray[np.float32]


def read(questions: Sequence[str]) -> QuestionFeatures:
    """Read questions; a wordless one has empty bags and a vector of zeros.

    The embedding is the embedded encoder's, whatever the library uses: the head was fitted with it.
    """
    texts = [clean(q) for q in questions]
    found: dict[str, Callable[[str], Collection[str]]] = {
        "words": lambda text: _phrases(words(text)),
        "skeleton": lambda text: _phrases(skeleton(text)),
        "pieces": lambda text: _pieces(fold(text)),
        "form": _form,
    }
    bags = {name: [_hashed(found[name](text), places) for text in texts] for name, places in PLACES.items()}
    return QuestionFeatures(bags, np.asarray(encoder("wordllama").texts(texts), dtype=np.float32))


def _hashed(found: Collection[str], places: int) -> NDArray[np.int64]:
    return np.array(
        sorted({zlib.crc32(f.encode("utf-8", "replace")) % places for f in found}), dtype=np.int64
    )


def _phrases(tokens: Sequence[str]) -> set[str]:
    return {*tokens, *(" ".join(pair) for pair in pairwise(tokens))}


def _pieces(text: str) -> set[str]:
    """Return two to five characters in a row of each word, its edges marked by spaces, every digit a 0."""
    padded = [f" {word} " for word in set(re.sub(r"\d", "0", text).split())]
    return {word[i : i + n] for word in padded for n in (2, 3, 4, 5) for i in range(len(word) - n + 1)}


def _form(text: str) -> set[str]:
    """Return how long a question is, how many names and numbers it has, how it begins and ends."""
    if not (tokens := _TOKEN.findall(text)):
        return set()
    length, names = min(len(tokens), 40), sum(t[0].isupper() for t in tokens[1:])
    numbers, end = sum(t[0].isdigit() for t in tokens), text[-1:]
    counts = {f"len{length // 3}", f"len{length // 6}b", f"cap{min(names, 6)}", f"num{min(numbers, 3)}"}
    return counts | {f"low{text[:1].islower()}", f"end{end}"}


def skeleton(text: str) -> list[str]:
    """Replace content words by what they look like: names by CAP, numbers by NUM or YEAR, others by their ending.

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
    return "CAP" if token[0].isupper() and not first else ("^_" if first else "_") + low[-3:]
