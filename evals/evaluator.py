"""Figures of the small relevance evaluator: `python -m ragweave.evals.evaluator --data DIR`.

HotpotQA by five folds of questions, every figure from a head that has not seen the question; XQuAD by a head trained on
all of HotpotQA and nothing else.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.evals.evaluator_data import Asked, Labels, hotpot, idf_of, looked, ranked, untitled
from ragweave.evals.metrics import auc, average_precision, ece
from ragweave.evals.train_evaluator import examples, fit
from ragweave.models.relevance import LOWER, UPPER, Head, Passage, Scores, score
from ragweave.models.relevance_features import Idf

FOLDS = 5
HALVES = 10
"""How many ways to choose the half of the questions that lose their gold."""

Floats = NDArray[np.float64]
Figures = dict[str, Any]


def pairs(asked: Sequence[Asked], scores: Sequence[Scores]) -> Figures:
    """Return the figures over all pairs of question and candidate."""
    labels = np.concatenate([a.labels for a in asked])
    order, floor = (np.concatenate([getattr(s, name) for s in scores]) for name in ("order", "floor"))
    return {
        "order_auc": auc(labels, order),
        "order_ap": average_precision(labels, order),
        "order_r1": float(np.mean([a.labels[np.argmax(s.order)] for a, s in zip(asked, scores, strict=True)])),
        "floor_auc": auc(labels, floor),
        "floor_ap": average_precision(labels, floor),
        "floor_ece": ece((floor + 1) / 2, labels, bins=10),
    }


def by_hop(asked: Sequence[Asked], scores: Sequence[Scores]) -> Figures:
    """Return the AUC of first-hop and second-hop gold of bridge questions, each against the distractors."""
    out: Figures = {"questions": sum(a.second >= 0 for a in asked)}
    for hop in (1, 2):
        for name in ("order", "floor"):
            labels, values = [], []
            for a, s in zip(asked, scores, strict=True):
                if a.second >= 0:
                    second = np.arange(len(a.labels)) == a.second
                    keep = (a.labels == 0) | (second if hop == 2 else ~second)
                    labels.append(a.labels[keep])
                    values.append(getattr(s, name)[keep])
            out[f"hop{hop}_{name}_auc"] = auc(np.concatenate(labels), np.concatenate(values))
    return out


def without_gold(asked: Asked, seed: int) -> tuple[Asked, Asked]:
    """Return the question with and without its gold, with the same number of candidates."""
    gold, rest = np.flatnonzero(asked.labels == 1), np.flatnonzero(asked.labels == 0)
    kept = np.random.RandomState(seed).permutation(rest)[: max(0, len(rest) - len(gold))]
    return asked.take([*gold.tolist(), *sorted(kept.tolist())]), asked.take(rest.tolist())


def none_relevant(full: Sequence[Scores], empty: Sequence[Scores]) -> Figures:
    """Tell questions that lost their gold by the highest floor: AUC, and what the default thresholds do.

    Args:
        full: scores per question with its gold among the candidates.
        empty: scores of the same questions without.
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


def strips(asked: Sequence[Asked], heads: Sequence[Head], idf: Idf, group: int) -> Figures:
    """Find the support sentences among the strips of the gold passages, as refinement does.

    Kept are the best ten strips at or above the threshold, and the best strip of each passage in any case. Second-hop
    gold is left out, as in the scale of `floor`. Recall counts support sentences, precision counts strips.

    Args:
        asked: questions with their sentences.
        heads: evaluator of each question.
        idf: weight of a stemmed term.
        group: sentences per strip.
    """
    found = [_strips(a, h, idf, group) for a, h in zip(asked, heads, strict=True)]
    support = sum(int(f.support.sum()) for f in found)
    out: Figures = {"strips": sum(len(f.floor) for f in found), "support_sentences": support}
    for threshold in (-0.95, -0.9, -0.8, -0.5, 0.0):
        kept = [f.kept(threshold) for f in found]
        out[f"at {threshold}"] = {
            "recall": sum(int(f.support[k].sum()) for f, k in zip(found, kept, strict=True)) / support,
            "precision": sum(int((f.support[k] > 0).sum()) for f, k in zip(found, kept, strict=True))
            / sum(int(k.sum()) for k in kept),
            "text_removed": 1.0
            - sum(int(f.lengths[k].sum()) for f, k in zip(found, kept, strict=True))
            / sum(int(f.lengths.sum()) for f in found),
        }
    return out


