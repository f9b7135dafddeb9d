"""Score how well passages answer a question, in CPU milliseconds and without a key.

The evaluator reads the words of a passage and the similarity of its stored vector to the question, so it
embeds nothing. It gives two scores. `order` ranks the candidates of one question and cannot be compared
across questions. `floor` is absolute and calibrated to [-1, 1], with 0 as undecided; CRAG's verdict (section
4.3) and the choice of strips use it. Both are sums of a few features with fixed weights for each kind of
encoder, because fitted weights do not carry over to another library. Only the scale of `floor` is fitted.
docs/results.md has the figures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from ragweave.models.embed import Remembering, encoder
from ragweave.models.errors import WeightsError
from ragweave.models.relevance_features import OWN, Looked, look, look_alone, standardise
from ragweave.models.relevance_reading import Idf, Matrix, Passage
from ragweave.models.settings import model_settings

__all__ = ["LOWER", "UPPER", "Idf", "Passage", "Scores", "floors", "score", "scorer", "weights"]

UPPER = 0.5
"""CRAG's upper threshold for `floor`: the best candidate at or above it makes the verdict `correct`."""

LOWER = -0.9
"""CRAG's lower threshold for `floor`: every candidate below it makes the verdict `incorrect`."""

HEAD = Path(__file__).parent / "heads" / "relevance.json"
"""The scales of `floor` that ship with the package, and their origin."""

EncoderKind = Literal["static", "transformer"]
"""`static` averages word vectors; `transformer` reads the words together, as encoders of servers do."""


@dataclass(frozen=True)
class VectorWeights:
    """Weights of vectors in addition to words (docs/results.md)."""

    dense: float
    """Weight of cosines against BM25, both standardised, in the choice of candidates."""
    order: float
    """Weight of similarity against the evidence in `order`, both standardised."""
    floor: float
    """Weight of similarity, in standard deviations, in `floor`."""


WEIGHTS: dict[EncoderKind, VectorWeights] = {
    "static": VectorWeights(1.0, 0.25, 0.05),
    "transformer": VectorWeights(2.0, 1.0, 0.15),
}

EVIDENCE = {
    "coverage": 0.5,
    "best_sentence": 0.5,
    "bigrams": 0.5,
    "rarest": 0.25,
    "title_named": 0.25,
    "title_phrase": 0.25,
}
"""Weights of the evidence sum in both scores. Titles weigh little, because many are only file names."""

STANDING = 0.5
"""Weight in `floor` of a passage's lead over the other candidates."""

NAMED = 0.5
"""Weight in `order` if a candidate that is similar to the question names the passage; standardised."""

NAMED_FLOOR = 0.25
"""The same weight in `floor`, not standardised: it can be the only sign of a second-hop passage."""

PRIOR = 2.0
"""Number of typical candidates in the average of the others, so that a single passage can be judged."""


@dataclass(frozen=True)
class Scores:
    """Scores of n passages."""

    order: Matrix
    """Shape (n,); higher is better among these passages."""
    floor: Matrix
    """Shape (n,); absolute relevance in [-1, 1]."""


@dataclass(frozen=True)
class RelevanceHead:
    """Weights for a kind of encoder, and the scale of `floor`."""

    weights: VectorWeights
    typical: float
    """Evidence of a typical candidate."""
    slope: float
    offset: float
    """Evidence at which `floor` is 0."""

    def scores(self, seen: Looked) -> Scores:
        """Score passages by their features, all as the candidates of one question."""
        near = seen.own[:, OWN.index("near")]
        order, near, named = standardise(np.column_stack([words(seen.own), near, seen.named_by])).T
        floor = self.floor(evidence(seen, self.weights), seen.blank)
        return Scores(order + self.weights.order * near + NAMED * named, floor)

    def alone(self, own: Matrix, blank: bool) -> Matrix:
        """Return the absolute relevance of passages by their own features, (n,)."""
        return self.floor(_own_evidence(own, self.weights), blank)

    def floor(self, sums: Matrix, blank: bool) -> Matrix:
        """Return the absolute relevance of passages with these evidence sums, (n,)."""
        raw = np.full(len(sums), self.offset) if blank else stand(sums, self.typical)
        return np.asarray(np.tanh(self.slope * (raw - self.offset) / 2))


