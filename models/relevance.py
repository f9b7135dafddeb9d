"""The small relevance evaluator: how well passages answer a question, in CPU milliseconds and without any key.

It reads the words of a passage, and takes how near its vector is to the question from the library, whose
encoder made
it: nothing is embedded for it. Two scores are given, because they serve two ends. `order` compares the
candidates of one question and ranks them; it means nothing across questions. `floor` is absolute: calibrated
to [-1, 1] with 0 undecided, it carries CRAG's verdict (section 4.3) and the choice of strips. Both are stated
sums of a few features. The weights belong to a kind of encoder, and only the scale of `floor` is fitted:
fitted weights do not carry over to another library. docs/results.md has the figures.
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
"""The scales of `floor` that ship, and where they came from."""

EncoderKind = Literal["static", "transformer"]
"""Averages of word vectors, or a network that reads the words together; what a server encodes with is the latter."""


@dataclass(frozen=True)
class VectorWeights:
    """What vectors count beside words (docs/results.md)."""

    dense: float
    """Of cosines beside BM25, both standardised, where candidates are chosen."""
    order: float
    """Of nearness beside the evidence in `order`, both standardised."""
    floor: float
    """Of nearness, in standard deviations, in `floor`."""


WEIGHTS: dict[EncoderKind, VectorWeights] = {
    "static": VectorWeights(1.0, 0.25, 0.05),
    "transformer": VectorWeights(2.0, 1.0, 0.15),
}

EVIDENCE = {
    "coverage": 0.5, "best_sentence": 0.5, "bigrams": 0.5, "rarest": 0.25, "title_named": 0.25, "title_phrase": 0.25,
}  # fmt: skip
"""VectorWeights of the evidence sum behind both scores. Titles weigh little: in many a library they are file names."""

STANDING = 0.5
"""Weight of how far a passage stands above the other candidates, in `floor`."""

NAMED = 0.5
"""Weight in `order` of being named by a candidate that is near to the question, beside the evidence; standardised."""

NAMED_FLOOR = 0.25
"""Weight of the same in `floor`, as it is: a passage of a second hop can be told by it alone."""

PRIOR = 2.0
"""How many typical candidates the others are averaged with, so that one passage alone can be judged."""


@dataclass(frozen=True)
class Scores:
    """Scores of n passages."""

    order: Matrix
    """(n,), higher is better among these passages."""
    floor: Matrix
    """(n,), absolute relevance in [-1, 1]."""


@dataclass(frozen=True)
class RelevanceHead:
    """The weights for a kind of encoder, and the scale of `floor`."""

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
    """Return what `floor` is scaled from: words, nearness, and being named by another candidate, (n,)."""
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

    Without any content word in the question every floor is 0; the passages may be empty.

    Args:
        question: what is asked.
        passages: the candidates.
        idf: what a term weighs.
        near: how near each passage's vector is to the question's, in standard deviations above the passages
            of the library; none tells nothing of any.
    """
    return scorer(question, passages, idf, near)([range(len(passages))])[0]


def floors(question: str, passages: Sequence[Passage], idf: Idf, near: Sequence[float] = ()) -> Matrix:
    """Return the absolute relevance of passages, (n,) in [-1, 1], each as if no other named it."""
    return head().alone(*look_alone(question, passages, idf, near)) if passages else np.zeros(0)


def scorer(
    question: str, passages: Sequence[Passage], idf: Idf, near: Sequence[float] = ()
) -> Callable[[Sequence[Sequence[int]]], list[Scores]]:
    """Read passages once; return what scores pools of them, by their places, each as the candidates of one question."""
    seen = look(question, passages, idf, near) if passages else None

    def scored(pools: Sequence[Sequence[int]]) -> list[Scores]:
        nothing = Scores(np.zeros(0), np.zeros(0))
        return [head().scores(seen.of(places)) if seen and len(places) else nothing for places in pools]

    return scored


embed = Remembering(lambda texts: encoder("wordllama").texts(texts), 30_000)
"""The embedded encoder, by which quotes compare sentences."""


def head(kind: EncoderKind | None = None, path: Path = HEAD) -> RelevanceHead:
    """Load the scale of a kind of encoder, that which is set if none is given.

    Raises:
        WeightsError: the file is missing or broken.
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
