"""Calibrate CRAG's two thresholds for any evaluator: `python -m ragweave.evals.thresholds --data DIR`.

Thresholds belong to an evaluator (CRAG, section 4.3, finds them by hand for each data set). Here they are read off
labelled pairs of question and passage. Every question is judged by its best candidate, as the verdict does, once with
its relevant candidates and once without them:

- the upper threshold is the lowest at which enough of the questions called `correct` do have a relevant candidate;
- the lower one is the highest at which few enough of the questions that have one are called `incorrect`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.evals.evaluator_data import Asked, idf_of, rows
from ragweave.models.errors import InputError, MissingExtra
from ragweave.models.relevance import Passage, score

Floats = NDArray[np.float64]

PRECISION = 0.9
"""Share of the questions called `correct` that have a relevant candidate."""
KEPT = 0.98
"""Share of the questions with a relevant candidate that are not called `incorrect`: it throws evidence away."""

Judge = Callable[[str, Sequence[Passage]], Sequence[float]]
"""Any evaluator: scores of the candidates of one question."""


@dataclass(frozen=True)
class Point:
    """What one threshold does.

    Attributes:
        threshold: smallest score of the best candidate that passes.
        present: share of the questions with a relevant candidate that pass.
        absent: share of the same questions without it that pass.
        precision: share of those that pass which have a relevant candidate; 1 where nothing passes.
    """

    threshold: float
    present: float
    absent: float
    precision: float


@dataclass(frozen=True)
class Calibration:
    """Two thresholds and the curve they were read off.

    Attributes:
        upper: best candidates at or above it make the verdict `correct`.
        lower: best candidates below it make the verdict `incorrect`.
        curve: one point per threshold, ascending.
        questions: questions that were used.
    """

    upper: float
    lower: float
    curve: tuple[Point, ...]
    questions: int

    def at(self, threshold: float) -> Point:
        """Return the point of the first threshold of the curve at or above the given one."""
        return next((p for p in self.curve if p.threshold >= threshold), Point(threshold, 0.0, 0.0, 1.0))


def calibrate(present: Sequence[float], absent: Sequence[float], precision: float, kept: float) -> Calibration:
    """Find the thresholds from the best scores of questions, with and without their relevant candidates.

    Args:
        present: best score of each question that has a relevant candidate, (n,).
        absent: best score of each question that has none, (m,); both kinds count alike, whatever n and m.
        precision: wanted of the upper threshold.
        kept: wanted of the lower threshold.

    Raises:
        InputError: if there is no question of one kind, or a score is no number.
    """
    with_gold, without = np.asarray(present, dtype=np.float64), np.asarray(absent, dtype=np.float64)
    if not len(with_gold) or not len(without):
        raise InputError(
            "thresholds need questions with and without a relevant passage", "give at least one pair of each label"
        )
    if not (np.isfinite(with_gold).all() and np.isfinite(without).all()):
        raise InputError("the evaluator gave a score that is no number", "check its checkpoint")
    curve = tuple(_point(float(t), with_gold, without) for t in np.unique(np.concatenate([with_gold, without])))
    lower = max((p.threshold for p in curve if p.present >= kept), default=curve[0].threshold)
    upper = min((p.threshold for p in curve if p.precision >= precision), default=curve[-1].threshold)
    return Calibration(max(upper, lower), lower, curve, len(with_gold))


def _point(threshold: float, present: Floats, absent: Floats) -> Point:
    hit, false = float((present >= threshold).mean()), float((absent >= threshold).mean())
    return Point(threshold, hit, false, hit / (hit + false) if hit + false else 1.0)


def best_scores(asked: Sequence[Asked], judge: Judge) -> tuple[list[float], list[float]]:
    """Return the best score of each question with its relevant candidates, and without them.

    Where both kinds of candidates are there, one irrelevant candidate is left out of the full list for each relevant
    one, so that both lists are equally long and the maximum of the longer one has no advantage.
    """
    present, absent = [], []
    for a in asked:
        gold, rest = (np.flatnonzero(a.labels == label).tolist() for label in (1, 0))
        if gold:
            taken = a.take([*gold, *rest[: max(0, len(rest) - len(gold))]])
            present.append(max(judge(a.question, taken.passages)))
        if rest:
            absent.append(max(judge(a.question, a.take(rest).passages)))
    return present, absent


def read_pairs(path: Path) -> list[Asked]:
    """Read labelled pairs: JSON Lines with `question`, `passage`, `label` (1 or 0) and optionally `title`.

    Raises:
        InputError: if the file cannot be read, or a row lacks one of them.
    """
    groups: dict[str, list[tuple[Passage, int]]] = defaultdict(list)
    try:
        for n, row in enumerate(rows(path), 1):
            try:
                label = int(row["label"])
                passage = Passage(str(row.get("title", "")), str(row["passage"]))
                groups[str(row["question"])].append((passage, int(label > 0)))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise InputError(
                    f"row {n} of {path.name} is no labelled pair ({error!r})", "give question, passage and label"
                ) from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error})", "give a file of JSON Lines") from error
    return [Asked(q, tuple(p for p, _ in g), np.array([label for _, label in g])) for q, g in groups.items()]


def judge_of(name: str, asked: Sequence[Asked]) -> Judge:
    """Return an evaluator by the name that `grade_by` has for it.

    Args:
        name: `small`, `checkpoint` (the one RAGWEAVE_EVALUATOR names), or `llm`.
        asked: questions, whose passages give the small evaluator its term frequencies.
    """
    if name == "small":
        idf = idf_of([p for a in asked for p in a.passages])
        return lambda question, passages: score(question, passages, idf).floor.tolist()
    from ragweave.nodes.evaluators import by_checkpoint

    return by_checkpoint if name == "checkpoint" else _by_model


def _by_model(question: str, passages: Sequence[Passage]) -> Sequence[float]:
    """Grade with the configured chat model, as `grade` does; what it leaves unread counts as undecided."""
    from ragweave.models.meter import Meter
    from ragweave.nodes.context import Context
    from ragweave.nodes.evaluators import by_model
    from ragweave.nodes.run import Run, Turn

    async def undecided() -> list[float]:
        return [0.0] * len(passages)

    run = Run("grade", Context(mind="llm"), Turn(Meter()), 1, lambda event: None)
    model = run.chat("judge")
    assert model is not None, "mind=llm gives a model or raises"
    scores = asyncio.run(by_model(model, run, question, passages, undecided))
    return scores if scores is not None else [0.0] * len(passages)


def draw(found: Calibration, path: Path, title: str = "") -> None:
    """Draw the curve as SVG, PNG or PDF, by the ending of the path.

    Raises:
        MissingExtra: if matplotlib is not installed.
        InputError: if the ending names no format that can be drawn.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("Drawing the curve", "dev") from error
    x = [p.threshold for p in found.curve]
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.step(x, [p.present for p in found.curve], where="pre", label="relevant passage there: at or above")
    axes.step(x, [p.absent for p in found.curve], where="pre", label="no relevant passage: at or above")
    axes.step(x, [p.precision for p in found.curve], where="pre", ls=":", label="precision of “correct”")
    for value, name in ((found.lower, "lower"), (found.upper, "upper")):
        axes.axvline(value, color="0.4", lw=1, ls="--")
        axes.annotate(
            f"{name} {value:+.2f}", (value, 1.03), ha="center", va="bottom", fontsize=8, annotation_clip=False
        )
    axes.set(xlabel="score of the best candidate", ylabel="share of questions", ylim=(0, 1.02))
    axes.set_title(title, pad=18)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    try:
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    except ValueError as error:
        raise InputError(f"{path.name} names no format that can be drawn", "end it with .svg, .png or .pdf") from error