_WEIGHTS = np.array([EVIDENCE.get(name, 0.0) for name in OWN])


def words(own: Matrix) -> Matrix:
    """Return the evidence sum of the words of each passage, (n,)."""
    return np.asarray(own @ _WEIGHTS)


def evidence(seen: Looked, given: VectorWeights) -> Matrix:
    """Return the unscaled `floor`: words, similarity, and being named by another candidate, (n,)."""
    return np.asarray(_own_evidence(seen.own, given) + NAMED_FLOOR * seen.named_by)


def _own_evidence(own: Matrix, given: VectorWeights) -> Matrix:
    return np.asarray(words(own) + given.floor * own[:, OWN.index("near")])


def stand(sums: Matrix, typical: float) -> Matrix:
    """Add to each evidence sum half of its lead over the other candidates' mean, (n,)."""
    others = (PRIOR * typical + sums.sum() - sums) / (PRIOR + len(sums) - 1)
    return np.asarray(sums + STANDING * (sums - others))


def kind_of(name: str) -> EncoderKind:
    """Return the kind of an encoder by its name in the settings."""
    return "static" if name.startswith("wordllama") else "transformer"


def weights() -> VectorWeights:
    """Return the weights for the encoder that is set."""
    return WEIGHTS[kind_of(model_settings().embed)]


def score(question: str, passages: Sequence[Passage], idf: Idf, near: Sequence[float] = ()) -> Scores:
    """Score passages against one question. CPU work: async callers use `asyncio.to_thread`.

    If the question has no content word, every floor is 0. There may be no passages.

    Args:
        question: the question.
        passages: the candidates.
        idf: returns the weight of a term.
        near: similarity of each passage's vector to the question, in standard deviations above the passages
            of the library; empty if it is not known.
    """
    return scorer(question, passages, idf, near)([range(len(passages))])[0]


def floors(question: str, passages: Sequence[Passage], idf: Idf, near: Sequence[float] = ()) -> Matrix:
    """Return the absolute relevance of passages, (n,) in [-1, 1], as if none named another."""
    if not passages:
        return np.zeros(0)
    own, blank = look_alone(question, passages, idf, near)
    return head().alone(own, blank)


def scorer(
    question: str, passages: Sequence[Passage], idf: Idf, near: Sequence[float] = ()
) -> Callable[[Sequence[Sequence[int]]], list[Scores]]:
    """Read passages once; return a function that scores pools of them, given as lists of their indices.

    Each pool is scored as the candidates of one question.
    """
    seen = look(question, passages, idf, near) if passages else None

    def score_pools(pools: Sequence[Sequence[int]]) -> list[Scores]:
        out: list[Scores] = []
        for places in pools:
            if seen and len(places):
                out.append(head().scores(seen.of(places)))
            else:
                out.append(Scores(np.zeros(0), np.zeros(0)))
        return out

    return score_pools


embed = Remembering(lambda texts: encoder("wordllama").texts(texts), 30_000)
"""The embedded encoder, with which quotes compare sentences."""


def head(kind: EncoderKind | None = None, path: Path = HEAD) -> RelevanceHead:
    """Load the scale of a kind of encoder, by default the one in the settings.

    Raises:
        WeightsError: if the file is missing or broken.
    """
    return _head(kind or kind_of(model_settings().embed), path)


@lru_cache(maxsize=4)
def _head(kind: EncoderKind, path: Path) -> RelevanceHead:
    try:
        scale = json.loads(path.read_text(encoding="utf-8"))["floor"][kind]
        return RelevanceHead(
            WEIGHTS[kind], float(scale["typical"]), float(scale["slope"]), float(scale["offset"])
        )
    except (OSError, KeyError, ValueError, TypeError) as exc:
        raise WeightsError(
            f"the scale of the relevance evaluator at {path} cannot be read ({exc})",
            "install Ragweave again, or run ragweave train evaluator",
        ) from exc
