"""The small relevance evaluator: how well passages answer a question, in CPU milliseconds and without any key.

Two scores are given, because they serve two ends. `order` compares the candidates of one question and ranks them; it
means nothing across questions. `floor` is absolute: calibrated to [-1, 1] with 0 undecided, it carries CRAG's verdict
(section 4.3), the choice of strips and the check of sentences. `order` is fitted, on features that are relative to the
other candidates; `floor` is a stated sum of a few features, of which only the scale is fitted, because fitted absolute
scores do not carry over to another library. docs/results.md has the figures and the model card.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ragweave.models.embed import Remembering, encoder
from ragweave.models.errors import WeightsError
from ragweave.models.relevance_features import OWN, Looked, comparison, look, look_alone, standardise
from ragweave.models.relevance_reading import Idf, Matrix, Passage

__all__ = ["LOWER", "UPPER", "Idf", "Passage", "Scores", "floors", "score", "scorer"]

UPPER = 0.5
"""CRAG's upper threshold for `floor`: the best candidate at or above it makes the verdict `correct`."""

LOWER = -0.9
"""CRAG's lower threshold for `floor`: every candidate below it makes the verdict `incorrect`."""

HEAD = Path(__file__).parent / "heads" / "relevance"
"""The shipped weights, without suffix: `.npz` holds the trees, `.json` the scale of `floor` and where it came from."""

EVIDENCE = {
    "best_sentence": 1.0, "bigrams": 0.5, "soft": 0.5, "sentence_cosine": 0.5, "rarest": 0.25,
    "title_named": 0.25, "title_phrase": 0.25,
}  # fmt: skip
"""Weights of the evidence sum behind `floor`. Titles weigh little: in a library of one's own they are file names."""

STANDING = 0.5
"""Weight of how far a passage stands above the other candidates."""

PRIOR = 2.0
"""How many typical candidates the others are averaged with, so that one passage alone can be judged."""

STRANGE = -0.7
"""`floor` of the best candidate below which the question's words are not those of the texts: meaning orders, too."""

MEANING = 0.5
"""Weight that it then has beside the boosters, standardised."""

WITHOUT_LINKS = 0.4
"""Share of the booster that sees no links, in `order`: many libraries have none."""


@dataclass(frozen=True)
class Scores:
    """Scores of n passages."""

    order: Matrix
    """(n,), higher is better among these passages."""
    floor: Matrix
    """(n,), absolute relevance in [-1, 1]."""


@dataclass(frozen=True)
class Trees:
    """T gradient-boosted trees of at most N nodes. A leaf points to itself, so that every row can walk the full depth.

    Attributes:
        feature: (T, N), column that a node reads.
        threshold: (T, N), rows at or below it go left; infinite at leaves.
        left: (T, N), index of the left child.
        right: (T, N), index of the right child.
        value: (T, N), output of a leaf, 0 elsewhere.
        depth: (), steps from the root to the deepest leaf.
    """

    feature: NDArray[np.int16]
    threshold: NDArray[np.float64]
    left: NDArray[np.int16]
    right: NDArray[np.int16]
    value: NDArray[np.float64]
    depth: NDArray[np.int16]

    def predict(self, x: Matrix) -> Matrix:
        """Return the raw score, (n,), of rows (n, features) of finite numbers: the sum of the leaves they reach."""
        return np.asarray(self.leaves(x).sum(axis=1))

    def leaves(self, x: Matrix) -> Matrix:
        """Return the values of the leaves that rows reach, (n, T)."""
        feature, threshold, left, right, value = self._flat
        count, width = self.feature.shape
        start = np.arange(len(x))[:, None] * x.shape[1]
        node = np.repeat(np.arange(count)[None] * width, len(x), axis=0)
        cells = np.ravel(x)
        for _ in range(int(self.depth)):
            lower = cells.take(start + feature.take(node)) <= threshold.take(node)
            node = np.where(lower, left.take(node), right.take(node))
        return np.asarray(value.take(node))

    @cached_property
    def _flat(self) -> tuple[NDArray[Any], ...]:
        """The nodes of all trees in one row, children by their place in it."""
        offset = np.arange(len(self.feature))[:, None] * self.feature.shape[1]
        nodes = (self.feature, self.threshold, self.left + offset, self.right + offset, self.value)
        return tuple(np.ravel(a) for a in nodes)

    @classmethod
    def load(cls, stored: Mapping[str, NDArray[Any]], prefix: str) -> Trees:
        """Read the arrays of a file of numpy, each named `prefix_field`."""
        return cls(**{f.name: stored[f"{prefix}_{f.name}"] for f in fields(cls)})


