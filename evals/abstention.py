"""What declining more or less often costs: `python -m ragweave.evals.abstention --data DIR`.

Every question is answered by the small mind whatever it found; the table then says, for each threshold on the best
relevance to the question (`Method.answerable`), which share would be answered right, answered wrong and declined.
`absent` are XQuAD questions without their passage: there every answer is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ragweave.evals.answers import Outcome, Question
from ragweave.evals.corpus import Prepared, use_home
from ragweave.evals.report import Value, table
from ragweave.evals.text_figures import question_sets
from ragweave.minds.context import Context
from ragweave.minds.method import Method

THRESHOLDS = (-1.0, -0.7, -0.5, -0.3, -0.2, -0.1, 0.0, 0.2, 0.4, 0.6)


@dataclass(frozen=True)
class Told:
    """What became of one question without a threshold.

    Attributes:
        best: highest relevance to the question.
        right: it was answered, and right.
        declined: it was declined all the same, because nothing was found.
    """

    best: float
    right: bool
    declined: bool


async def tell(prepared: Prepared, questions: Sequence[Question], graph: str) -> list[Told]:
    """Ask every question without a threshold."""
    compiled = import_module(f"ragweave.graphs.{graph}").graph
    context = Context(library=prepared.library.name, mind="small", method=Method(answerable=-1.0))
    out: list[Told] = []
    for question in questions:
        sent: Any = {"messages": [("human", question.text)]}
        state = await compiled.ainvoke(sent, context=context)
        verdict = Outcome(question, state["answer"], 0.0).verdict
        out.append(Told(state["best"], verdict == "correct", verdict == "abstained"))
    return out


def shares(told: Sequence[Told], threshold: float) -> tuple[float, float, float]:
    """Return the shares answered right, answered wrong and declined at a threshold; no questions give zeros."""
    answered = [t for t in told if not t.declined and t.best >= threshold]
    right = sum(t.right for t in answered)
    total = len(told) or 1
    return right / total, (len(answered) - right) / total, (len(told) - len(answered)) / total


async def measure(data: Path, work: Path, limit: int, graph: str) -> dict[str, list[list[float]]]:
    """Return, for each set, a row [threshold, right, wrong, declined] for each threshold."""
    out: dict[str, list[list[float]]] = {}
    for name, prepared, questions in await question_sets(data, work, limit):
        told = await tell(prepared, questions, graph)
        out[name] = [[t, *(round(s, 3) for s in shares(told, t))] for t in THRESHOLDS]
    return out


def main() -> None:
    """Print the tables, and write them as JSON where `--json` names a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    parser.add_argument("--work", type=Path, default=Path(".cache/evals"), help="folder for the evaluation libraries")
    parser.add_argument("--limit", type=int, default=10_000, help="questions per set")
    parser.add_argument("--graph", default="agent", help="graph that answers")
    parser.add_argument("--json", type=Path, help="file for the figures")
    given = parser.parse_args()
    work = given.work.resolve()
    use_home(work / "home")
    measured = asyncio.run(measure(given.data, work, given.limit, given.graph))
    for name, rows in measured.items():
        shown: list[list[Value]] = [list(row) for row in rows]
        sys.stdout.write(f"\n{name}\n{table(['threshold', 'right', 'wrong', 'declined'], shown)}\n")
    if given.json:
        given.json.write_text(json.dumps(measured, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
