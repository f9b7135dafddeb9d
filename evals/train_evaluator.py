"""Fit the scale of the small relevance evaluator to HotpotQA: `ragweave train evaluator --data DIR`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ragweave.evals.evaluator_data import (
    LabelledQuestion,
    Labels,
    Nearness,
    hotpot,
    idf_of,
    looked,
    untitled,
    with_untitled,
)
from ragweave.models.relevance import HEAD, Passage, RelevanceHead, evidence, kind_of, stand, weights
from ragweave.models.relevance_features import Looked
from ragweave.models.relevance_reading import Idf, Matrix
from ragweave.models.settings import model_settings


def fit(seen: Sequence[tuple[tuple[LabelledQuestion, Looked], ...]]) -> RelevanceHead:
    """Fit the scale: `seen` are the questions as given and without titles, with their features."""
    # The second hop is left out: it has a query of its own, and this question alone cannot recognise it.
    given = weights()
    sums, labels, first = [], [], []
    for views in seen:
        for question, features in views:
            sums.append(evidence(features, given))
            labels.append(question.labels)
            first.append(np.arange(len(question.labels)) != question.second)
    typical = float(np.concatenate(sums).mean())
    kept = np.concatenate(first)
    raw = np.concatenate([stand(own, typical) for own in sums])[kept]
    slope, offset = logistic(raw, np.concatenate(labels)[kept])
    return RelevanceHead(given, typical, slope, offset)


def logistic(x: Matrix, labels: Labels) -> tuple[float, float]:
    """Fit slope and offset of P(relevant) = sigmoid(slope * (x - offset)) by Newton's method (Platt)."""
    design = np.column_stack([x, np.ones_like(x)])
    beta = np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(-design @ beta))
        hessian = (design * (p * (1 - p))[:, None]).T @ design
        beta = beta + np.linalg.solve(hessian, design.T @ (labels - p))
    return float(beta[0]), float(-beta[1] / beta[0])


def examples(
    asked: Sequence[LabelledQuestion], idf: Idf, near: Nearness
) -> list[tuple[tuple[LabelledQuestion, Looked], ...]]:
    """Pair each question, as given and without titles, with the features of its candidates."""
    out: list[tuple[tuple[LabelledQuestion, Looked], ...]] = []
    for question in asked:
        bare = untitled(question)
        views = (question, looked(question, idf, near)), (bare, looked(bare, idf, near))
        out.append(views)
    return out


def save(head: RelevanceHead, path: Path, source: Path, questions: int) -> None:
    """Write the scale for the set encoder, with its provenance; those for other encoders stay.

    The training file is named by its hash.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    before = json.loads((path if path.exists() else HEAD).read_text(encoding="utf-8"))["floor"]
    name = model_settings().embed
    scale = {
        "typical": head.typical,
        "slope": head.slope,
        "offset": head.offset,
        "encoder": name.partition("@")[0],
    }
    card = {
        "floor": {**before, kind_of(name): scale},
        "trained_on": {
            "data": "HotpotQA passages and distractors",
            "licence": "CC BY-SA 4.0",
            "questions": questions,
            "sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
        },
    }
    path.write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def train(data: Path, path: Path = HEAD) -> RelevanceHead:
    """Train on the questions of the data set and write the scale."""
    asked = hotpot(data)
    passages: list[Passage] = []
    for question in asked:
        passages += question.passages
    head = fit(examples(asked, idf_of(passages), Nearness(with_untitled(passages))))
    save(head, path, data / "evaluator_pairs" / "hotpot_pairs.jsonl", len(asked))
    return head
