"""The small relevance evaluator: how well passages answer a question, in CPU milliseconds and without any key.

Two scores are given, because they serve two ends. `order` compares the candidates of one question and ranks them; it
means nothing across questions. `floor` is absolute: calibrated to [-1, 1] with 0 undecided, it carries CRAG's verdict
(section 4.3), the choice of strips and the check of sentences. Both are stated sums of a few features, and only the
scale of `floor` is fitted: fitted weights do not carry over to another library. docs/results.md has the figures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ragweave.models.embed import Remembering, encoder
from ragweave.models.errors import WeightsError
from ragweave.models.relevance_features import OWN, Looked, look, look_alone, standardise
from ragweave.models.relevance_reading import Idf, Matrix, Passage

__all__ = ["LOWER", "UPPER", "Idf", "Passage", "Scores", "floors", "score", "scorer"]

UPPER = 0.5
"""CRAG's upper threshold for `floor`: the best candidate at or above it makes the verdict `correct`."""

LOWER = -0.9
"""CRAG's lower threshold for `floor`: every candidate below it makes the verdict `incorrect`."""

HEAD = Path(__file__).parent / "heads" / "relevance.json"
"""The scale of `floor` that ships, and where it came from."""

EVIDENCE = {
    "best_sentence": 1.0, "bigrams": 0.5, "soft": 0.5, "sentence_cosine": 0.5, "rarest": 0.25,
    "title_named": 0.25, "title_phrase": 0.25,
}  # fmt: skip
"""Weights of the evidence sum behind both scores. Titles weigh little: in many a library they are file names."""

STANDING = 0.5
"""Weight of how far a passage stands above the other candidates, in `floor`."""

NAMED = 0.5
"""Weight in `order` of being named by a candidate that is near to the question, beside the evidence; standardised."""

PRIOR = 2.0
"""How many typical candidates the others are averaged with, so that one passage alone can be judged."""

STRANGE = -0.7
"""`floor` of the best candidate below which the question's words are not those of the texts: meaning orders, too."""

MEANING = 0.5
"""Weight that it then has beside the rest, standardised."""


@dataclass(frozen=True)
class Scores:
    """Scores of n passages."""

    order: Matrix
    """(n,), higher is better among these passages."""
    floor: Matrix
    """(n,), absolute relevance in [-1, 1]."""


@dataclass(frozen=True)
class RelevanceHead:
    """The scale of `floor`."""

    typical: float
    """Evidence of a typical candidate."""
    slope: float
    offset: float
    """Evidence at which `floor` is 0."""

    def scores(self, seen: Looked) -> Scores:
        """Score passages by their features."""
        floor = self.floor(seen.own, seen.blank)
        order, named = standardise(np.column_stack([evidence(seen.own), seen.named_by])).T
        order = order + NAMED * named
        if floor.max() < STRANGE:
            near = seen.own[:, OWN.index("cosine")] + seen.own[:, OWN.index("sentence_cosine")]
            order, near = standardise(np.column_stack([order, near])).T
            order = order + MEANING * near
        return Scores(order, floor)

    def floor(self, own: Matrix, blank: bool) -> Matrix:
        """Return the absolute relevance of passages by their own features, (n,)."""
        raw = np.full(len(own), self.offset) if blank else stand(evidence(own), self.typical)
        return np.asarray(np.tanh(self.slope * (raw - self.offset) / 2))


_WEIGHTS = np.array([EVIDENCE.get(name, 0.0) for name in OWN])


def evidence(own: Matrix) -> Matrix:
    """Return the evidence sum of each passage, (n,)."""
    return np.asarray(own @ _WEIGHTS)


def stand(sums: Matrix, typical: float) -> Matrix:
    """Add to each evidence sum half of its lead over the other candidates' mean, (n,)."""
    others = (PRIOR * typical + sums.sum() - sums) / (PRIOR + len(sums) - 1)
    return np.asarray(sums + STANDING * (sums - others))


def score(question: str, passages: Sequence[Passage], idf: Idf) -> Scores:
    """Score passages against one question. CPU work: async callers use `asyncio.to_thread`.

    Without any content word in the question every floor is 0; the passages may be empty.
    """
    return scorer(question, passages, idf)([range(len(passages))])[0]


def floors(question: str, passages: Sequence[Passage], idf: Idf) -> Matrix:
    """Return the absolute relevance of passages, (n,) in [-1, 1], as `score` does; their order is not asked for."""
    return head().floor(*look_alone(question, passages, idf, embed)) if passages else np.zeros(0)


def scorer(question: str, passages: Sequence[Passage], idf: Idf) -> Callable[[Sequence[Sequence[int]]], list[Scores]]:
    """Read passages once; return what scores pools of them, by their places, each as the candidates of one question."""
    seen = look(question, passages, idf, embed) if passages else None

    def scored(pools: Sequence[Sequence[int]]) -> list[Scores]:
        nothing = Scores(np.zeros(0), np.zeros(0))
        return [head().scores(seen.of(places)) if seen and len(places) else nothing for places in pools]

    return scored


embed = Remembering(lambda texts: encoder("wordllama").texts(texts), 30_000)
"""Encodes with the embedded encoder, whatever the library uses: the head was fitted with it. Some 60 MB with texts."""


@lru_cache(maxsize=4)
def head(path: Path = HEAD) -> RelevanceHead:
    """Load the scale; WeightsError if its file is missing or broken."""
    try:
        scale = json.loads(path.read_text(encoding="utf-8"))["floor"]
        return RelevanceHead(float(scale["typical"]), float(scale["slope"]), float(scale["offset"]))
    except (OSError, KeyError, ValueError, TypeError) as exc:
        raise WeightsError(
            f"the scale of the relevance evaluator at {path} cannot be read ({exc})",
            "install Ragweave again, or run ragweave train evaluator",
        ) from exc