def main() -> None:
    """Print the thresholds; draw the curve and write JSON where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--pairs", type=Path, help="JSON Lines with question, passage, label and optionally title")
    source.add_argument("--data", type=Path, help="folder of the public data sets; its evaluator pairs are used")
    parser.add_argument("--evaluator", choices=["small", "checkpoint", "llm"], default="small")
    parser.add_argument("--precision", type=float, default=PRECISION, help="wanted of the upper threshold")
    parser.add_argument("--kept", type=float, default=KEPT, help="wanted of the lower threshold")
    parser.add_argument("--draw", type=Path, help="file for the curve, .svg or .png")
    parser.add_argument("--json", type=Path, help="file for the figures")
    given = parser.parse_args()
    asked = read_pairs(given.pairs or given.data / "evaluator_pairs" / "hotpot_pairs.jsonl")
    found = calibrate(*best_scores(asked, judge_of(given.evaluator, asked)), given.precision, given.kept)
    figures: dict[str, Any] = {
        "evaluator": given.evaluator,
        "questions": found.questions,
        "upper": round(found.upper, 4),
        "lower": round(found.lower, 4),
        "at_upper": asdict(found.at(found.upper)),
        "at_lower": asdict(found.at(found.lower)),
    }
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    if given.json:
        given.json.write_text(json.dumps({**figures, "curve": [asdict(p) for p in found.curve]}), encoding="utf-8")
    if given.draw:
        draw(found, given.draw, f"{given.evaluator} evaluator, {found.questions} questions")


if __name__ == "__main__":
    main()
