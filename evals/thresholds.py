"""Calibrate CRAG's two thresholds for any evaluator: `ragweave eval thresholds --pairs FILE`.

Thresholds belong to an evaluator (CRAG, section 4.3, finds them by hand for each data set). Here they are
read off labelled pairs of question and passage. Every question is judged by its best candidate, as the
verdict does, once with its relevant candidates and once without them:

- the upper threshold is the lowest at which enough of the questions called `correct` do have a relevant
  candidate;
- the lower one is the highest at which few enough of the questions that have one are called `incorrect`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragweave.evals.evaluator_data import LabelledQuestion
from ragweave.evals.pairs import Scorer
from ragweave.models.errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ThresholdPoint:
    """What one threshold does.

    `present` and `absent` are the shares that pass of the questions with a relevant candidate and of the same
    without it; `precision` is 1 where nothing passes.
    """

    threshold: float
    present: float
    absent: float
    precision: float


@dataclass(frozen=True)
class Calibration:
    """Two thresholds and the curve they were read off.

    Best candidates at or above `upper` make the verdict `correct`, those below `lower` make it `incorrect`;
    the curve ascends.
    """

    upper: float
    lower: float
    curve: tuple[ThresholdPoint, ...]
    questions: int

    def at(self, threshold: float) -> ThresholdPoint:
        """Return the point of the first threshold of the curve at or above the given one."""
        for point in self.curve:
            if point.threshold >= threshold:
                return point
        return ThresholdPoint(threshold, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class VerdictShares:
    """Shares of questions by the verdict over their best candidate, under two thresholds."""

    correct: float
    ambiguous: float
    incorrect: float


def verdict_shares(best: Sequence[float], thresholds: tuple[float, float]) -> VerdictShares:
    """Return the shares of verdicts over best scores; both thresholds, upper and lower, are inclusive."""
    upper, lower = thresholds
    scores = np.asarray(best, dtype=np.float64)
    correct, incorrect = float((scores >= upper).mean()), float((scores < lower).mean())
    return VerdictShares(correct, 1 - correct - incorrect, incorrect)


def calibrate(
    present: Sequence[float], absent: Sequence[float], precision: float, kept: float
) -> Calibration:
    """Find the thresholds from the best scores of questions, with and without their relevant candidates.

    Both kinds of questions count alike, however many there are of each; `precision` is wanted of the upper
    threshold, `kept` of the lower.

    Raises:
        InputError: if there is no question of one kind, or a score is no number.
    """
    with_gold, without = np.asarray(present, dtype=np.float64), np.asarray(absent, dtype=np.float64)
    if not len(with_gold) or not len(without):
        raise InputError(
            "thresholds need questions with and without a relevant passage",
            "give at least one pair of each label",
        )
    if not (np.isfinite(with_gold).all() and np.isfinite(without).all()):
        raise InputError("the evaluator gave a score that is no number", "check its checkpoint")
    every = np.unique(np.concatenate([with_gold, without])).tolist()
    curve = [_point(threshold, with_gold, without) for threshold in every]
    # Without a point that suffices, the lower threshold is the lowest score and the upper one the highest.
    lowers, uppers = list[float](), list[float]()
    for point in curve:
        if point.present >= kept:
            lowers.append(point.threshold)
        if point.precision >= precision:
            uppers.append(point.threshold)
    lower, upper = max(lowers, default=every[0]), min(uppers, default=every[-1])
    return Calibration(max(upper, lower), lower, tuple(curve), len(with_gold))


def _point(threshold: float, present: Floats, absent: Floats) -> ThresholdPoint:
    hit, false = float((present >= threshold).mean()), float((absent >= threshold).mean())
    return ThresholdPoint(threshold, hit, false, hit / (hit + false) if hit + false else 1.0)


async def best_scores(asked: Sequence[LabelledQuestion], score: Scorer) -> tuple[list[float], list[float]]:
    """Return the best score of each question with its relevant candidates, and without them.

    If a question has both kinds of candidates, one irrelevant candidate is left out of the full list for each
    relevant one, so that both lists are equally long and the maximum of the longer one has no advantage.
    """
    present, absent = [], []
    for a in asked:
        gold = np.flatnonzero(a.labels == 1).tolist()
        rest = np.flatnonzero(a.labels == 0).tolist()
        if gold:
            taken = a.take([*gold, *rest[: max(0, len(rest) - len(gold))]])
            present.append(float((await score(a.question, taken.passages)).floor.max()))
        if rest:
            absent.append(float((await score(a.question, a.take(rest).passages)).floor.max()))
    return present, absent
