"""The router head: two experts over the same features, joined by how much a question resembles the public data sets.

The "home" expert was fitted on the public routing data alone and is sharp on questions of that build; the "wide" expert
was fitted on these and on template questions written from the labels' meaning. Each is a linear layer (scores over
kinds of question, by block of features) and boosted trees over its scores and the cues. The share of the wide expert's
linear probability that falls on public kinds is the weight of the home expert.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ragweave.models.errors import WeightsError
from ragweave.models.router_features import BLOCKS, DENSE_NAMES, Features, WordClasses, featurise
from ragweave.models.trees import Trees

Floats = NDArray[np.float64]

GATE_SLOPE = 4.0
"""Multiplies the wide expert's margins before the softmax that weighs the experts."""

LEVELS = 63
"""Steps to each side of zero that linear weights are rounded to."""


@dataclass(frozen=True, slots=True)
class Block:
    """Linear weights of one bag of n-grams, of both experts side by side.

    Attributes:
        keys: sorted 32-bit hashes the head knows, shape (n,).
        idf: inverse document frequency of each, shape (n,).
        weights: shape (n, kinds of home + kinds of wide).
    """

    keys: NDArray[np.uint32]
    idf: NDArray[np.float32]
    weights: NDArray[np.float32]

    def score(self, found: NDArray[np.uint32]) -> Floats:
        """Return the block's share of every kind's score: idf-weighted, L2-normalised bag times weights."""
        zero = np.zeros(self.weights.shape[1])
        if not len(found) or not len(self.keys):
            return zero
        at = np.minimum(np.searchsorted(self.keys, found), len(self.keys) - 1)
        rows = at[self.keys[at] == found]
        idf = self.idf[rows]
        norm = float(np.linalg.norm(idf))
        return np.asarray(idf @ self.weights[rows], dtype=np.float64) / norm if norm else zero


@dataclass(frozen=True, slots=True)
class Expert:
    """Boosted trees over the linear scores of one expert and the cues.

    Attributes:
        trees: tree t votes for class t modulo `classes`.
        classes: how many classes the trees tell apart, a multiple of the labels (labels, or public and own labels).
    """

    trees: Trees
    classes: int

    def probabilities(self, rows: Floats, labels: int) -> Floats:
        """Return label probabilities, shape (n, labels), of stacked inputs."""
        votes = self.trees.leaves(rows)
        scores = votes.reshape(len(rows), -1, self.classes).sum(axis=1)
        return np.asarray(softmax(scores).reshape(len(rows), -1, labels).sum(axis=1))


