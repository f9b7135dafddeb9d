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
from ragweave.evals.router_gate import likeliest_gate
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
        queries, labels, sources = list[str](), list[str](), list[str]()
        for row in rows:
            queries.append(row.query)
            labels.append(row.label)
            sources.append(row.source)
        if len(set(labels)) < 2:
            raise InputError(
                "the training file has rows of one label only", "give rows of at least two labels"
            )
        near = groups(queries)
        distinct = len(np.unique(near))
        if distinct < LEAST_ROWS:
            raise InputError(
                f"{distinct} questions, near-duplicates counted once, are too few to train on",
                f"give at least {LEAST_ROWS}",
            )
        for template in templates:
            queries.append(template.query)
            labels.append(template.label)
            sources.append("")
        patterns = np.array([t.pattern for t in templates], dtype=np.int64)
        found = read(queries)
        return cls(
            queries,
            found,
            _likeness(found),
            np.array([names.index(label) for label in labels], dtype=np.int64),
            np.concatenate([near, len(rows) + patterns]),
            np.array(sources),
            len(rows),
            tuple(names),
        )

    def texts_of(self, rows: Rows) -> list[str]:
        """Return the texts of some rows."""
        return [self.texts[i] for i in rows]

    def without(self, held_out: Rows) -> Rows:
        """Return all rows but those."""
        return np.setdiff1d(np.arange(len(self.texts), dtype=np.int64), held_out)


def _likeness(found: QuestionFeatures) -> dict[str, Array]:
    """Return the joint likeness of all questions, and that of each gated kind."""
    kinds: dict[str, Array] = {}
    for name, bags in found.bags.items():
        kinds[name] = _cosines(bags, PLACES[name])
    kinds["vector"] = found.vectors @ found.vectors.T
    out = {"joint": joined(kinds)}
    for name in GATED:
        out[name] = kinds[name]
    return out


def _cosines(bags: Sequence[Rows], places: int) -> Array:
    from scipy import sparse

    lengths = np.array(list(map(len, bags)), dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    values = np.repeat(1 / np.maximum(1, lengths) ** 0.5, lengths).astype(np.float32)
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
    starts, places = dict[str, Rows](), dict[str, NDArray[np.uint16]]()
    lengths = {}
    for name, bags in corpus.read.bags.items():
        own = [bags[i] for i in rows]
        flat = np.concatenate(own)
        order = np.argsort(flat, kind="stable")
        places[name] = np.repeat(np.arange(len(rows)), list(map(len, own)))[order].astype(np.uint16)
        starts[name] = np.searchsorted(flat[order], np.arange(PLACES[name] + 1))
        lengths[name] = lengths_of(places[name], len(rows))
    seen = np.unique(_hashes(corpus.texts_of(rows)))
    vectors = corpus.read.vectors[rows]
    return RouterHead(corpus.names, len(public), starts, places, lengths, vectors, weights, gate, seen)


class _GateData:
    """Collects what `likeliest_gate` takes, from held-out questions of a public and a written machine."""

    def __init__(self, corpus: Corpus, known: _Machine, carries: _Machine) -> None:
        self._corpus, self._known, self._carries = corpus, known, carries
        self._as_written = carries.margins(known.rows)
        self.features, self.either, self.weights = list[Array](), list[Array](), list[Array]()

    def hold_out(self, machine: _Machine, parts: Rows, weight: Array) -> None:
        """Hold out each part of a machine's rows in turn.

        Args:
            machine: the public or the written machine.
            parts: the part of each of its rows.
            weight: the weight of each of its rows.
        """
        for part in np.unique(parts):
            held, others = np.flatnonzero(parts == part), np.flatnonzero(parts != part)
            if len(others):
                self._add(machine, held, others)
                self.weights.append(weight[held])

    def _add(self, machine: _Machine, held: Rows, others: Rows) -> None:
        public, written = self._known.rows, self._carries.rows
        rows, own = machine.rows[held], machine.held_out(held)
        if machine is self._known:
            from_public, from_written = own, self._as_written[held]
            public = public[others]
        else:
            from_public, from_written = self._known.margins(rows), own
            written = written[others]
        likeness = self._corpus.likeness
        near = [likeness[name][np.ix_(rows, public)] for name in ("joint", *GATED)]
        templates = likeness["joint"][np.ix_(rows, written)]
        self.features.append(gate_features(near, templates, from_public, from_written))
        gold = np.arange(len(rows)), self._corpus.labels[rows]
        by_public = softmax(SHARP_PUBLIC * from_public)[gold]
        by_written = softmax(SHARP_WRITTEN * from_written)[gold]
        self.either.append(np.stack([by_public, by_written], axis=1))


def _gate(corpus: Corpus, known: _Machine, carries: _Machine) -> NDArray[np.float64]:
    """Fit the gate to questions of known data sets, of unknown ones, and of held-out templates."""
    public, written = known.rows, carries.rows
    part, pattern = corpus.groups[public] % PARTS, corpus.groups[written] % PATTERN_PARTS
    _, source = np.unique(corpus.sources[public], return_inverse=True)
    data = _GateData(corpus, known, carries)
    data.hold_out(known, part, np.full(len(public), 1 / len(public)))
    if source.max() > 0:
        each = 1 / np.bincount(source)[source]
        data.hold_out(known, source, each / each.sum())
    data.hold_out(carries, pattern, np.full(len(written), TEMPLATES_SHARE / len(written)))
    features, either = np.concatenate(data.features), np.concatenate(data.either)
    return likeliest_gate(features, either, np.concatenate(data.weights))


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
    }
    for name, starts in head.starts.items():
        arrays[f"starts_{name}"] = starts.astype(np.uint32)
    for name, rows in head.rows.items():
        arrays[f"rows_{name}"] = rows
    np.savez_compressed(path, **arrays)


