"""Measure the small relevance evaluator: `python -m ragweave.evals.evaluator --data DIR`.

HotpotQA is measured by five folds of questions, so that no head has seen its questions. XQuAD is measured by
a head that was trained on all of HotpotQA and nothing else.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.evals.evaluator_data import (
    LabelledQuestion,
    Nearness,
    hotpot,
    idf_of,
    looked,
    ranked,
    untitled,
    with_untitled,
)
from ragweave.evals.metrics import auc, average_precision, ece
from ragweave.evals.train_evaluator import examples, fit
from ragweave.models.relevance import LOWER, UPPER, Passage, RelevanceHead, Scores
from ragweave.models.relevance_reading import Idf

FOLDS = 5
HALVES = 10
"""Number of random halves of the questions that lose their gold."""

Figures = dict[str, Any]


def pairs(asked: Sequence[LabelledQuestion], scores: Sequence[Scores]) -> Figures:
    """Return the figures over all pairs of question and candidate."""
    all_labels, orders, floors, first = [], [], [], []
    for question, scored in zip(asked, scores, strict=True):
        all_labels.append(question.labels)
        orders.append(scored.order)
        floors.append(scored.floor)
        first.append(question.labels[np.argmax(scored.order)])
    labels, order, floor = np.concatenate(all_labels), np.concatenate(orders), np.concatenate(floors)
    return {
        "order_auc": auc(labels, order),
        "order_ap": average_precision(labels, order),
        "order_r1": float(np.mean(first)),
        "floor_auc": auc(labels, floor),
        "floor_ap": average_precision(labels, floor),
        "floor_ece": ece((floor + 1) / 2, labels, bins=10),
    }


def without_gold(asked: LabelledQuestion, seed: int) -> tuple[LabelledQuestion, LabelledQuestion]:
    """Return the question with and without its gold, with the same number of candidates."""
    gold, rest = np.flatnonzero(asked.labels == 1), np.flatnonzero(asked.labels == 0)
    kept = np.random.RandomState(seed).permutation(rest)[: max(0, len(rest) - len(gold))]
    return asked.take([*gold.tolist(), *sorted(kept.tolist())]), asked.take(rest.tolist())


def none_relevant(full: Sequence[Scores], empty: Sequence[Scores]) -> Figures:
    """Measure how well the highest floor, and the default thresholds, find questions without gold.

    `full` and `empty` are scores of the same questions with their gold among the candidates and without.
    """
    best, bare = _highest_floors(full), _highest_floors(empty)
    areas = []
    for seed in range(HALVES):
        kept = np.random.RandomState(seed).permutation(len(best)) < len(best) // 2
        areas.append(auc(kept.astype(np.int64), np.where(kept, best, bare)))
    return {
        "auc": float(np.mean(areas)),
        "with_gold": {"correct": float((best >= UPPER).mean()), "incorrect": float((best < LOWER).mean())},
        "without_gold": {"correct": float((bare >= UPPER).mean()), "incorrect": float((bare < LOWER).mean())},
        "incorrect_without_gold_at_95_percent_kept": float((bare < np.quantile(best, 0.05)).mean()),
    }


def _highest_floors(scores: Sequence[Scores]) -> NDArray[np.float64]:
    return np.array([scored.floor.max() for scored in scores])


def measure(data: Path) -> Figures:
    """Return every figure."""
    asked = hotpot(data)
    idf, near = _statistics(asked)
    seen = examples(asked, idf, near)
    out = _by_folds(asked, seen, idf, near)
    head = fit(seen)
    out.update(_xquad(data, head))
    far, passages = ranked(data, "multihop_own", "../multihop_hotpotqa/corpus.jsonl")
    idf, near = idf_of(passages), Nearness(passages)
    ten = []
    for question in far:
        if question.labels[:10].any():
            ten.append(question.take(range(10)))
    out["three and four hops"] = pairs(ten, _scores(head, ten, idf, near))
    return out


def _statistics(asked: Sequence[LabelledQuestion]) -> tuple[Idf, Nearness]:
    """Return word and vector statistics over the candidates of all questions."""
    passages: list[Passage] = []
    for question in asked:
        passages += question.passages
    return idf_of(passages), Nearness(with_untitled(passages))


def _scores(head: RelevanceHead, asked: Sequence[LabelledQuestion], idf: Idf, near: Nearness) -> list[Scores]:
    return [head.scores(looked(question, idf, near)) for question in asked]


def _by_folds(asked: Sequence[LabelledQuestion], seen: Sequence[Any], idf: Idf, near: Nearness) -> Figures:
    """Return the figures on HotpotQA, each question scored by a head that was trained without its fold."""
    fold = np.random.RandomState(0).permutation(len(asked)) % FOLDS
    heads = []
    for k in range(FOLDS):
        others = [seen[i] for i in np.flatnonzero(fold != k).tolist()]
        heads.append(fit(others))
    scores, untitled_scores, full, empty = [], [], [], []
    for i, question in enumerate(asked):
        head = heads[fold[i]]
        titled, bare = seen[i][0], seen[i][1]
        scores.append(head.scores(titled[1]))
        untitled_scores.append(head.scores(bare[1]))
        with_gold, no_gold = without_gold(question, i)
        full.append(head.scores(looked(with_gold, idf, near)))
        empty.append(head.scores(looked(no_gold, idf, near)))
    return {
        "hotpotqa": pairs(asked, scores),
        "hotpotqa without titles": pairs(asked, untitled_scores),
        "none is relevant, hotpotqa": none_relevant(full, empty),
    }


def _xquad(data: Path, head: RelevanceHead) -> Figures:
    """Return the figures on XQuAD, each question with its first ten passages."""
    found, passages = ranked(data, "squad_xquad_en", "passages.jsonl")
    idf, near = idf_of(passages), Nearness(with_untitled(passages))
    ten, no_gold = [], []
    for question in found:
        ten.append(question.take(range(10)))
        irrelevant = np.flatnonzero(question.labels == 0)[:10]
        no_gold.append(question.take(irrelevant.tolist()))
    scores = _scores(head, ten, idf, near)
    return {
        "xquad": pairs(ten, scores),
        "xquad without titles": pairs(ten, _scores(head, list(map(untitled, ten)), idf, near)),
        "none is relevant, xquad": none_relevant(scores, _scores(head, no_gold, idf, near)),
    }


def rounded(figures: Any) -> Any:
    """Return figures with three decimals."""
    if isinstance(figures, dict):
        out = {}
        for name, value in figures.items():
            out[name] = rounded(value)
        return out
    return round(figures, 3) if isinstance(figures, float) else figures


def main() -> None:
    """Print the figures as JSON."""
    import typer

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    typer.echo(json.dumps(rounded(measure(parser.parse_args().data)), indent=2))


if __name__ == "__main__":
    main()
