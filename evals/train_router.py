"""Train the small router head: `ragweave train router --data router.jsonl`.

Two kernel machines, fitted as ridge regression, and the gate between them (`models/router.py`). The gate
learns from public questions as they come, their near-duplicates held out; from the same ones as if their data
set were unknown; and from templates whose pattern is held out. The same data and versions give the same
weights.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.evals.data import RoutedQuestion, groups
from ragweave.evals.metrics import ece
from ragweave.evals.runner import Row, Runner
from ragweave.evals.templates import Template
from ragweave.models.errors import InputError
from ragweave.models.router import (
    GATED,
    SHARP_PUBLIC,
    SHARP_WRITTEN,
    Array,
    RouterHead,
    gate_features,
    joined,
    kernel,
    lengths_of,
    softmax,
)
from ragweave.models.router_features import PLACES, QuestionFeatures, read
from ragweave.models.text import words

logger = logging.getLogger(__name__)

RIDGE = 0.1
"""Addition to the diagonal of the kernel."""
PARTS, PATTERN_PARTS = 5, 4
"""Parts of the public questions and of the patterns that are held out in turn for the gate."""
TEMPLATES_SHARE = 0.3
"""Weight of the held-out templates for the gate; known and unknown data sets weigh 1 each."""
LEAST_ROWS = 60
"""Distinct public questions below which folds mean nothing."""

Rows = NDArray[np.int64]
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Corpus:
    """Training questions of both origins, public ones first.

    Near-duplicates, and questions of one template pattern, share a group; the source of a template is "".
    """

    texts: list[str]
    read: QuestionFeatures
    likeness: dict[str, Array]
    """Of each kind, and "joint": float32, (questions, questions)."""
    labels: Rows
    groups: Rows
    sources: NDArray[np.str_]
    public: int
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, rows: Sequence[RoutedQuestion], templates: Sequence[Template], names: Sequence[str]
    ) -> Corpus:
        """Put public rows and template questions together.

        Raises:
            InputError: there are too few public rows, or all have one label.
        """
        if len({r.label for r in rows}) < 2:
            raise InputError(
                "the training file has rows of one label only", "give rows of at least two labels"
            )
        near = groups([r.query for r in rows])
        distinct = len(np.unique(near))
        if distinct < LEAST_ROWS:
            raise InputError(
                f"{distinct} questions, near-duplicates counted once, are too few to train on",
                f"give at least {LEAST_ROWS}",
            )
        texts = [*(r.query for r in rows), *(t.query for t in templates)]
        labels = [*(r.label for r in rows), *(t.label for t in templates)]
        found = read(texts)
        likeness = {name: _cosines(bags, PLACES[name]) for name, bags in found.bags.items()}
        likeness["vector"] = found.vectors @ found.vectors.T
        return cls(
            texts,
            found,
            {"joint": joined(likeness), **{name: likeness[name] for name in GATED}},
            np.array([names.index(label) for label in labels], dtype=np.int64),
            np.concatenate([near, len(rows) + np.array([t.pattern for t in templates], dtype=np.int64)]),
            np.array([*(r.source for r in rows), *("" for _ in templates)]),
            len(rows),
            tuple(names),
        )

    def without(self, held_out: Rows) -> Rows:
        """Return all rows but those."""
        return np.setdiff1d(np.arange(len(self.texts), dtype=np.int64), held_out)


def _cosines(bags: Sequence[Rows], places: int) -> Array:
    from scipy import sparse

    starts = np.cumsum([0, *map(len, bags)])
    values = np.repeat([1 / max(1, len(b)) ** 0.5 for b in bags], [len(b) for b in bags]).astype(np.float32)
    rows = sparse.csr_matrix((values, np.concatenate(bags), starts), shape=(len(bags), places))
    return np.asarray((rows @ rows.T).todense(), dtype=np.float32)


class _Machine:
    """A kernel machine of some rows of a corpus."""

    def __init__(self, corpus: Corpus, rows: Rows) -> None:
        self.rows, self._corpus = rows, corpus
        self._wanted = np.eye(len(corpus.names))[corpus.labels[rows]] - 1 / len(corpus.names)
        near = kernel(corpus.likeness["joint"][np.ix_(rows, rows)]).astype(np.float64)
        self._inverse = np.linalg.inv(near + RIDGE * np.eye(len(rows)))
        self.weights = (self._inverse @ self._wanted).astype(np.float32)

    def margins(self, asked: Rows) -> Array:
        """Return the margins of rows that it was not fitted on."""
        return kernel(self._corpus.likeness["joint"][np.ix_(asked, self.rows)]) @ self.weights

    def held_out(self, places: Rows) -> Array:
        """Return the margins of some of its own rows, as fitted without them, in closed form."""
        part = self._inverse[np.ix_(places, places)]
        return np.asarray(self._wanted[places] - np.linalg.solve(part, self.weights[places]))


def fit(corpus: Corpus, rows: Rows | None = None) -> RouterHead:
    """Fit a head on the given rows of a corpus, or on all."""
    rows = corpus.without(np.zeros(0, dtype=np.int64)) if rows is None else rows
    public, written = rows[rows < corpus.public], rows[rows >= corpus.public]
    known = _Machine(corpus, public)
    weights, gate = known.weights, np.zeros(0)
    if len(written):
        carries = _Machine(corpus, written)
        weights, gate = np.concatenate([weights, carries.weights]), _gate(corpus, known, carries)
    bags = {name: [of[i] for i in rows] for name, of in corpus.read.bags.items()}
    starts, places = dict[str, Rows](), dict[str, NDArray[np.uint16]]()
    for name, of in bags.items():
        flat = np.concatenate(of)
        order = np.argsort(flat, kind="stable")
        places[name] = np.repeat(np.arange(len(rows)), [len(b) for b in of])[order].astype(np.uint16)
        starts[name] = np.searchsorted(flat[order], np.arange(PLACES[name] + 1))
    lengths = {name: lengths_of(of, len(rows)) for name, of in places.items()}
    seen = np.unique(_hashes([corpus.texts[i] for i in rows]))
    vectors = corpus.read.vectors[rows]
    return RouterHead(corpus.names, len(public), starts, places, lengths, vectors, weights, gate, seen)


def _gate(corpus: Corpus, known: _Machine, carries: _Machine) -> NDArray[np.float64]:
    """Fit the gate to questions of known data sets, of unknown ones, and of held-out templates."""
    public, written = known.rows, carries.rows
    part, pattern = corpus.groups[public] % PARTS, corpus.groups[written] % PATTERN_PARTS
    _, source = np.unique(corpus.sources[public], return_inverse=True)
    as_written = carries.margins(public)
    cases = [(public, known, part, as_written, np.full(len(public), 1 / len(public)))]
    if source.max() > 0:
        each = 1 / np.bincount(source)[source]
        cases.append((public, known, source, as_written, each / each.sum()))
    cases.append(
        (written, carries, pattern, as_written, np.full(len(written), TEMPLATES_SHARE / len(written)))
    )
    features, mixed, weight = list[Array](), list[Array](), list[Array]()
    for rows, machine, of, margins, each in cases:
        for value in np.unique(of):
            held, others = np.flatnonzero(of == value), np.flatnonzero(of != value)
            if not len(others):
                continue
            asked, own = rows[held], machine.held_out(held)
            from_public = own if machine is known else known.margins(asked)
            from_written = margins[held] if machine is known else own
            left = [public[others], written] if machine is known else [public, written[others]]
            near = [corpus.likeness[name][np.ix_(asked, left[0])] for name in ("joint", *GATED)]
            templates = corpus.likeness["joint"][np.ix_(asked, left[1])]
            features.append(gate_features(near, templates, from_public, from_written))
            right = np.arange(len(asked)), corpus.labels[asked]
            mixed.append(
                np.stack(
                    [
                        softmax(SHARP_PUBLIC * from_public)[right],
                        softmax(SHARP_WRITTEN * from_written)[right],
                    ],
                    axis=1,
                )
            )
            weight.append(each[held])
    return likeliest_gate(np.concatenate(features), np.concatenate(mixed), np.concatenate(weight))


def likeliest_gate(features: Array, either: Array, weight: Array) -> NDArray[np.float64]:
    """Return the gate under which the gold labels are likeliest.

    Args:
        features: what the gate reads, (questions, features).
        either: probability of the gold label by the first and by the second machine, (questions, 2).
        weight: of each question.
    """
    from scipy.optimize import minimize

    middle, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    x = (features - middle) / spread
    first, second = either.T + 1e-6

    def loss(w: Array) -> tuple[float, Array]:
        share = 1 / (1 + np.exp(-(x @ w[:-1] + w[-1])))
        p = share * first + (1 - share) * second
        slope = -weight * (first - second) * share * (1 - share) / p
        penalty = 1e-3 * np.append(w[:-1], 0)
        return (
            float(-weight @ np.log(p) + 1e-3 * w[:-1] @ w[:-1]),
            np.append(x.T @ slope, slope.sum()) + 2 * penalty,
        )

    w = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return np.append(w[:-1] / spread, w[-1] - (w[:-1] * middle / spread).sum())


def save(head: RouterHead, path: Path) -> None:
    """Write a head as a compressed npz without pickled objects: 8-bit vectors and 16-bit weights."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scale = 127 / max(1e-6, float(np.abs(head.vectors).max()))
    arrays: dict[str, Any] = {
        "labels": np.array(head.labels),
        "public": np.array(head.public),
        "vectors": np.round(head.vectors * scale).astype(np.int8),
        "scale": np.array(scale),
        "weights": head.weights.astype(np.float16),
        "gate": head.gate,
        "seen": head.seen,
        **{f"starts_{name}": of.astype(np.uint32) for name, of in head.starts.items()},
        **{f"rows_{name}": of for name, of in head.rows.items()},
    }
    np.savez_compressed(path, **arrays)


