"""Features of a question for the router head: the same code in training and in inference.

Four bags of hashed n-grams (words, cased characters, skeleton, word classes), the cues, and the embedding. The skeleton
keeps function words and replaces the rest by shape and ending, the word classes replace it by the nearest of some
hundred centres of the embedding, so that what carries across topics is the build of a question, not its subject.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ragweave.models.router_cues import DENSE_NAMES, dense
from ragweave.models.text import UNSPACED, fold, words

__all__ = ["BLOCKS", "DENSE_NAMES", "Features", "WordClasses", "clean", "content_words", "embed", "featurise"]

BLOCKS = ("words", "chars", "skeleton", "classes")
"""Names of the n-gram bags, in the order in which the head stores their scales."""

_ORDERS = {"words": (1, 2), "chars": (2, 3, 4, 5), "skeleton": (1, 2, 3, 4, 5), "classes": (1, 2, 3, 4)}
_SALT = {name: np.uint64(0x9E3779B97F4A7C15 * (i + 1) % 2**64) for i, name in enumerate(BLOCKS)}
_PRIME = np.uint64(0x100000001B3)

_HEAD_CHARS = 600
_TAIL_CHARS = 200
_OPTION = re.compile(r"^\s*(?:\(?[A-Ha-h1-9][.):]\)?|[-*•])\s+\S")
_TOKEN = re.compile(rf"\d[\d.,:/]*|[^\W\d_{UNSPACED}]+(?:['’-][^\W\d_{UNSPACED}]+)*|[{UNSPACED}]|[?!,.;:\"“”()-]")

_FUNCTION = frozenset(
    """a about above after again against all also although am among an and another any are around as at away be because
    been before begin beginning behind being below beneath beside between both but by can could did do does doing
    done down during each either else end entire even ever every few for from further had has have having he her
    here hers him his how however i if in inside into is it its itself just last least less many may me might mine
    more most much must my near neither never next no none nor not now of off on once one only onto or other others
    our ours out outside over own part per please point right same second several shall she should side since so
    some step steps still such take than that the their theirs them then there these they this those though three
    through throughout time times to together too toward towards two under until up upon us very was way we were
    what whatever when whenever where whether which while who whole whom whose why will with within without would
    year yet you your yours first show shows shown say says said tell explain summarize summarise describe compare
    list find give write color colour kind type name number used look looks""".split()
)


def clean(question: str) -> str:
    """Return the part of a question that is routed: no answer options, one line, bounded length.

    Answer options on further lines say nothing about where the answer lies, and the published trained routers read
    the first line only (UniversalRAG, appendix on training). Of a very long text the beginning and the end are kept.
    """
    lines = [line.strip() for line in question.splitlines() if line.strip()]
    kept = [line for i, line in enumerate(lines) if i == 0 or not _OPTION.match(line)]
    text = " ".join(" ".join(kept).split())
    if len(text) > _HEAD_CHARS + _TAIL_CHARS:
        text = f"{text[:_HEAD_CHARS]} {text[-_TAIL_CHARS:]}"
    return text


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Encode with the embedded encoder, whatever the library uses: the head was fitted with it. Shape (n, dim)."""
    from ragweave.models.embed import encoder

    return encoder("wordllama").texts(texts)


_REMEMBERED = 20_000


@dataclass(frozen=True, slots=True)
class WordClasses:
    """Classes of words by the nearest centre of their embeddings.

    Attributes:
        centres: shape (classes, dim).
        known: classes of words met before; emptied when it grows too large.
    """

    centres: NDArray[np.float32]
    known: dict[str, int] = field(default_factory=dict)

    def of(self, content: Sequence[str]) -> dict[str, int]:
        """Return the class of each lower-cased word."""
        fresh = sorted({w for w in content if w not in self.known})
        found = {w: self.known[w] for w in content if w in self.known}
        if fresh:
            near = embed(fresh) @ self.centres.T - (self.centres**2).sum(axis=1) / 2
            found |= dict(zip(fresh, near.argmax(axis=1).tolist(), strict=True))
            if len(self.known) > _REMEMBERED:
                self.known.clear()
            self.known.update(found)
        return found


