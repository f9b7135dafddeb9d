"""Figures of the small relevance evaluator: `python -m ragweave.evals.evaluator --data DIR`.

HotpotQA by five folds of questions, every figure from a head that has not seen the question; XQuAD by a head
trained on all of HotpotQA and nothing else.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

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
from ragweave.models.relevance import LOWER, UPPER, Scores

FOLDS = 5
HALVES = 10
"""How many ways to choose the half of the questions that lose their gold."""

Figures = dict[str, Any]


def pairs(asked: Sequence[LabelledQuestion], scores: Sequence[Scores]) -> Figures:
    """Return the figures over all pairs of question and candidate."""
    labels = np.concatenate([a.labels for a in asked])
    order, floor = (np.concatenate([getattr(s, name) for s in scores]) for name in ("order", "floor"))
    return {
        "order_auc": auc(labels, order),
        "order_ap": average_precision(labels, order),
        "order_r1": float(
            np.mean([a.labels[np.argmax(s.order)] for a, s in zip(asked, scores, strict=True)])
        ),
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
    """Tell questions that lost their gold by the highest floor: AUC, and what the default thresholds do.

    `full` and `empty` are scores of the same questions with their gold among the candidates and without.
    """
    best, bare = (np.array([s.floor.max() for s in scores]) for scores in (full, empty))
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


def measure(data: Path) -> Figures:
    """Return every figure."""
    asked = hotpot(data)
    passages = [p for a in asked for p in a.passages]
    idf, near = idf_of(passages), Nearness(with_untitled(passages))
    seen = examples(asked, idf, near)
    fold = np.random.RandomState(0).permutation(len(asked)) % FOLDS
    heads = [fit([s for s, f in zip(seen, fold, strict=True) if f != k]) for k in range(FOLDS)]
    own = [heads[k] for k in fold]
    scores = [h.scores(s[0][1]) for h, s in zip(own, seen, strict=True)]
    bare = [h.scores(s[1][1]) for h, s in zip(own, seen, strict=True)]
    taken = [without_gold(a, i) for i, a in enumerate(asked)]
    full, empty = (
        [h.scores(looked(t[side], idf, near)) for h, t in zip(own, taken, strict=True)] for side in (0, 1)
    )
    out: Figures = {
        "hotpotqa": pairs(asked, scores),
        "hotpotqa without titles": pairs(asked, bare),
        "none is relevant, hotpotqa": none_relevant(full, empty),
    }
    head = fit(seen)
    found, passages = ranked(data, "squad_xquad_en", "passages.jsonl")
    idf, near = idf_of(passages), Nearness(with_untitled(passages))
    ten = [a.take(range(10)) for a in found]
    scores = [head.scores(looked(a, idf, near)) for a in ten]
    empty = [
        head.scores(looked(a.take(np.flatnonzero(a.labels == 0)[:10].tolist()), idf, near)) for a in found
    ]
    out["xquad"] = pairs(ten, scores)
    out["xquad without titles"] = pairs(ten, [head.scores(looked(untitled(a), idf, near)) for a in ten])
    out["none is relevant, xquad"] = none_relevant(scores, empty)
    far, passages = ranked(data, "multihop_own", "../multihop_hotpotqa/corpus.jsonl")
    idf, near = idf_of(passages), Nearness(passages)
    ten = [a.take(range(10)) for a in far if a.labels[:10].any()]
    out["three and four hops"] = pairs(ten, [head.scores(looked(a, idf, near)) for a in ten])
    return out


def rounded(figures: Any) -> Any:
    """Return figures with three decimals."""
    if isinstance(figures, dict):
        return {k: rounded(v) for k, v in figures.items()}
    return round(figures, 3) if isinstance(figures, float) else figures


def main() -> None:
    """Print the figures as JSON."""
    import typer

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    typer.echo(json.dumps(rounded(measure(parser.parse_args().data)), indent=2))


if __name__ == "__main__":
    main()