def overlap(head: RouterHead, texts: Sequence[str]) -> int:
    """Return how many of the questions the head was trained on, by their words."""
    return int(np.isin(_hashes(texts), head.seen).sum())


def _hashes(texts: Sequence[str]) -> NDArray[np.uint32]:
    digests = (hashlib.sha256(" ".join(words(t)).encode("utf-8", "replace")).digest()[:4] for t in texts)
    return np.array([int.from_bytes(d, "big") for d in digests], dtype=np.uint32)


async def cross_validate(
    rows: Sequence[RoutedQuestion],
    templates: Sequence[Template],
    names: Sequence[str],
    number: int = 5,
    seed: int = 0,
    progress: Progress = logger.info,
    runner: Runner | None = None,
) -> list[dict[str, float]]:
    """Return label probabilities for each public row by a head that saw neither it nor its near-duplicates.

    Folds are stratified by label; the templates are in every training part.

    Raises:
        InputError: as `Corpus.of`, or so many folds cannot be made.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    corpus = Corpus.of(rows, templates, names)
    labels, near = corpus.labels[: corpus.public], corpus.groups[: corpus.public]
    most = max(len(np.unique(near[labels == label])) for label in np.unique(labels))
    if not 2 <= number <= most:
        raise InputError(f"{len(rows)} rows cannot be cut into {number} folds", f"give 2 to {most}")
    splitter = StratifiedGroupKFold(number, shuffle=True, random_state=seed)
    folds = [
        test.astype(np.int64) for _, test in splitter.split(np.zeros(len(rows)), labels, near) if len(test)
    ]

    async def one(test: Rows) -> Row:
        p = fit(corpus, corpus.without(test)).probabilities([rows[j].query for j in test])
        progress(f"{len(test)} held-out questions, accuracy {(p.argmax(axis=1) == labels[test]).mean():.3f}")
        return {
            "rows": test.tolist(),
            "probabilities": [dict(zip(names, row, strict=True)) for row in p.tolist()],
        }

    of = {"rows": [(r.query, r.label) for r in rows], "templates": [str(t) for t in templates], "seed": seed}
    units = {str(i): fold for i, fold in enumerate(folds, 1)}
    done = await (runner or Runner()).each("folds", units, one, of)
    found = {j: p for fold in done for j, p in zip(fold["rows"], fold["probabilities"], strict=True)}
    return [found[j] for j in range(len(rows))]


def leave_one_source_out(corpus: Corpus, progress: Progress = logger.info) -> dict[str, tuple[float, float]]:
    """Return accuracy and calibration error by source, for heads that saw no row of it, and over all."""
    out, right, sure = dict[str, tuple[float, float]](), np.zeros(corpus.public), np.zeros(corpus.public)
    for source in np.unique(corpus.sources[: corpus.public]).tolist():
        own = np.flatnonzero(corpus.sources[: corpus.public] == source)
        p = fit(corpus, corpus.without(own)).probabilities([corpus.texts[i] for i in own])
        right[own], sure[own] = p.argmax(axis=1) == corpus.labels[own], p.max(axis=1)
        out[source] = float(right[own].mean()), ece(sure[own].tolist(), (right[own] > 0).tolist())
        progress(f"without {source}: {out[source][0]:.3f}")
    means = np.mean([*out.values()], axis=0).tolist()
    out["mean of sources"] = means[0], means[1]
    out["all questions"] = float(right.mean()), ece(sure.tolist(), (right > 0).tolist())
    return out
