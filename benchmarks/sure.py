"""Fit and measure what decides between an answer and the closest sentence, over public questions and two libraries.

    python benchmarks/sure.py [--limit 300]

Every question is answered whatever it is worth, and the signs of its first sentence (SIGNS, `minds/small/answer/`)
are kept with what the judge says of it: five minutes. The weights printed are fitted on all of them, with the made-up
lists of `evals/near_misses.py` at half weight; the curves show each half of the questions, by a hash of the id, with
weights that were fitted on the other half.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

from house import DATA
from printed import judge_of, options, own_home

HERE = Path(__file__).resolve().parent
MISS = 3.0
"""Weight of a question of a library that nothing there answers, though somebody else's value does: there are few."""


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
            signs, first = await _open(q.text, [], prepared.library.name)
            rows.append(Row(name, _half(q.id), signs, q.answerable and says(first, q.answers), q.answerable))
    return iter(rows)


async def library(folder: Path, name: str) -> Iterator[Row]:
    """Ask a set of the form of house_dev."""
    look, rows = judge_of(DATA), []
    for q in map(json.loads, (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()):
        signs, first = await _open(q["question"], q["previous"], name)
        right = look.judge({"need": 1, **q}, first)[0] == "right"
        rows.append(Row(name, _half(q["id"]), signs, right and q["answerable"], q["answerable"]))
    return iter(rows)


async def _open(question: str, previous: list[str], library: str) -> tuple[tuple[float, ...], str]:
    """Return the signs of the sentence that came first and the sentence; neither where something else was answered."""
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
    told = [s.text for s in state["answer"].sentences[:1]]
    return next(((ranked[0].signs, told[0]) for ranked in seen if ranked and told == [ranked[0].told]), ((), ""))


def _half(id: str) -> int:
    return int(hashlib.sha256(id.encode()).hexdigest(), 16) % 2


def fitted(rows: list[Row], made: list[tuple[tuple[float, ...], bool]]) -> list[float]:
    """Return a weight for each sign, 0 where it does not count, and the bias."""
    from sklearn.linear_model import LogisticRegression

    from ragweave.minds.small.answer.sentences import WEIGHTS

    at = [n for n, w in enumerate(WEIGHTS) if w]
    all_ = [(r.signs, r.right, 1.0 if r.answerable or r.of == "absent" else MISS) for r in rows]
    signs, right, weight = zip(*all_, *((s, y, 0.5) for s, y in made), strict=True)
    found = LogisticRegression(max_iter=5000).fit([[s[n] for n in at] for s in signs], right, sample_weight=weight)
    out = [0.0] * (len(WEIGHTS) + 1)
    for n, w in zip((*at, -1), (*found.coef_[0], found.intercept_[0]), strict=True):
        out[n] = round(float(w), 2)
    return out


def main() -> None:
    """Ask, fit where that is wanted, and print right, wrong and declined of the other half by threshold."""
    parser = options(__doc__)
    parser.add_argument("--limit", type=int, default=300, help="questions of each public set")
    given = parser.parse_args()
    with own_home() as work:
        from ragweave.app.api import index
        from ragweave.evals.near_misses import judged, lists
        from ragweave.minds.small.answer.sentences import SIGNS

        rows = [*asyncio.run(public(work, given.limit))]
        for folder, name in ((DATA / "house_dev", "house"), (HERE / "observatory", "observatory")):
            index([folder / "library"], name)
            rows += asyncio.run(library(folder, name))
        asked, rows = Counter(r.of for r in rows), [r for r in rows if r.signs]
        made = [(e.signs, right) for _, e, right in judged([*lists(150)])]
    print(json.dumps(dict(zip((*SIGNS, "bias"), fitted(rows, made), strict=True))))
    weights = [fitted([r for r in rows if r.half != half], made) for half in (0, 1)]
    for of, n in asked.items():
        own = [(sum(map(mul, weights[r.half], (*r.signs, 1.0))), r) for r in rows if r.of == of]
        for least in (0.2, 0.25, 0.3, 0.35, 0.4, 0.5):
            said = [r.right for odds, r in own if odds >= math.log(least / (1 - least))]
            print(f"{of:>14} {least:.2f}  {sum(said) / n:.3f} right, {(len(said) - sum(said)) / n:.3f} wrong, of {n}")


if __name__ == "__main__":
    main()