@dataclass(frozen=True)
class RelevanceHead:
    """Fitted parts of the evaluator."""

    full: Trees
    """Over every relative feature."""
    own: Trees
    """Over the passages' own features."""
    typical: float
    """Evidence of a typical candidate."""
    slope: float
    offset: float
    """Evidence at which `floor` is 0."""

    def scores(self, seen: Looked) -> Scores:
        """Score passages by their features."""
        return self.pools([seen])[0]

    def pools(self, pools: Sequence[Looked]) -> list[Scores]:
        """Score the passages of each of some pools; the trees are walked once."""
        compared = [comparison(seen) for seen in pools]
        leaves = self._both.leaves(np.concatenate(compared))
        count = len(self.full.feature)
        mixed = (1 - WITHOUT_LINKS) * leaves[:, :count].sum(axis=1) + WITHOUT_LINKS * leaves[:, count:].sum(axis=1)
        parts = np.split(mixed, np.cumsum([len(x) for x in compared])[:-1])
        return [self._scored(seen, order) for seen, order in zip(pools, parts, strict=True)]

    @cached_property
    def _both(self) -> Trees:
        """The trees of both boosters: what a passage is by itself stands first among all features."""
        return Trees(**{f.name: _joined(getattr(self.full, f.name), getattr(self.own, f.name)) for f in fields(Trees)})

    def _scored(self, seen: Looked, order: Matrix) -> Scores:
        # Leaves are steps: among passages that reach the same ones, the evidence decides.
        order, floor = order + 1e-3 * evidence(seen.own), self.floor(seen.own, seen.blank)
        if floor.max() < STRANGE:
            near = seen.own[:, OWN.index("cosine")] + seen.own[:, OWN.index("sentence_cosine")]
            order, near = standardise(np.column_stack([order, near])).T
            order = order + MEANING * near
        return Scores(order, floor)

    def floor(self, own: Matrix, blank: bool) -> Matrix:
        """Return the absolute relevance of passages by their own features, (n,)."""
        raw = np.full(len(own), self.offset) if blank else stand(evidence(own), self.typical)
        return np.asarray(np.tanh(self.slope * (raw - self.offset) / 2))


def _joined(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Put trees below others; of the depths the larger counts."""
    if not one.ndim:
        return np.asarray(np.maximum(one, other))
    width = max(one.shape[1], other.shape[1])
    return np.concatenate([np.pad(a, ((0, 0), (0, width - a.shape[1]))) for a in (one, other)])


def evidence(own: Matrix) -> Matrix:
    """Return the evidence sum of each passage, (n,)."""
    return np.asarray(own @ np.array([EVIDENCE.get(name, 0.0) for name in OWN]))


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


def scorer(
    question: str, passages: Sequence[Passage], idf: Idf, rare: Sequence[Matrix] = ()
) -> Callable[[Sequence[Sequence[int]]], list[Scores]]:
    """Read passages once; return what scores pools of them, by their places, each as the candidates of one question.

    `rare` are their weights as `relevance_features.rare_weights` returns them, where they are known.
    """
    seen = look(question, passages, idf, embed, rare) if passages else None

    def scored(pools: Sequence[Sequence[int]]) -> list[Scores]:
        filled = [seen.of(places) for places in pools if seen is not None and len(places)]
        made = iter(head().pools(filled) if filled else ())
        return [next(made) if len(places) else Scores(np.zeros(0), np.zeros(0)) for places in pools]

    return scored


embed = Remembering(lambda texts: encoder("wordllama").texts(texts), 30_000)
"""Encodes with the embedded encoder, whatever the library uses: the head was fitted with it. Some 60 MB with texts."""


@lru_cache(maxsize=4)
def head(path: Path = HEAD) -> RelevanceHead:
    """Load weights, never by pickle; WeightsError if a file is missing or broken."""
    try:
        scale = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["floor"]
        with np.load(path.with_suffix(".npz"), allow_pickle=False) as stored:
            full, own = Trees.load(stored, "full"), Trees.load(stored, "own")
        return RelevanceHead(full, own, float(scale["typical"]), float(scale["slope"]), float(scale["offset"]))
    except (OSError, KeyError, ValueError, TypeError, BadZipFile) as exc:
        raise WeightsError(
            f"the weights of the relevance evaluator at {path} cannot be read ({exc})",
            "install Ragweave again, or run ragweave train evaluator",
        ) from exc
