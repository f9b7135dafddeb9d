"""Verdicts on pairs of answers, for the claim of VideoRAG: the prompts of the judge with kept replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ragweave.evals.bootstrap import Interval, interval
from ragweave.evals.claims.common import KeptChat, Row, lookup, read_rows
from ragweave.evals.judge import ASPECTS, Case, Judged, judge
from ragweave.evals.report import table
from ragweave.models.chat import chat, override

RECORD = "video_rag_verdicts"
"""Replies of the judge by the keys of their prompts."""

Verdicts = dict[str, list[Judged]]
"""The verdicts on each question by the arm that the whole is compared with."""


def cases(rows: Sequence[Row], whole: str, over: str) -> list[Case]:
    """Return a case for each question: the answer of the whole against that of another arm."""
    answers: dict[str, dict[str, str]] = {}
    for row in rows:
        answers.setdefault(row["question"], {})[row["arm"]] = row["answer"]
    out = []
    for question, by_arm in answers.items():
        out.append(Case(question, question, by_arm[whole], by_arm[over]))
    return out


async def verdicts(rows: Sequence[Row], whole: str) -> Verdicts:
    """Have the judge compare the answers of the whole with those of each other arm, in both orders.

    Raises:
        InputError: a prompt has no kept reply.
    """
    arms = [row["arm"] for row in rows]
    found: Verdicts = {}
    with override(judge=KeptChat(kept=lookup(read_rows(RECORD), "key", "reply"))):
        model = chat("judge")
        assert model is not None
        for over in dict.fromkeys(arms):
            if over != whole:
                found[over] = await judge(cases(rows, whole, over), model, "pairs")
    return found


def shares(found: Mapping[str, Sequence[Judged]]) -> dict[str, dict[str, Interval]]:
    """Return by rival and aspect the share of verdicts that the whole wins, its interval over questions."""
    out: dict[str, dict[str, Interval]] = {}
    for over, judged in found.items():
        out[over] = {}
        for aspect in ASPECTS:
            votes = []
            for row in judged:
                votes.append(float(np.mean(row.marks[aspect])))
            out[over][aspect] = interval(votes)
    return out


def shown(found: Mapping[str, Sequence[Judged]]) -> str:
    """Return the table of verdicts, and how often both orders have the same winner."""
    by_rival = shares(found)
    rows = []
    for aspect in ASPECTS:
        row = [aspect]
        for of_rival in by_rival.values():
            share = of_rival[aspect]
            row.append(f"{share.mean:.2f} [{share.low:.2f}, {share.high:.2f}]")
        rows.append(row)
    questions = len(next(iter(found.values())))
    columns = [f"the whole wins, {questions} questions"]
    for name in by_rival:
        columns.append(f"over {name}")
    return f"{table(columns, rows)}\n{_agree(found)}"


def _agree(found: Mapping[str, Sequence[Judged]]) -> str:
    """Return the number of verdicts, and the share of pairs with the same overall winner in both orders."""
    agree = []
    for judged in found.values():
        for row in judged:
            first, second = row.marks["overall"]
            agree.append(first == second)
    return (
        f"{2 * len(agree)} verdicts, each by the judge's prompt; orders agree in {np.mean(agree):.2f} of them"
    )
