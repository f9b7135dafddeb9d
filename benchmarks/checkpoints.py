"""Compare a router and an evaluator trained from all-MiniLM-L6-v2 with the shipped heads.

    python benchmarks/checkpoints.py measure --router FOLDER --evaluator FOLDER    measure and keep the record
    python benchmarks/checkpoints.py report                                        print the record

RAGWEAVE_DATA names the folder of the public sets, RAGWEAVE_RERANK the cross-encoder to compare with, if any.
The settings load the checkpoints. They learn from other data than is measured here
(`benchmarks/checkpoints_data.py`): XQuAD for the evaluator, `router_dev.jsonl` and the templates for the
router.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.components.grade import BY_T5, CORRECT
from ragweave.corpora.types import LABELS
from ragweave.evals import evaluator_data
from ragweave.evals import router as routing
from ragweave.evals.data import read_routed
from ragweave.evals.evaluator_data import LabelledQuestion
from ragweave.evals.metrics import auc
from ragweave.evals.thresholds import verdict_shares
from ragweave.models import checkpoint, relevance, rerank, router
from ragweave.models.relevance import Passage
from ragweave.models.settings import model_settings

RECORD = Path(__file__).parent / "records" / "checkpoints.json"
PROBE = Path(routing.__file__).parent / "router_probe.jsonl"
CANDIDATES = 10
CONFIDENT = (CORRECT, relevance.LOWER)
"""Thresholds of the shipped head in a run."""

Floats = NDArray[np.float64]
Score = Callable[[LabelledQuestion], Floats]
Figures = dict[str, Any]


def sets(data: Path, every: int) -> dict[str, tuple[list[LabelledQuestion], list[Passage]]]:
    """Return one of `every` questions to judge, with their candidates, and the passages of their library."""
    hotpot = evaluator_data.hotpot(data)
    far, corpus = evaluator_data.ranked(data, "multihop_own", "../multihop_hotpotqa/corpus.jsonl", CANDIDATES)
    far = [q for q in far if q.labels.any() and not q.labels.all()]
    of_hotpot: list[Passage] = []
    for question in hotpot:
        of_hotpot += question.passages
    return {"HotpotQA": (hotpot[::every], of_hotpot), "three and four hops": (far[::every], corpus)}


def by_head(passages: Sequence[Passage]) -> Score:
    """Return the shipped head as a scorer over a library of passages."""
    idf, near = evaluator_data.idf_of(passages), evaluator_data.Nearness(passages)

    def score(q: LabelledQuestion) -> Floats:
        return np.asarray(
            relevance.score(q.question, q.passages, idf, near(q.question, q.passages).tolist()).floor
        )

    return score


def by_checkpoint() -> Score:
    """Return the checkpoint that RAGWEAVE_EVALUATOR names as a scorer."""
    judge = checkpoint.evaluator(model_settings().evaluator)
    return lambda q: np.array(judge(q.question, q.passages))


def by_cross_encoder() -> Score | None:
    """Return the cross-encoder that RAGWEAVE_RERANK names as a scorer; its log-odds are scaled to [-1, 1]."""
    made = rerank.reranker()
    if made is None:
        return None
    return lambda q: np.tanh(np.asarray(made.scores(q.question, q.passages)) / 2)


def judged(
    questions: Sequence[LabelledQuestion], score: Score, thresholds: tuple[float, float], *, alone: bool
) -> Figures:
    """Return the figures of one scorer over one set; the first question is read once before, untimed.

    `alone`: the scorer reads each passage by itself, so that its score does not depend on the others.
    """
    score(questions[0])
    started = time.perf_counter()
    found = [score(q) for q in questions]
    spent = time.perf_counter() - started
    bare: list[Floats] = []
    """The scores of the passages without gold."""
    first: list[int] = []
    """Whether the best passage is relevant."""
    for question, scores in zip(questions, found, strict=True):
        first.append(question.labels[int(np.argmax(scores))])
        without = np.flatnonzero(question.labels == 0)
        bare.append(scores[without] if alone else score(question.take(without.tolist())))
    labels = np.concatenate([q.labels for q in questions])
    return {
        "questions": len(questions),
        "pairs": len(labels),
        "auc": round(float(auc(labels.tolist(), np.concatenate(found).tolist())), 3),
        "first is relevant": round(float(np.mean(first)), 3),
        "verdicts with gold": verdicts(found, thresholds),
        "verdicts without gold": verdicts(bare, thresholds),
        "ms a pair": round(1000 * spent / len(labels), 1),
    }


def verdicts(scores: Sequence[Floats], thresholds: tuple[float, float]) -> dict[str, float]:
    """Return the shares of CRAG's three verdicts over questions."""
    shares = verdict_shares([float(s.max()) for s in scores], thresholds)
    return {verdict: round(share, 2) for verdict, share in asdict(shares).items()}