@dataclass(frozen=True, slots=True)
class Features:
    """What the head sees of one question.

    Attributes:
        keys: per block the sorted distinct 32-bit n-gram hashes.
        dense: form and rule cues, shape (len(DENSE_NAMES),).
        vector: embedding of the question, shape (dim,).
    """

    keys: dict[str, NDArray[np.uint32]]
    dense: NDArray[np.float32]
    vector: NDArray[np.float32]


def content_words(question: str) -> list[str]:
    """Return the lower-cased words of a question that are not function words; they are what classes are made of."""
    return [t.lower() for t in _TOKEN.findall(clean(question)) if _is_content(t)]


def featurise(question: str, classes: WordClasses) -> Features:
    """Return the features of a question; an empty one has empty bags."""
    text = clean(question)
    tokens = _TOKEN.findall(text)
    folded = words(text)
    shapes = skeleton(tokens)
    found = classes.of([t.lower() for t in tokens if _is_content(t)])
    padded = re.sub(r"\d", "0", f" {text} ") if text else ""
    keys = {
        "words": _bag(_codes(folded), "words"),
        "chars": _bag(np.frombuffer(padded.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64), "chars"),
        "skeleton": _bag(_codes(shapes), "skeleton"),
        "classes": _bag(_codes([_classed(t, s, found) for t, s in zip(tokens, shapes, strict=True)]), "classes"),
    }
    return Features(keys, dense(text, tokens, folded), embed([text])[0])


def _is_content(token: str) -> bool:
    return token[0].isalpha() and fold(token) not in _FUNCTION


def _classed(token: str, shape: str, found: dict[str, int]) -> str:
    number = found.get(token.lower()) if _is_content(token) else None
    return shape if number is None else f"c{number}{'C' if shape in ('CAP', 'ACR') else ''}"


def skeleton(tokens: list[str]) -> list[str]:
    """Replace content words by what they look like: names by CAP, numbers by NUM or YEAR, others by their ending.

    >>> skeleton(["Who", "wrote", "Dune", "in", "1965", "?"])
    ['^who', '_ote', 'CAP', 'in', 'YEAR', '?']
    """
    return [_shape(token, i == 0) for i, token in enumerate(tokens)]


@lru_cache(maxsize=50_000)
def _shape(token: str, first: bool) -> str:
    low = fold(token)
    if low in _FUNCTION:
        return f"^{low}" if first else low
    if token[0].isdigit():
        return "YEAR" if re.fullmatch(r"1\d{3}|20\d{2}", token) else ("CLOCK" if ":" in token else "NUM")
    if not token[0].isalpha() or len(token) == 1:
        return token
    if token[0].isupper() and not first:
        return "ACR" if token.isupper() else "CAP"
    return ("^_" if first else "_") + low[-3:]


def _codes(tokens: list[str]) -> NDArray[np.uint64]:
    return np.array([zlib.crc32(t.encode("utf-8", "replace")) for t in tokens], dtype=np.uint64)


def _bag(codes: NDArray[np.uint64], block: str) -> NDArray[np.uint32]:
    """Hash every n-gram of a code sequence to 32 bits; distinct, sorted."""
    found = []
    for n in _ORDERS[block]:
        size = len(codes) - n + 1
        if size < 1:
            break
        h = np.full(size, _SALT[block] + np.uint64(n), dtype=np.uint64)
        for i in range(n):
            h = (h ^ codes[i : i + size]) * _PRIME
            h ^= h >> np.uint64(29)
        h *= np.uint64(0xBF58476D1CE4E5B9)
        found.append((h >> np.uint64(32)).astype(np.uint32))
    return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.uint32)
