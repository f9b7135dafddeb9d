"""Fit and measure what decides between an answer and the closest sentence, over public questions and two libraries.

    python benchmarks/sure.py [--limit 200] [--fit]

Every question is answered whatever it is worth, and the signs of its first sentence (`minds/small/sentences.py`, SIGNS)
are kept with what the judge says. Half of the questions by a hash of their id, with the made-up lists of
`evals/near_misses.py` at half weight, is what `--fit` fits the weights on; the curves are those of the other half.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from house import DATA
from printed import judge_of, options, own_home

HERE = Path(__file__).resolve().parent


class Row(NamedTuple):
    """One question: its set, half, signs (none where no sentence was chosen), whether it is right, and answerable."""

    of: str
    half: int
    signs: tuple[float, ...]
    right: bool
    answerable: bool


async def public(work: Path, limit: int) -> Iterator[Row]:
    """Ask the public sets."""
    from ragweave.evals.metrics import says
    from ragweave.evals.text_figures import question_sets

    rows = []
    for name, prepared, questions in await question_sets(DATA, work, limit):
        for q in questions:
            signs, answer = await _open(q.text, [], prepared.library.name)
            rows.append(Row(name, _half(q.id), signs, q.answerable and says(answer.text, q.answers), q.answerable))
    return iter(rows)


async def library(folder: Path, name: str) -> Iterator[Row]:
    """Ask a set of the form of house_dev."""
    look, rows = judge_of(DATA), []
    for q in map(json.loads, (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()):
        signs, answer = await _open(q["question"], q["previous"], name)
        right = look.judge({"need": 1, **q}, answer.text, answer.abstained)[0] == "right"
        rows.append(Row(name, _half(q["id"]), signs, right and q["answerable"], q["answerable"]))
    return iter(rows)


async def _open(question: str, previous: list[str], library: str) -> tuple[tuple[float, ...], Any]:
    """Return the signs of the first sentence and the answer, with nothing held back."""
    from langgraph.checkpoint.memory import InMemorySaver

    from ragweave import Context
    from ragweave.app.api import astate
    from ragweave.minds.small import write

    seen: list[Any] = []
    rank = write.rank
    write.rank = lambda *given: seen.append(rank(*given)) or seen[-1]  # type: ignore[func-returns-value]
    context, saver = Context(library=library, mind="small", method={"answerable": 0.0}), InMemorySaver()
    try:
        for text in [*previous, question]:
            seen.clear()
            state: Any = await astate(text, context=context, thread="one", checkpointer=saver)
    finally:
        write.rank = rank
    answer = state["answer"]
    return (seen[0][0].signs if seen and seen[0] and not answer.abstained else ()), answer


def _half(id: str) -> int:
    return int(hashlib.sha256(id.encode()).hexdigest(), 16) % 2


def fitted(rows: list[Row]) -> tuple[list[float], float]:
    """Return weights and bias, fitted on the half 0 and on made-up lists."""
    from sklearn.linear_model import LogisticRegression

    from ragweave.evals.near_misses import judged, lists

    made = [(e.signs, right, 0.5) for _, e, right in judged([*lists(150)])]
    own = [(r.signs, r.right, 1.0) for r in rows if r.half == 0]
    signs, right, weight = zip(*own, *made, strict=True)
    found = LogisticRegression(max_iter=5000).fit(signs, right, sample_weight=weight)
    return [round(float(w), 2) for w in found.coef_[0]], round(float(found.intercept_[0]), 2)


def main() -> None:
    """Ask, fit where that is wanted, and print right, wrong and declined of the other half by threshold."""
    parser = options(__doc__)
    parser.add_argument("--limit", type=int, default=200, help="questions of each public set")
    parser.add_argument("--fit", action="store_true", help="fit the weights on one half and print them")
    given = parser.parse_args()
    with own_home() as work:
        from ragweave.app.api import index
        from ragweave.minds.small import sentences

        rows = [*asyncio.run(public(work, given.limit))]
        for folder, name in ((DATA / "house_dev", "house"), (HERE / "observatory", "observatory")):
            index([folder / "library"], name)
            rows += asyncio.run(library(folder, name))
        rows = [r for r in rows if r.signs]
        weights, bias = fitted(rows) if given.fit else (list(sentences.WEIGHTS), sentences.BIAS)
    print(json.dumps({**dict(zip(sentences.SIGNS, weights, strict=True)), "bias": bias}))
    for of in dict.fromkeys(r.of for r in rows):
        other = [r for r in rows if r.of == of and r.half == 1]
        for least in (0.2, 0.3, 0.4, 0.5, 0.6):
            edge = math.log(least / (1 - least))
            said = [r for r in other if bias + sum(w * s for w, s in zip(weights, r.signs, strict=True)) >= edge]
            right, n = sum(r.right for r in said), len(other) or 1
            print(f"{of:>14} {least:.1f}  {right / n:.3f} right, {(len(said) - right) / n:.3f} wrong, of {len(other)}")


if __name__ == "__main__":
    main()