@dataclass(frozen=True, slots=True)
class Head:
    """A router head as stored.

    Attributes:
        labels: label names.
        home_kinds: number of kinds the home expert tells apart; the wide expert knows these first, then its own.
        classes: centres of the word classes.
        blocks: linear weights by bag.
        dense: linear weights of the standardised cues, shape (cues, kinds).
        vector: linear weights of the embedding, shape (dim, kinds).
        mean: mean of each cue over the training rows.
        scale: inverse standard deviation of each cue times the common weight of the cues.
        bias: shape (kinds,).
        home: trees of the home expert.
        wide: trees of the wide expert.
        slope: multiplies the log-probabilities before they are normalised again.
        shift: added per label after the slope, shape (labels,).
        seen: hashes of the training questions, for the overlap that reports print.
        card: what it was trained on.
    """

    labels: tuple[str, ...]
    home_kinds: int
    classes: WordClasses
    blocks: Mapping[str, Block]
    dense: NDArray[np.float32]
    vector: NDArray[np.float32]
    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    bias: NDArray[np.float32]
    home: Expert
    wide: Expert
    slope: float
    shift: NDArray[np.float32]
    seen: NDArray[np.uint32]
    card: Mapping[str, Any]

    def probabilities(self, question: str) -> Floats:
        """Return the calibrated probability of each label, shape (labels,)."""
        features = featurise(question, self.classes)
        parts = self.parts(features)[None]
        p = mix(parts, features.dense[None], self.home, self.wide, self.home_kinds, len(self.labels))
        return np.asarray(calibrated(p, self.slope, self.shift)[0])

    def parts(self, features: Features) -> Floats:
        """Return the linear scores by part, shape (blocks + 2, kinds); their sum is the score."""
        cues = (features.dense - self.mean) * self.scale
        rows = [self.blocks[name].score(features.keys[name]) for name in BLOCKS]
        rows += [np.asarray(cues @ self.dense, dtype=np.float64), np.asarray(features.vector @ self.vector, np.float64)]
        return np.asarray(np.stack(rows) + self.bias / len(rows))

    def save(self, path: Path) -> None:
        """Write the head as a compressed npz without pickled objects, linear weights in few levels."""
        arrays: dict[str, Any] = {
            "labels": np.array(self.labels),
            "home_kinds": np.int64(self.home_kinds),
            "cues": np.array(DENSE_NAMES),
            "centres": self.classes.centres.astype(np.float16),
            "dense": self.dense.astype(np.float16),
            "vector": self.vector.astype(np.float16),
            "mean": self.mean,
            "scale": self.scale,
            "bias": self.bias,
            "slope": np.float64(self.slope),
            "shift": self.shift,
            "seen": self.seen,
            "card": np.array(json.dumps(self.card)),
        }
        for name, block in self.blocks.items():
            step = np.maximum(np.abs(block.weights).max(axis=0), 1e-9) / LEVELS
            # Gaps between sorted keys and columns of one kind side by side compress better than the plain arrays.
            arrays[f"{name}.gaps"] = np.diff(block.keys, prepend=np.uint32(0)).astype(np.uint32)
            arrays[f"{name}.idf"] = block.idf.astype(np.float16)
            arrays[f"{name}.step"] = step.astype(np.float32)
            arrays[f"{name}.weights"] = np.round(block.weights / step).astype(np.int8).T.copy()
        for name, expert in (("home", self.home), ("wide", self.wide)):
            arrays[f"{name}.classes"] = np.int64(expert.classes)
            for key, array in expert.trees.arrays(name).items():
                arrays[key] = array.astype(np.float32) if array.dtype == np.float64 else array.astype(np.int16)
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
                raise WeightsError(f"{path.name} was trained for other features", "run: ragweave train router")
            return cls(
                labels=tuple(a["labels"].tolist()),
                home_kinds=int(a["home_kinds"]),
                classes=WordClasses(a["centres"].astype(np.float32)),
                blocks={name: _block(a, name) for name in BLOCKS},
                dense=a["dense"].astype(np.float32),
                vector=a["vector"].astype(np.float32),
                mean=a["mean"],
                scale=a["scale"],
                bias=a["bias"],
                home=_expert(a, "home"),
                wide=_expert(a, "wide"),
                slope=float(a["slope"]),
                shift=a["shift"],
                seen=a["seen"],
                card=json.loads(str(a["card"])),
            )
        except OSError as error:
            raise WeightsError(f"the router head {path.name} cannot be read ({error})", "reinstall Ragweave") from error
        except (KeyError, ValueError, BadZipFile) as error:
            # What numpy says of such a file is advice to unpickle it.
            raise WeightsError(
                f"{path.name} cannot be read as a router head", "give a file written by `ragweave train router`"
            ) from error


def _block(a: Mapping[str, NDArray[Any]], name: str) -> Block:
    keys = np.cumsum(a[f"{name}.gaps"], dtype=np.uint32)
    weights = np.ascontiguousarray(a[f"{name}.weights"].T).astype(np.float32) * a[f"{name}.step"]
    return Block(keys, a[f"{name}.idf"].astype(np.float32), weights)


def _expert(a: Mapping[str, NDArray[Any]], name: str) -> Expert:
    stored = {k: v.astype(np.float64) if v.dtype == np.float32 else v for k, v in a.items() if k.startswith(f"{name}_")}
    return Expert(Trees.load(stored, name), int(a[f"{name}.classes"]))


def stack(parts: Floats, dense: NDArray[np.float32]) -> Floats:
    """Return the trees' inputs, shape (n, kinds + cues + parts * kinds).

    Args:
        parts: linear scores by part, shape (n, parts, kinds).
        dense: cues, shape (n, cues).
    """
    return np.hstack([parts.sum(axis=1), dense.astype(np.float64), parts.reshape(len(parts), -1)])


def mix(parts: Floats, dense: NDArray[np.float32], home: Expert, wide: Expert, home_kinds: int, labels: int) -> Floats:
    """Join the experts and return label probabilities, shape (n, labels), before calibration.

    Args:
        parts: linear scores of home and wide kinds, shape (n, parts, home + wide).
        dense: cues, shape (n, cues).
        home: trees of the home expert.
        wide: trees of the wide expert.
        home_kinds: number of kinds of the home expert.
        labels: number of labels.
    """
    near, far = parts[:, :, :home_kinds], parts[:, :, home_kinds:]
    gate = softmax(far.sum(axis=1) * GATE_SLOPE)[:, :home_kinds].sum(axis=1, keepdims=True)
    at_home = home.probabilities(stack(near, dense), labels)
    return np.asarray(gate * at_home + (1 - gate) * wide.probabilities(stack(far, dense), labels))


def calibrated(probabilities: Floats, slope: float, shift: NDArray[np.float32]) -> Floats:
    """Scale log-probabilities and normalise them again, shape (n, labels)."""
    return softmax(np.log(np.maximum(probabilities, 1e-9)) * slope + shift)


def softmax(scores: Floats) -> Floats:
    """Return probabilities from scores, along the last axis."""
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))