@dataclass(frozen=True)
class _Strips:
    """The strips of one question's gold passages, each array (n,): score, support sentences, characters, passage."""

    floor: Floats
    support: Labels
    lengths: Labels
    passage: Labels

    def kept(self, threshold: float) -> NDArray[np.bool_]:
        best = np.array(
            [f == self.floor[self.passage == p].max() for f, p in zip(self.floor, self.passage, strict=True)]
        )
        rank = np.argsort(np.argsort(-self.floor, kind="stable"))
        return np.asarray(((self.floor >= threshold) & (rank < 10)) | best)


def _strips(a: Asked, head: Head, idf: Idf, group: int) -> _Strips:
    passages, support, of = [], [], []
    for i in np.flatnonzero(a.labels == 1):
        if i == a.second:
            continue
        for start in range(0, len(a.sentences[i]), group):
            part = a.sentences[i][start : start + group]
            passages.append(Passage(a.passages[i].title, "".join(part).strip()))
            support.append(sum(start <= s < start + group for s in a.support[i]))
            of.append(int(i))
    cut = Asked(a.question, tuple(passages), np.array(support))
    return _Strips(
        head.scores(looked(cut, idf)).floor, cut.labels, np.array([len(p.text) for p in passages]), np.array(of)
    )


def milliseconds(asked: Sequence[Asked], idf: Idf) -> float:
    """Return the CPU milliseconds per pair of the shipped head, candidates of a question together."""
    score(asked[0].question, asked[0].passages, idf)
    start = time.process_time()
    for a in asked:
        score(a.question, a.passages, idf)
    return (time.process_time() - start) * 1000 / sum(len(a.passages) for a in asked)


def measure(data: Path) -> Figures:
    """Return every figure."""
    asked = hotpot(data)
    idf = idf_of([p for a in asked for p in a.passages])
    seen = examples(asked, idf)
    fold = np.random.RandomState(0).permutation(len(asked)) % FOLDS
    heads = [fit([s for s, f in zip(seen, fold, strict=True) if f != k]) for k in range(FOLDS)]
    own = [heads[k] for k in fold]
    scores = [h.scores(s[0][1]) for h, s in zip(own, seen, strict=True)]
    bare = [h.scores(s[2][1]) for h, s in zip(own, seen, strict=True)]
    taken = [without_gold(a, i) for i, a in enumerate(asked)]
    full, empty = ([h.scores(looked(t[side], idf)) for h, t in zip(own, taken, strict=True)] for side in (0, 1))
    out: Figures = {
        "hotpotqa": pairs(asked, scores),
        "hotpotqa without titles": pairs(asked, bare),
        "hops": by_hop(asked, scores),
        "none is relevant, hotpotqa": none_relevant(full, empty),
        "strips of one sentence": strips(asked, own, idf, 1),
        "strips of three sentences": strips(asked, own, idf, 3),
    }
    head = fit(seen)
    found, idf = ranked(data, "squad_xquad_en", "passages.jsonl")
    ten = [a.take(range(10)) for a in found]
    scores = [head.scores(looked(a, idf)) for a in ten]
    empty = [head.scores(looked(a.take(np.flatnonzero(a.labels == 0)[:10].tolist()), idf)) for a in found]
    out["xquad"] = pairs(ten, scores)
    out["xquad without titles"] = pairs(ten, [head.scores(looked(untitled(a), idf)) for a in ten])
    out["none is relevant, xquad"] = none_relevant(scores, empty)
    far, idf = ranked(data, "multihop_own", "../multihop_hotpotqa/corpus.jsonl")
    ten = [a.take(range(10)) for a in far if a.labels[:10].any()]
    out["three and four hops"] = pairs(ten, [head.scores(looked(a, idf)) for a in ten])
    out["cpu_ms_per_pair"] = milliseconds(asked[:50], idf)
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
