"""Verdicts of two judges on pairs of answers, for the claim of VideoRAG."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragweave.evals.bootstrap import Interval, interval
from ragweave.evals.claims.common import read_rows
from ragweave.evals.judge import ASPECTS
from ragweave.evals.report import table

RECORD = "video_rag_verdicts"


class PairVerdict(NamedTuple):
    """Who won on each aspect: 1 where the whole did; `first` says that its answer was shown first."""

    question: str
    over: str
    judge: int
    first: bool
    won: dict[str, float]


def verdicts() -> list[PairVerdict]:
    """Return the kept verdicts."""
    found = []
    for row in read_rows(RECORD):
        whole = "1" if row["first"] else "2"
        won = {aspect: float(side == whole) for aspect, side in zip(ASPECTS, row["winners"], strict=True)}
        found.append(PairVerdict(row["question"], row["over"], row["judge"], row["first"], won))
    return found


def _by_question(rows: list[PairVerdict], aspect: str) -> list[float]:
    """Return the mean of the verdicts on each question."""
    names = dict.fromkeys(row.question for row in rows)
    return [float(np.mean([r.won[aspect] for r in rows if r.question == name])) for name in names]


def shares(found: list[PairVerdict]) -> dict[str, dict[str, Interval]]:
    """Return by rival and aspect the share of verdicts that the whole wins, its interval over questions."""
    out: dict[str, dict[str, Interval]] = {}
    for over in dict.fromkeys(row.over for row in found):
        rows = [row for row in found if row.over == over]
        out[over] = {aspect: interval(_by_question(rows, aspect)) for aspect in ASPECTS}
    return out


def shown(found: list[PairVerdict]) -> str:
    """Return the table of verdicts, and how far judges and orders agree."""
    of = shares(found)
    rows = [
        [aspect, *(f"{x[aspect].mean:.2f} [{x[aspect].low:.2f}, {x[aspect].high:.2f}]" for x in of.values())]
        for aspect in ASPECTS
    ]
    asked = len({row.question for row in found})
    text = table([f"the whole wins, {asked} questions", *(f"over {name}" for name in of)], rows)
    return f"{text}\n{len(found)} verdicts; {_agree(found)}"


def _agree(found: list[PairVerdict]) -> str:
    by = {(r.question, r.over, r.judge, r.first): r.won["overall"] for r in found}
    orders = [by[q, o, j, True] == by[q, o, j, False] for q, o, j, first in by if first]
    judges = [by[q, o, 1, f] == by[q, o, 2, f] for q, o, j, f in by if j == 1]
    return f"orders agree in {np.mean(orders):.2f}, judges in {np.mean(judges):.2f} of them"
