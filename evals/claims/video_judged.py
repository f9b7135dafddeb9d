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
        won = {}
        for aspect, side in zip(ASPECTS, row["winners"], strict=True):
            won[aspect] = float(side == whole)
        found.append(PairVerdict(row["question"], row["over"], row["judge"], row["first"], won))
    return found


def _by_question(rows: list[PairVerdict], aspect: str) -> list[float]:
    """Return the mean of the verdicts on each question."""
    scores: dict[str, list[float]] = {}
    for row in rows:
        scores.setdefault(row.question, []).append(row.won[aspect])
    return [float(np.mean(of_question)) for of_question in scores.values()]


def shares(found: list[PairVerdict]) -> dict[str, dict[str, Interval]]:
    """Return by rival and aspect the share of verdicts that the whole wins, its interval over questions."""
    by_rival: dict[str, list[PairVerdict]] = {}
    for row in found:
        by_rival.setdefault(row.over, []).append(row)
    out: dict[str, dict[str, Interval]] = {}
    for over, rows in by_rival.items():
        out[over] = {}
        for aspect in ASPECTS:
            out[over][aspect] = interval(_by_question(rows, aspect))
    return out


def shown(found: list[PairVerdict]) -> str:
    """Return the table of verdicts, and how far judges and orders agree."""
    by_rival = shares(found)
    rows = []
    for aspect in ASPECTS:
        row = [aspect]
        for of_rival in by_rival.values():
            share = of_rival[aspect]
            row.append(f"{share.mean:.2f} [{share.low:.2f}, {share.high:.2f}]")
        rows.append(row)
    questions = {verdict.question for verdict in found}
    columns = [f"the whole wins, {len(questions)} questions"]
    for name in by_rival:
        columns.append(f"over {name}")
    text = table(columns, rows)
    return f"{text}\n{len(found)} verdicts; {_agree(found)}"


def _agree(found: list[PairVerdict]) -> str:
    """Return the shares of verdicts that stay the same in the other order and by the other judge."""
    overall = {}
    for row in found:
        overall[row.question, row.over, row.judge, row.first] = row.won["overall"]
    orders = []
    judges = []
    for (question, over, judge, first), won in overall.items():
        if first:
            orders.append(won == overall[question, over, judge, False])
        if judge == 1:
            judges.append(won == overall[question, over, 2, first])
    return f"orders agree in {np.mean(orders):.2f}, judges in {np.mean(judges):.2f} of them"
