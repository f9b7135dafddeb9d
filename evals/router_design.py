"""Design matrix and linear layer of the router head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.models.router_features import BLOCKS, Features
from ragweave.models.router_head import Block

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

LEAST = 3
"""Questions that must hold an n-gram before it counts."""
CUES = 0.15
"""Weight of a standardised cue beside bags of length 1."""
COST = 0.3
"""C of the linear machines."""


class Bags:
    """The n-grams of many questions as sparse 0/1 matrices, one per block, with the cues and embeddings."""

    def __init__(self, features: Sequence[Features]) -> None:
        from scipy import sparse

        self.keys: dict[str, NDArray[np.uint32]] = {}
        self.counts: dict[str, Any] = {}
        for name in BLOCKS:
            bags = [f.keys[name] for f in features]
            keys, columns = np.unique(np.concatenate(bags), return_inverse=True)
            ends = np.cumsum([0, *map(len, bags)])
            shape = (len(bags), len(keys))
            self.keys[name] = keys
            self.counts[name] = sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape=shape)
        self.dense = np.stack([f.dense for f in features])
        self.vector = np.stack([f.vector for f in features])


@dataclass(frozen=True)
class Design:
    """What is fitted before the linear layer: known n-grams, their idf, the scale of the cues.

    Attributes:
        columns: per block the columns of the bags that are known.
        idf: per block the inverse document frequency of these.
        mean: of each cue.
        scale: inverse standard deviation of each cue times the weight of the cues.
    """

    columns: dict[str, Rows]
    idf: dict[str, Floats]
    mean: NDArray[np.float32]
    scale: NDArray[np.float32]

    @classmethod
    def fit(cls, bags: Bags, rows: Rows) -> Design:
        """Count over the given rows."""
        columns, idf = {}, {}
        for name, counts in bags.counts.items():
            frequency = np.asarray(counts[rows].sum(axis=0)).ravel()
            columns[name] = np.flatnonzero(frequency >= LEAST)
            idf[name] = np.log((1 + len(rows)) / (1 + frequency[columns[name]])) + 1
        dense = bags.dense[rows]
        scale = CUES / (dense.std(axis=0) + 1e-6)
        return cls(columns, idf, dense.mean(axis=0).astype(np.float32), scale.astype(np.float32))

    def parts(self, bags: Bags, rows: Rows) -> list[Any]:
        """Return the parts of the design matrix for the given rows: a sparse one per block, cues, embedding."""
        from scipy import sparse

        out: list[Any] = []
        for name, counts in bags.counts.items():
            weighed = counts[rows][:, self.columns[name]] @ sparse.diags(self.idf[name])
            norms = np.sqrt(np.asarray(weighed.multiply(weighed).sum(axis=1)).ravel())
            out.append((sparse.diags(1 / np.where(norms > 0, norms, 1)) @ weighed).tocsr())
        out.append(sparse.csr_matrix((bags.dense[rows] - self.mean) * self.scale))
        out.append(sparse.csr_matrix(bags.vector[rows]))
        return out


@dataclass(frozen=True)
class Linear:
    """A fitted linear layer.

    Attributes:
        weights: per part, shape (features, kinds).
        bias: shape (kinds,).
    """

    weights: list[Floats]
    bias: Floats

    @classmethod
    def fit(cls, parts: Sequence[Any], kinds: Rows, weight: Floats) -> Linear:
        """Fit one squared-hinge machine per kind against the rest."""
        from scipy import sparse
        from sklearn.svm import LinearSVC

        model = LinearSVC(C=COST, random_state=0).fit(sparse.hstack(parts).tocsr(), kinds, sample_weight=weight)
        ends = np.cumsum([p.shape[1] for p in parts])[:-1]
        return cls(np.split(model.coef_.T, ends), model.intercept_)

    def scores(self, parts: Sequence[Any]) -> Floats:
        """Return the score by part, shape (n, parts, kinds)."""
        rows = [np.asarray(p @ w) for p, w in zip(parts, self.weights, strict=True)]
        return np.stack(rows, axis=1) + self.bias / len(rows)


def blocks(bags: Bags, design: Design, layers: Sequence[Linear]) -> dict[str, Block]:
    """Return the stored form of the n-gram weights, the layers' kinds side by side."""
    out = {}
    for i, name in enumerate(BLOCKS):
        weights = np.hstack([layer.weights[i] for layer in layers]).astype(np.float32)
        out[name] = Block(bags.keys[name][design.columns[name]], design.idf[name].astype(np.float32), weights)
    return out
