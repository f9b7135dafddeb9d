"""Train the small router head: `ragweave train router --data router.jsonl`, or `python -m ragweave.evals.train_router`.

Fixed seeds and single-threaded learners: the same data and package versions give the same weights.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.evals.data import Routed, groups
from ragweave.evals.router_design import Bags, Design, Floats, Linear, Rows, blocks
from ragweave.evals.runner import Row, Runner
from ragweave.evals.templates import Template
from ragweave.models.errors import InputError
from ragweave.models.router_features import WordClasses, content_words, embed, featurise
from ragweave.models.router_head import Expert, Head, calibrated, mix, stack
from ragweave.models.text import words
from ragweave.models.trees import Trees

logger = logging.getLogger(__name__)

CLASSES = 200
"""Word classes."""
FOLDS = 5
"""Inner folds whose held-out scores the trees learn from."""
TEMPLATE_WEIGHT = 0.5
"""Weight of a template question beside a public one."""
RARE_WEIGHT = 2.0
"""Extra weight of the rows of `none`, of which the public sets have few."""
RARE_WEIGHT_TREES = 3.0
"""The same for the trees."""
LEAST_ROWS = 60
"""Distinct public questions below which inner folds mean nothing."""
BOOSTER: dict[str, Any] = {
    "objective": "multiclass",
    "num_leaves": 8,
    "learning_rate": 0.05,
    "min_data_in_leaf": 20,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "seed": 0,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}
ROUNDS = 120

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Corpus:
    """Training questions of both origins, public ones first.

    Attributes:
        texts: the questions.
        labels: index of each question's label.
        kinds: index of each question's kind: its public source and label, or its label among the template questions.
        public: how many are public.
        groups: near-duplicates, and questions of one template pattern, share a number.
        names: label names.
        home_kinds: number of public kinds.
    """

    texts: list[str]
    labels: Rows
    kinds: Rows
    public: int
    groups: Rows
    names: tuple[str, ...]
    home_kinds: int

    @classmethod
    def of(cls, rows: Sequence[Routed], templates: Sequence[Template], names: Sequence[str]) -> Corpus:
        """Put public rows and template questions together.

        Raises:
            InputError: there are too few public rows, or all have one label.
        """
        if len({r.label for r in rows}) < 2:
            raise InputError("the training file has rows of one label only", "give rows of at least two labels")
        public = sorted({(r.source, r.label) for r in rows})
        kinds = [public.index((r.source, r.label)) for r in rows]
        kinds += [len(public) + names.index(t.label) for t in templates]
        labels = [*(r.label for r in rows), *(t.label for t in templates)]
        near = groups([r.query for r in rows])
        distinct = len(np.unique(near))
        if distinct < LEAST_ROWS:
            raise InputError(
                f"{distinct} questions, near-duplicates counted once, are too few to train on",
                f"give at least {LEAST_ROWS}",
            )
        return cls(
            [r.query for r in rows] + [t.query for t in templates],
            np.array([names.index(label) for label in labels], dtype=np.int64),
            np.array(kinds, dtype=np.int64),
            len(rows),
            np.concatenate([near, len(rows) + np.array([t.pattern for t in templates], dtype=np.int64)]),
            tuple(names),
            len(public),
        )

    def weights(self, rare: float, templates: float = TEMPLATE_WEIGHT) -> Floats:
        """Return a weight per question."""
        home = np.arange(len(self.texts)) < self.public
        none = self.labels == (self.names.index("none") if "none" in self.names else -1)
        return np.where(home, np.where(none, rare, 1.0), templates)


def word_classes(texts: Sequence[str], number: int = CLASSES) -> WordClasses:
    """Cluster the embeddings of the words that occur."""
    from sklearn.cluster import KMeans

    vocabulary = sorted({w for t in texts for w in content_words(t)})
    found = KMeans(min(number, len(vocabulary)), n_init=1, random_state=0, max_iter=50).fit(embed(vocabulary))
    # Half precision here as in the file, so that training and inference agree on the classes.
    return WordClasses(found.cluster_centers_.astype(np.float16).astype(np.float32))


@dataclass(frozen=True)
class Layers:
    """Both linear layers on one design."""

    design: Design
    home: Linear
    wide: Linear

    @classmethod
    def fit(cls, corpus: Corpus, bags: Bags, rows: Rows) -> Layers:
        """Fit on the given rows: home on the public ones among them, wide on all."""
        weight = corpus.weights(RARE_WEIGHT)
        design = Design.fit(bags, rows)
        at_home = rows[rows < corpus.public]
        home = Linear.fit(design.parts(bags, at_home), corpus.kinds[at_home], weight[at_home])
        wide = Linear.fit(design.parts(bags, rows), corpus.kinds[rows], weight[rows])
        return cls(design, home, wide)

    def scores(self, bags: Bags, rows: Rows) -> Floats:
        """Return the scores of home and wide kinds by part, shape (n, parts, kinds)."""
        parts = self.design.parts(bags, rows)
        return np.concatenate([self.home.scores(parts), self.wide.scores(parts)], axis=2)


def folds(labels: Rows, group: Rows, number: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Return (train, test) rows of folds stratified by label that keep groups together."""
    from sklearn.model_selection import StratifiedGroupKFold

    splitter = StratifiedGroupKFold(number, shuffle=True, random_state=seed)
    return [(a.astype(np.int64), b.astype(np.int64)) for a, b in splitter.split(np.zeros(len(labels)), labels, group)]