def routed(path: Path, predict: Callable[[str], dict[str, float]]) -> Figures:
    """Return accuracy and milliseconds of a router over a file of labelled questions."""
    rows = read_routed(path, LABELS)
    predict("warm up")
    started = time.perf_counter()
    right: list[bool] = []
    for row in rows:
        right.append(routing.best(predict(row.query)) == row.label)
    spent = time.perf_counter() - started
    return {
        "questions": len(rows),
        "accuracy": round(float(np.mean(right)), 3),
        "ms a question": round(1000 * spent / len(rows), 1),
    }


def sheet(folder: Path) -> Figures:
    """Return base, data, recipe and the day of a training."""
    card = json.loads((folder / "ragweave.json").read_text(encoding="utf-8"))["card"]
    wanted = ("epochs", "rate", "batch", "max_length", "freeze_embeddings")
    return {
        "base": card["base"],
        "sha256 of the rows": card["data"]["sha256"],
        "recipe": {k: card["recipe"][k] for k in wanted},
        "figures of training": card["figures"],
    }


def measure(router_folder: Path, evaluator_folder: Path, every: int) -> Figures:
    """Measure both checkpoints, the shipped heads and the cross-encoder."""
    data = Path(os.environ["RAGWEAVE_DATA"])
    os.environ["RAGWEAVE_ROUTER"] = str(router_folder)
    os.environ["RAGWEAVE_EVALUATOR"] = str(evaluator_folder)
    model_settings.cache_clear()
    trained, cross = by_checkpoint(), by_cross_encoder()
    evaluators: Figures = {}
    for name, (questions, corpus) in sets(data, every).items():
        evaluators[name] = {
            "shipped head": judged(questions, by_head(corpus), CONFIDENT, alone=False),
            "trained": judged(questions, trained, BY_T5, alone=True),
        }
        if cross:
            evaluators[name]["cross-encoder"] = judged(questions, cross, BY_T5, alone=True)
    learnt = checkpoint.router(model_settings().router, LABELS)
    files = {"probe": PROBE, "own questions": data / "router_own" / "own_dev.jsonl"}
    routers: Figures = {}
    for name, path in files.items():
        routers[name] = {"shipped head": routed(path, router.predict), "trained": routed(path, learnt)}
    cards = {"router": sheet(router_folder), "evaluator": sheet(evaluator_folder)}
    return {
        "trained": cards,
        "cross-encoder": model_settings().rerank,
        "evaluators": evaluators,
        "routers": routers,
    }


def _shares(verdicts: dict[str, float]) -> str:
    return "/".join([f"{share:.2f}" for share in verdicts.values()])


def report(record: Figures) -> str:
    """Return the record as lines."""
    lines = []
    for task, card in record["trained"].items():
        facts = card["recipe"] | card["figures of training"]
        listed = ", ".join([f"{name} {value}" for name, value in facts.items()])
        lines.append(f"trained {task}: {card['base']}, {listed}")
    lines += ["", f"{'evaluator':36} {'AUC':>6} {'first':>6} {'with gold':>15} {'without':>15} {'ms':>7}"]
    for name, found in record["evaluators"].items():
        for who, f in found.items():
            with_gold, without = _shares(f["verdicts with gold"]), _shares(f["verdicts without gold"])
            lines.append(
                f"{name + ', ' + who:36} {f['auc']:6.3f} {f['first is relevant']:6.3f} "
                f"{with_gold:>15} {without:>15} {f['ms a pair']:7.1f}"
            )
    lines += [
        "Verdicts are the shares correct/ambiguous/incorrect of the questions; ms are for one pair.",
        "",
    ]
    lines.append(f"{'router':36} {'accuracy':>8} {'questions':>9} {'ms':>7}")
    for name, found in record["routers"].items():
        for who, f in found.items():
            label = f"{name}, {who}"
            lines.append(f"{label:36} {f['accuracy']:8.3f} {f['questions']:9} {f['ms a question']:7.1f}")
    return "\n".join(lines)


def main() -> None:
    """Measure, or print what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("report")
    measuring = commands.add_parser("measure")
    measuring.add_argument("--router", type=Path, required=True)
    measuring.add_argument("--evaluator", type=Path, required=True)
    measuring.add_argument("--every", type=int, default=5, help="judge one question of so many")
    given = parser.parse_args()
    if given.command == "measure":
        found = measure(given.router, given.evaluator, given.every)
        RECORD.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if not RECORD.is_file():
        parser.error(f"there is no record at {RECORD.name}; measure first")
    print(report(json.loads(RECORD.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