def overlap(head: RouterHead, texts: Sequence[str]) -> int:
    """Return how many of the questions the head was trained on, by their words."""
    return int(np.isin(_hashes(texts), head.seen).sum())


def _hashes(texts: Sequence[str]) -> NDArray[np.uint32]:
    hashes = []
    for text in texts:
        digest = hashlib.sha256(" ".join(words(text)).encode("utf-8", "replace")).digest()
        hashes.append(int.from_bytes(digest[:4], "big"))
    return np.array(hashes, dtype=np.uint32)


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
    corpus = Corpus.of(rows, templates, names)
    labels = corpus.labels[: corpus.public]
    folds = _folds(corpus, number, seed)

    async def one(test: Rows) -> Row:
        p = fit(corpus, corpus.without(test)).probabilities(corpus.texts_of(test))
        progress(f"{len(test)} held-out questions, accuracy {(p.argmax(axis=1) == labels[test]).mean():.3f}")
        by_label = [dict(zip(names, row, strict=True)) for row in p.tolist()]
        return {"rows": test.tolist(), "probabilities": by_label}

    pairs = [(r.query, r.label) for r in rows]
    of = {"rows": pairs, "templates": list(map(str, templates)), "seed": seed}
    units = {}
    for number_of_fold, fold in enumerate(folds, 1):
        units[str(number_of_fold)] = fold
    done = await (runner or Runner()).each("folds", units, one, of)
    found: list[dict[str, float]] = [{}] * len(rows)
    for result in done:
        for row, probabilities in zip(result["rows"], result["probabilities"], strict=True):
            found[row] = probabilities
    return found


def _folds(corpus: Corpus, number: int, seed: int) -> list[Rows]:
    """Return the test rows of each fold of the public questions; near-duplicates share a fold."""
    from sklearn.model_selection import StratifiedGroupKFold

    labels, near = corpus.labels[: corpus.public], corpus.groups[: corpus.public]
    most = 0
    for label in np.unique(labels):
        most = max(most, len(np.unique(near[labels == label])))
    if not 2 <= number <= most:
        raise InputError(f"{corpus.public} rows cannot be cut into {number} folds", f"give 2 to {most}")
    splitter = StratifiedGroupKFold(number, shuffle=True, random_state=seed)
    folds = []
    for _, test in splitter.split(np.zeros(corpus.public), labels, near):
        if len(test):
            folds.append(test.astype(np.int64))
    return folds


def leave_one_source_out(corpus: Corpus, progress: Progress = logger.info) -> dict[str, tuple[float, float]]:
    """Return accuracy and calibration error by source, for heads that saw no row of it, and over all."""
    out, right, sure = dict[str, tuple[float, float]](), np.zeros(corpus.public), np.zeros(corpus.public)
    for source in np.unique(corpus.sources[: corpus.public]).tolist():
        own = np.flatnonzero(corpus.sources[: corpus.public] == source)
        p = fit(corpus, corpus.without(own)).probabilities(corpus.texts_of(own))
        right[own], sure[own] = p.argmax(axis=1) == corpus.labels[own], p.max(axis=1)
        out[source] = float(right[own].mean()), ece(sure[own].tolist(), (right[own] > 0).tolist())
        progress(f"without {source}: {out[source][0]:.3f}")
    means = np.mean([*out.values()], axis=0).tolist()
    out["mean of sources"] = means[0], means[1]
    out["all questions"] = float(right.mean()), ece(sure.tolist(), (right > 0).tolist())
    return out