def fit(corpus: Corpus, progress: Progress = logger.info) -> Head:
    """Fit a head.

    Linear layers first; their held-out scores over inner folds are what the trees learn from; the experts' held-out
    probabilities over folds of the trees are what the calibration learns from.

    Args:
        corpus: the training questions.
        progress: called with a line per stage.
    """
    every = np.arange(len(corpus.texts), dtype=np.int64)
    classes = word_classes(corpus.texts)
    features = [featurise(t, classes) for t in corpus.texts]
    bags = Bags(features)
    progress(f"{corpus.public} public and {len(every) - corpus.public} template questions, {len(corpus.names)} labels")
    inner = folds(corpus.kinds, corpus.groups, FOLDS, seed=1)
    held: Floats | None = None
    for i, (train, test) in enumerate(inner, 1):
        scores = Layers.fit(corpus, bags, train).scores(bags, test)
        held = np.zeros((len(every), *scores.shape[1:])) if held is None else held
        held[test] = scores
        progress(f"linear layers, fold {i} of {FOLDS}")
    assert held is not None
    layers = Layers.fit(corpus, bags, every)
    p = np.zeros((len(every), len(corpus.names)))
    for train, test in folds(corpus.kinds, corpus.groups, FOLDS, seed=2):
        home, wide = _experts(corpus, held, bags.dense, train)
        p[test] = mix(held[test], bags.dense[test], home, wide, corpus.home_kinds, len(corpus.names))
    slope, shift = calibrate(p, corpus.labels, corpus.weights(1.0))
    home, wide = _experts(corpus, held, bags.dense, every)
    progress("trees and calibration")
    return Head(
        labels=corpus.names,
        home_kinds=corpus.home_kinds,
        classes=classes,
        blocks=blocks(bags, layers.design, (layers.home, layers.wide)),
        dense=_side_by_side(layers, -2),
        vector=_side_by_side(layers, -1),
        mean=layers.design.mean,
        scale=layers.design.scale,
        bias=np.concatenate([layers.home.bias, layers.wide.bias]).astype(np.float32),
        home=home,
        wide=wide,
        slope=slope,
        shift=shift,
        seen=seen(corpus.texts),
        card={
            "public": corpus.public,
            "templates": len(every) - corpus.public,
            "questions_sha256": hashlib.sha256("\n".join(corpus.texts).encode()).hexdigest(),
        },
    )


def _side_by_side(layers: Layers, part: int) -> NDArray[np.float32]:
    return np.hstack([layers.home.weights[part], layers.wide.weights[part]]).astype(np.float32)


def _experts(corpus: Corpus, held: Floats, dense: NDArray[np.float32], rows: Rows) -> tuple[Expert, Expert]:
    """Fit the trees of both experts; the wide one tells public from own questions of each label apart."""
    weight = corpus.weights(RARE_WEIGHT_TREES)
    count = len(corpus.names)
    at_home = rows[rows < corpus.public]
    near, far = held[:, :, : corpus.home_kinds], held[:, :, corpus.home_kinds :]
    home = _boost(stack(near[at_home], dense[at_home]), corpus.labels[at_home], weight[at_home], count)
    origin = np.where(rows < corpus.public, 0, count)
    wide = _boost(stack(far[rows], dense[rows]), corpus.labels[rows] + origin, weight[rows], 2 * count)
    return home, wide


