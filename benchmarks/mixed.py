"""A library of every kind, asked by two sets of questions: `python benchmarks/mixed.py [--only first|fresh]`.

`--constant SAY=1e9` asks the routed way alone, by default and with a constant of `corpus_merge.py` set to that.

Routed (the default), hard, unified, plain RRF over the lists of all corpora, and the corpus that holds the answer
alone. What is chosen about routing may be chosen on the first set (379), never on the fresh one (200, 40 a kind).
`ragweave eval mixed` asks the first in more ways.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from printed import options, own_home, tell

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("RAGWEAVE_DATA", HERE.parent.parent / "shared" / "data"))
WORK = Path(".cache/evals")


async def main(only: str, work: Path, limit: int) -> dict[str, float]:
    """Ask both sets, or one, and print a table of each."""
    from ragweave.components.context import Context
    from ragweave.corpora.types import CORPORA
    from ragweave.evals import mixed
    from ragweave.evals.data import sample
    from ragweave.evals.mixed_data import fresh, library_rows, questions
    from ragweave.evals.report import table
    from ragweave.evals.runner import Runner

    library = await mixed.prepare(library_rows(DATA), work)
    figures: dict[str, float] = {}
    for name, asked in (("first", questions(DATA)), ("fresh", fresh(DATA))):
        if only not in ("", name):
            continue
        asked = sample(asked, limit)
        bench = mixed.MixedBench(library, Context.model_validate({"mode": "extractive"}))
        found = await mixed.compare(bench, asked, Runner(work / "ledgers"), every=False)
        print(f"\n{name}, {len(asked)} questions\n{table(mixed.COLUMNS, mixed.rows_of(found))}")
        print(f"\nR@5 by the corpus that holds the answer\n{table(['system', *CORPORA], mixed.by_kind(found, asked))}")
        figures |= {f"{name}, {key}": value for key, value in mixed.flat(found, len(asked)).items()}
    return figures


async def changed(only: str, work: Path, limit: int, constant: str) -> dict[str, float]:
    """Ask both sets, or one, by default and with a constant changed; print what it wins or loses, paired."""
    from ragweave.components import corpus_merge
    from ragweave.components.context import Context
    from ragweave.evals import mixed
    from ragweave.evals.bootstrap import paired
    from ragweave.evals.data import sample
    from ragweave.evals.metrics import recall_at
    from ragweave.evals.mixed_data import fresh, library_rows, questions

    library = await mixed.prepare(library_rows(DATA), work)
    name, _, value = constant.partition("=")
    ours, figures = getattr(corpus_merge, name), dict[str, float]()
    for title, asked in (("first", questions(DATA)), ("fresh", fresh(DATA))):
        bench, found = (
            mixed.MixedBench(library, Context.model_validate({"mode": "extractive"})),
            list[list[list[str]]](),
        )
        for held in (ours, type(ours)(float(value))) if only in ("", title) else ():
            setattr(corpus_merge, name, held)
            found.append([(await bench.routed(q.text))[0] for q in sample(asked, limit)])
        setattr(corpus_merge, name, ours)
        for depth in (1, 5) if found else ():
            by = [
                [recall_at(ids, q.gold, depth) for ids, q in zip(f, sample(asked, limit), strict=True)] for f in found
            ]
            gap = paired(*by)
            print(f"{title}: R@{depth} with {constant} {gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]")
            figures[f"{title}, R@{depth}"] = gap.mean
    return figures


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--only", default="", choices=("", "first", "fresh"))
    parser.add_argument("--limit", type=int, default=0, help="so many questions of a set, drawn by a seed")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of the library, reused")
    parser.add_argument("--constant", help="NAME=VALUE in components/corpus_merge.py, asked beside the default")
    given = parser.parse_args()
    with own_home(given.work) as work:
        made = changed(given.only, work, given.limit, given.constant) if given.constant else None
        tell(asyncio.run(made or main(given.only, work, given.limit)), given.json)
