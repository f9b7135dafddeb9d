"""The small router: which corpus and granularity can answer a question (UniversalRAG, section 3.2).

One linear head over hashed n-grams and cues, a few hundred kilobytes in the package, numpy only at inference.
`evals/train_router.py` reproduces its weights; figures and model card are in docs/routing.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.models.errors import WeightsError
from ragweave.models.router_features import BLOCKS, DENSE_NAMES, Features, featurise

HEAD = Path(__file__).parent / "heads" / "router.npz"
"""The weights that ship."""


@dataclass(frozen=True, slots=True)
class Block:
    """Linear weights of one bag of n-grams.

    Attributes:
        keys: sorted 32-bit hashes the head knows, shape (n,).
        idf: inverse document frequency of each, shape (n,).
        weights: shape (n, labels).
    """

    keys: NDArray[np.uint32]
    idf: NDArray[np.float32]
    weights: NDArray[np.float32]

    def score(self, found: NDArray[np.uint32]) -> NDArray[np.float32]:
        """Return the block's share of every label's score: idf-weighted, L2-normalised bag times weights."""
        if not len(found) or not len(self.keys):
            return np.zeros(self.weights.shape[1], dtype=np.float32)
        at = np.minimum(np.searchsorted(self.keys, found), len(self.keys) - 1)
        rows = at[self.keys[at] == found]
        idf = self.idf[rows]
        norm = float(np.linalg.norm(idf))
        return (idf @ self.weights[rows] / norm if norm else np.zeros(self.weights.shape[1])).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Head:
    """A router head as stored.

    Attributes:
        labels: label names in the order of the weights' columns.
        blocks: linear weights by bag.
        dense: weights of the standardised cues, shape (cues, labels).
        mean: mean of each cue over the training rows.
        scale: inverse standard deviation of each cue times the cues' common weight.
        bias: shape (labels,).
        temperature: divides the scores before the softmax (fitted on out-of-fold scores).
        shift: added per label after the temperature, shape (labels,).
    """

    labels: tuple[str, ...]
    blocks: Mapping[str, Block]
    dense: NDArray[np.float32]
    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    bias: NDArray[np.float32]
    temperature: float
    shift: NDArray[np.float32]

    def scores(self, features: Features) -> NDArray[np.float64]:
        """Return calibrated log-odds over the labels, shape (labels,)."""
        total = self.bias + ((features.dense - self.mean) * self.scale) @ self.dense
        for name in BLOCKS:
            total = total + self.blocks[name].score(features.keys[name])
        return total.astype(np.float64) / self.temperature + self.shift

    def save(self, path: Path) -> None:
        """Write the head as a compressed npz without pickled objects; weights are kept to 8 bits per block."""
        arrays: dict[str, Any] = {
            "labels": np.array(self.labels),
            "cues": np.array(DENSE_NAMES),
            "dense": self.dense,
            "mean": self.mean,
            "scale": self.scale,
            "bias": self.bias,
            "temperature": np.float64(self.temperature),
            "shift": self.shift,
        }
        for name, block in self.blocks.items():
            step = np.maximum(np.abs(block.weights).max(axis=0), 1e-9) / 127
            arrays[f"{name}.keys"] = block.keys
            arrays[f"{name}.idf"] = block.idf.astype(np.float16)
            arrays[f"{name}.step"] = step.astype(np.float32)
            arrays[f"{name}.weights"] = np.round(block.weights / step).astype(np.int8)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **arrays)

    @classmethod
    def load(cls, path: Path) -> Head:
        """Read a head.

        Raises:
            WeightsError: the file is missing, not a head, or belongs to other features.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                a = {name: file[name] for name in file.files}
            if tuple(a["cues"].tolist()) != DENSE_NAMES:
                raise WeightsError(
                    f"{path.name} was trained for other features", "train it again: ragweave train router"
                )
            blocks = {
                name: Block(
                    a[f"{name}.keys"],
                    a[f"{name}.idf"].astype(np.float32),
                    a[f"{name}.weights"].astype(np.float32) * a[f"{name}.step"],
                )
                for name in BLOCKS
            }
            return cls(
                tuple(a["labels"].tolist()),
                blocks,
                a["dense"],
                a["mean"],
                a["scale"],
                a["bias"],
                float(a["temperature"]),
                a["shift"],
            )
        except (OSError, KeyError, ValueError) as error:
            raise WeightsError(f"the router head {path} cannot be read ({error})", "reinstall Ragweave") from error


@lru_cache(maxsize=4)
def head(path: Path = HEAD) -> Head:
    """Return a head, read once per process."""
    return Head.load(path)


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities from scores, along the last axis."""
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def predict(question: str) -> dict[str, float]:
    """Return calibrated probabilities over the labels; an empty question gives the prior of the head."""
    h = head()
    p = softmax(h.scores(featurise(question)))
    return {label: float(x) for label, x in zip(h.labels, p, strict=True)}


def choose(
    probabilities: Mapping[str, float], available: set[str], second_below: float = 0.75, none_allowed: bool = False
) -> list[str]:
    """Return the corpora to search, best first.

    Labels that the library lacks are masked and the rest re-normalised; the second-best joins when the confidence
    of the best is below the threshold.

    Args:
        probabilities: over labels, as `predict` gives them.
        available: corpora that the library has.
        second_below: confidence under which a second corpus is searched too.
        none_allowed: whether "none" may be chosen.

    Returns:
        One or two corpora, ["none"], or [] when nothing is available.
    """
    kept = {
        k: v for k, v in probabilities.items() if (k in available and k != "none") or (k == "none" and none_allowed)
    }
    total = sum(kept.values())
    ranked = sorted(kept, key=lambda k: (-kept[k], k))
    if not ranked or ranked[0] == "none":
        return ranked[:1]
    confidence = kept[ranked[0]] / total if total > 0 else 0.0
    if confidence >= second_below:
        return ranked[:1]
    return [ranked[0], *[k for k in ranked[1:] if k != "none"][:1]]


_EXCLUSIVE: Sequence[tuple[str, str]] = (("paragraph", "document"), ("clip", "video"))


def label_set(scores: Mapping[str, float], threshold: float = 0.8) -> list[str]:
    """Return the labels whose independent (sigmoid) score passes the threshold, best first.

    "none" falls away when anything else fires, of paragraph and document and of clip and video the higher stays, and
    where nothing fires the single best label is returned (UniversalRAG, later code; multi-label routing).
    """
    if not scores:
        return []
    fired = {k for k, v in scores.items() if v >= threshold}
    if len(fired) > 1:
        fired.discard("none")
    for a, b in _EXCLUSIVE:
        if a in fired and b in fired:
            fired.discard(a if scores[a] < scores[b] else b)
    best = sorted(fired or scores, key=lambda k: (-scores[k], k))
    return best if fired else best[:1]