def _boost(rows: Floats, targets: Rows, weight: Floats, classes: int) -> Expert:
    import lightgbm

    data = lightgbm.Dataset(rows, label=targets, weight=weight)
    booster = lightgbm.train({**BOOSTER, "num_class": classes}, data, ROUNDS)
    return Expert(Trees.from_dump(booster.dump_model()), classes)


def calibrate(p: Floats, labels: Rows, weight: Floats) -> tuple[float, NDArray[np.float32]]:
    """Return the slope and the shift per label that minimise the weighted log loss of held-out probabilities."""
    from scipy.optimize import minimize

    rows = np.arange(len(labels))

    def loss(x: Floats) -> float:
        q = calibrated(p, float(x[0]), x[1:].astype(np.float32))
        return float(-(weight * np.log(q[rows, labels] + 1e-12)).sum() / weight.sum() + 0.01 * (x[1:] ** 2).sum())

    found = minimize(loss, np.concatenate([[1.0], np.zeros(p.shape[1])]), method="Powell", options={"maxiter": 20_000})
    return float(found.x[0]), (found.x[1:] - found.x[1:].mean()).astype(np.float32)


def seen(texts: Sequence[str]) -> NDArray[np.uint32]:
    """Return the sorted distinct hashes of questions, by their words."""
    return np.unique(_hashes(texts))


def overlap(head: Head, texts: Sequence[str]) -> int:
    """Return how many of the questions the head was trained on, by their words."""
    return int(np.isin(_hashes(texts), head.seen).sum())


def _hashes(texts: Sequence[str]) -> NDArray[np.uint32]:
    digests = (hashlib.sha256(" ".join(words(t)).encode("utf-8", "replace")).digest()[:4] for t in texts)
    return np.array([int.from_bytes(d, "big") for d in digests], dtype=np.uint32)


async def cross_validate(
    rows: Sequence[Routed],
    templates: Sequence[Template],
    names: Sequence[str],
    number: int = 5,
    seed: int = 0,
    progress: Progress = logger.info,
    runner: Runner | None = None,
) -> list[dict[str, float]]:
    """Return label probabilities for each public row by a head that saw neither it nor its near-duplicates.

    Args:
        rows: public rows.
        templates: template questions, in every training part.
        names: label names.
        number: folds.
        seed: of the folds.
        progress: called with a line per fold.
        runner: does the folds; without one they are done one after another.
    """
    group = groups([r.query for r in rows])
    labels = np.array([names.index(r.label) for r in rows], dtype=np.int64)

    async def one(fold: tuple[int, Rows, Rows]) -> Row:
        i, train, test = fold
        head = fit(Corpus.of([rows[j] for j in train], templates, names), lambda _: None)
        out = [dict(zip(names, head.probabilities(rows[j].query).tolist(), strict=True)) for j in test]
        right = np.mean([max(p, key=lambda k: p[k]) == rows[j].label for p, j in zip(out, test, strict=True)])
        progress(f"fold {i} of {number}: {len(test)} held-out questions, accuracy {right:.3f}")
        return {"rows": test.tolist(), "probabilities": out}

    parts = enumerate(folds(labels, group, number, seed), 1)
    units = {str(i): (i, train, test) for i, (train, test) in parts}
    of = {"rows": [(r.query, r.label) for r in rows], "templates": [str(t) for t in templates], "seed": seed}
    done = await (runner or Runner()).each("folds", units, one, of)
    found = {j: p for fold in done for j, p in zip(fold["rows"], fold["probabilities"], strict=True)}
    return [found[j] for j in range(len(rows))]


def leave_one_source_out(
    rows: Sequence[Routed], templates: Sequence[Template], names: Sequence[str], progress: Progress = logger.info
) -> dict[str, float]:
    """Return the accuracy on each source by a head that saw no row of it."""
    out = {}
    for source in sorted({r.source for r in rows}):
        head = fit(Corpus.of([r for r in rows if r.source != source], templates, names), lambda _: None)
        own = [r for r in rows if r.source == source]
        said = [names[int(np.argmax(head.probabilities(r.query)))] for r in own]
        out[source] = float(np.mean([s == r.label for s, r in zip(said, own, strict=True)]))
        progress(f"without {source}: {out[source]:.3f}")
    return out
