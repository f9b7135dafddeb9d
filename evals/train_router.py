"""Train the small router head: `ragweave train router --data router.jsonl`.

One linear layer over `models/router_features.py`, fitted as a support vector machine; the same data and versions give
the same weights.
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
from ragweave.evals.runner import Row, Runner
from ragweave.evals.templates import Template
from ragweave.models.errors import InputError
from ragweave.models.router import RouterHead
from ragweave.models.router_features import CUES, features
from ragweave.models.text import words

logger = logging.getLogger(__name__)

TEMPLATE_WEIGHT = 1.5
"""Weight of a template question beside a public one, as the penalty chosen on the folds, each source left out in turn
and the probe set together (docs/results.md)."""
COST = 0.5
"""Inverse strength of the penalty."""
SHARPNESS = 3.3
"""What margins are multiplied with before the softmax: where the folds of the public split are likeliest."""
LEAST_ROWS = 60
"""Distinct public questions below which folds mean nothing."""

Rows = NDArray[np.int64]
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Corpus:
    """Training questions of both origins, public ones first.

    The rows are sparse features. Near-duplicates, and questions of one template pattern, share a group; the source of a
    template is "".
    """

    texts: list[str]
    rows: Any
    labels: Rows
    groups: Rows
    sources: NDArray[np.str_]
    public: int
    names: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[RoutedQuestion], templates: Sequence[Template], names: Sequence[str]) -> Corpus:
        """Put public rows and template questions together.

        Raises:
            InputError: there are too few public rows, or all have one label.
        """
        from scipy import sparse

        if len({r.label for r in rows}) < 2:
            raise InputError("the training file has rows of one label only", "give rows of at least two labels")
        near = groups([r.query for r in rows])
        distinct = len(np.unique(near))
        if distinct < LEAST_ROWS:
            raise InputError(
                f"{distinct} questions, near-duplicates counted once, are too few to train on",
                f"give at least {LEAST_ROWS}",
            )
        texts = [*(r.query for r in rows), *(t.query for t in templates)]
        labels = [*(r.label for r in rows), *(t.label for t in templates)]
        return cls(
            texts,
            sparse.vstack([sparse.csr_matrix(features(texts[i : i + 256])) for i in range(0, len(texts), 256)], "csr"),
            np.array([names.index(label) for label in labels], dtype=np.int64),
            np.concatenate([near, len(rows) + np.array([t.pattern for t in templates], dtype=np.int64)]),
            np.array([*(r.source for r in rows), *("" for _ in templates)]),
            len(rows),
            tuple(names),
        )

    def without(self, held_out: Rows) -> Rows:
        """Return all rows but those."""
        return np.setdiff1d(np.arange(len(self.texts), dtype=np.int64), held_out)


def fit(corpus: Corpus, rows: Rows | None = None) -> RouterHead:
    """Fit a head on the given rows of a corpus, or on all."""
    from sklearn.svm import LinearSVC

    rows = corpus.without(np.zeros(0, dtype=np.int64)) if rows is None else rows
    weight = np.where(rows < corpus.public, 1.0, TEMPLATE_WEIGHT)
    model = LinearSVC(C=COST, tol=1e-3, random_state=0).fit(corpus.rows[rows], corpus.labels[rows], weight)
    margins, middle = SHARPNESS * model.coef_.T, SHARPNESS * model.intercept_
    if len(model.classes_) == 2:  # one margin stands for both
        margins, middle = np.hstack([-margins, margins]), np.hstack([-middle, middle])
    # A label that no row has keeps a score that no question reaches.
    weights, bias = np.zeros((corpus.rows.shape[1], len(corpus.names))), np.full(len(corpus.names), -30.0)
    weights[:, model.classes_], bias[model.classes_] = margins, middle
    found = weights.astype(np.float16).astype(np.float32), bias.astype(np.float32)
    return RouterHead(corpus.names, *found, np.unique(_hashes([corpus.texts[i] for i in rows])))


def save(head: RouterHead, path: Path) -> None:
    """Write a head as a compressed npz without pickled objects, weights in half precision."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half, labels = head.weights.astype(np.float16), np.array(head.labels)
    np.savez_compressed(path, weights=half, labels=labels, cues=np.array(CUES), bias=head.bias, seen=head.seen)


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
    folds = [test.astype(np.int64) for _, test in splitter.split(np.zeros(len(rows)), labels, near) if len(test)]

    async def one(test: Rows) -> Row:
        p = fit(corpus, corpus.without(test)).probabilities([rows[j].query for j in test])
        progress(f"{len(test)} held-out questions, accuracy {(p.argmax(axis=1) == labels[test]).mean():.3f}")
        return {"rows": test.tolist(), "probabilities": [dict(zip(names, row, strict=True)) for row in p.tolist()]}

    of = {"rows": [(r.query, r.label) for r in rows], "templates": [str(t) for t in templates], "seed": seed}
    units = {str(i): fold for i, fold in enumerate(folds, 1)}
    done = await (runner or Runner()).each("folds", units, one, of)
    found = {j: p for fold in done for j, p in zip(fold["rows"], fold["probabilities"], strict=True)}
    return [found[j] for j in range(len(rows))]


def leave_one_source_out(corpus: Corpus, progress: Progress = logger.info) -> dict[str, float]:
    """Return the accuracy on each source by a head that saw no row of it, and over all their questions (`all`)."""
    out, right = {}, np.zeros(corpus.public)
    for source in np.unique(corpus.sources[: corpus.public]).tolist():
        own = np.flatnonzero(corpus.sources[: corpus.public] == source)
        p = fit(corpus, corpus.without(own)).probabilities([corpus.texts[i] for i in own])
        right[own] = p.argmax(axis=1) == corpus.labels[own]
        out[source] = float(right[own].mean())
        progress(f"without {source}: {out[source]:.3f}")
    return {**out, "mean of sources": float(np.mean([*out.values()])), "all questions": float(right.mean())}
