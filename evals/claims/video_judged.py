"""Verdicts of two judges on pairs of answers, for the claim of VideoRAG; their replies are kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragweave.evals.claims.common import KeptChat, Row, read_rows, share
from ragweave.evals.judge import ASPECTS, Case, Judged, judge
from ragweave.evals.report import table
from ragweave.models.chat import chat, override

RECORD = "video_rag_verdicts"
"""A row per judge with its way of reading (`judge, reads`), then its replies (`judge, key, reply`)."""

ByRival = dict[str, list[Judged]]
"""The verdicts on each question by the arm that the whole is compared with."""

Verdicts = dict[str, ByRival]
"""The verdicts of each judge, by its name."""


def cases(rows: Sequence[Row], whole: str, over: str) -> list[Case]:
    """Return a case for each question: the answer of the whole against that of another arm."""
    answers: dict[str, dict[str, str]] = {}
    for row in rows:
        answers.setdefault(row["question"], {})[row["arm"]] = row["answer"]
    out = []
    for question, by_arm in answers.items():
        out.append(Case(question, question, by_arm[whole], by_arm[over]))
    return out


def judges() -> dict[str, str]:
    """Return how each judge reads, by its name."""
    found = {}
    for row in read_rows(RECORD):
        if "reads" in row:
            found[row["judge"]] = row["reads"]
    return found


async def verdicts(rows: Sequence[Row], whole: str) -> Verdicts:
    """Have each judge compare the answers of the whole with those of each other arm, in both orders.

    Raises:
        InputError: a prompt has no kept reply of a judge.
    """
    kept: dict[str, dict[str, str]] = {}
    for row in read_rows(RECORD):
        if "key" in row:
            kept.setdefault(row["judge"], {})[row["key"]] = row["reply"]
    found: Verdicts = {}
    for name, replies in kept.items():
        with override(judge=KeptChat(kept=replies)):
            found[name] = await _by_rival(rows, whole)
    return found


async def _by_rival(rows: Sequence[Row], whole: str) -> ByRival:
    model = chat("judge")
    assert model is not None
    found: ByRival = {}
    for row in rows:
        over = row["arm"]
        if over not in (whole, *found):
            found[over] = await judge(cases(rows, whole, over), model, "pairs")
    return found


def votes(found: Verdicts, over: str, aspect: str) -> list[float]:
    """Return for each question the share of verdicts that the whole wins, over judges and orders."""
    marks = []
    for by_rival in found.values():
        marks.append([row.marks[aspect] for row in by_rival[over]])
    share_of: list[float] = np.mean(marks, axis=(0, 2)).tolist()
    return share_of


def differing(found: Verdicts, aspect: str) -> NDArray[np.float64]:
    """Return the marks by judge, pair of answers and order, without the pairs of equal answers.

    Equal answers give one prompt in both orders, so its reply cannot show whether orders agree.
    """
    marks = []
    for by_rival in found.values():
        mine = []
        for judged in by_rival.values():
            for row in judged:
                if row.case.a != row.case.b:
                    mine.append(row.marks[aspect])
        marks.append(mine)
    return np.array(marks)


def orders_agree(found: Verdicts, aspect: str) -> float:
    """Return how often a judge names the same answer in both orders."""
    marks = differing(found, aspect)
    return float(np.mean(marks[:, :, 0] == marks[:, :, 1]))


def judges_agree(found: Verdicts, aspect: str) -> float:
    """Return how often both judges name the same answer to a prompt."""
    first, second = differing(found, aspect)
    return float(np.mean(first == second))


def shown(found: Verdicts) -> str:
    """Return the shares over both judges and those of each judge overall, then agreement and counts."""
    rivals = [*next(iter(found.values()))]
    questions = len(votes(found, rivals[0], "overall"))
    rows = []
    for aspect in ASPECTS:
        rows.append([aspect, *_shares(found, rivals, aspect)])
    for name, by_rival in found.items():
        rows.append([f"overall, {name} judge", *_shares({name: by_rival}, rivals, "overall")])
    shares = table([f"{questions} questions, whole wins over", *rivals], rows)
    return f"{shares}\n{_counted(found, len(rivals) * questions)}\n\n{_agreement(found)}"


def _agreement(found: Verdicts) -> str:
    """Return how often orders and judges agree, by criterion."""
    rows: list[list[str]] = []
    for aspect in ASPECTS:
        orders, both = orders_agree(found, aspect), judges_agree(found, aspect)
        rows.append([aspect, f"{orders:.2f}", f"{both:.2f}"])
    return table(["agreement", "orders", "judges"], rows)


def _shares(found: Verdicts, rivals: Sequence[str], aspect: str) -> list[str]:
    return [share(votes(found, over, aspect)) for over in rivals]


def _counted(found: Verdicts, pairs: int) -> str:
    """Return the number of verdicts, the pairs that agreement leaves out, and how each judge reads."""
    equal = pairs - differing(found, "overall").shape[1]
    lines = [
        f"{2 * pairs * len(found)} verdicts: {len(found)} judges, {pairs} pairs, both orders; "
        f"agreement leaves out pairs of equal answers, {equal}"
    ]
    for name, reads in judges().items():
        lines.append(f"{name} judge: {reads}")
    return "\n".join(lines)
