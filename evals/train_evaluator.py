"""Train the small relevance evaluator: `ragweave train evaluator --data DIR`.

Two LightGBM boosters for `order` and the scale of `floor`, from HotpotQA pairs alone. The same data and package
versions give the same weights, byte for byte: one thread, fixed seeds, fixed order.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ragweave.evals.evaluator_data import LabelledQuestion, Labels, halves, hotpot, idf_of, looked, untitled
from ragweave.evals.trees import arrays, from_dump
from ragweave.models.relevance import HEAD, RelevanceHead, evidence, stand
from ragweave.models.relevance_features import OWN, Looked, comparison
from ragweave.models.relevance_reading import Idf, Matrix

ROUNDS = 150
BOOSTER: dict[str, Any] = {
    "objective": "binary",
    "num_leaves": 8,
    "learning_rate": 0.05,
    "min_data_in_leaf": 20,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "seed": 7,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}
"""Parameters of both boosters."""


def views(asked: LabelledQuestion) -> tuple[LabelledQuestion, ...]:
    """Return the question as given, with halved passages, and without titles: libraries differ in both."""
    return asked, halves(asked), untitled(asked)


def fit(seen: Sequence[tuple[tuple[LabelledQuestion, Looked], ...]], rounds: int = ROUNDS) -> RelevanceHead:
    """Fit the evaluator.

    `seen` are the `views` of each question with their features.
    """
    every = list(chain.from_iterable(seen))
    labels = np.concatenate([a.labels for a, _ in every])
    inputs = np.vstack([comparison(look) for _, look in every])
    full, own = boost(inputs, labels, rounds), boost(inputs[:, : len(OWN)], labels, rounds)
    # The scale of `floor` comes from whole passages. The second hop is left out: it is fetched and graded by a query
    # of its own, and cannot be told by this question.
    whole = [(a, evidence(look.own), np.arange(len(a.labels)) != a.second) for q in seen for a, look in (q[0], q[2])]
    typical = float(np.concatenate([sums for _, sums, _ in whole]).mean())
    raw = np.concatenate([stand(sums, typical)[first] for _, sums, first in whole])
    slope, offset = logistic(raw, np.concatenate([a.labels[first] for a, _, first in whole]))
    return RelevanceHead(from_dump(full.dump_model()), from_dump(own.dump_model()), typical, slope, offset)


def boost(x: Matrix, labels: Labels, rounds: int = ROUNDS) -> Any:
    """Return a LightGBM booster."""
    import lightgbm

    return lightgbm.train(BOOSTER, lightgbm.Dataset(x, labels), rounds)


def logistic(x: Matrix, labels: Labels) -> tuple[float, float]:
    """Return slope and offset of P(relevant) = sigmoid(slope * (x - offset)), by Newton's method (Platt scaling)."""
    design = np.column_stack([x, np.ones_like(x)])
    beta = np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(-design @ beta))
        hessian = (design * (p * (1 - p))[:, None]).T @ design
        beta = beta + np.linalg.solve(hessian, design.T @ (labels - p))
    return float(beta[0]), float(-beta[1] / beta[0])


def examples(asked: Sequence[LabelledQuestion], idf: Idf) -> list[tuple[tuple[LabelledQuestion, Looked], ...]]:
    """Pair the views of each question with the features of their candidates."""
    return [tuple((view, looked(view, idf)) for view in views(a)) for a in asked]


def save(head: RelevanceHead, path: Path, source: Path, questions: int) -> None:
    """Write weights and their provenance.

    The path has no suffix; the training file is named by its hash.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path.with_suffix(".npz"), **arrays(head.full, "full"), **arrays(head.own, "own"))  # type: ignore[arg-type]
    card = {
        "floor": {"typical": head.typical, "slope": head.slope, "offset": head.offset},
        "trained_on": {
            "data": "HotpotQA passages and distractors",
            "licence": "CC BY-SA 4.0",
            "questions": questions,
            "sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
        },
    }
    path.with_suffix(".json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def train(data: Path, path: Path = HEAD, limit: int | None = None, rounds: int = ROUNDS) -> RelevanceHead:
    """Train on the first `limit` questions of the data set (all by default) and write the weights."""
    asked = hotpot(data)
    idf = idf_of([p for a in asked for p in a.passages])
    asked = asked[:limit]
    head = fit(examples(asked, idf), rounds)
    save(head, path, data / "evaluator_pairs" / "hotpot_pairs.jsonl", len(asked))
    return head
