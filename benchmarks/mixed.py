"""Measure questions over a library of every kind: `python benchmarks/mixed.py [--only first|fresh]`.

The arms are routed (the default), hard, unified, plain RRF over the lists of all corpora, and the corpus with
the answer alone. Choices about routing may use the first set (379 questions), never the fresh one (200, 40 a
kind).
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from printed import run

from ragweave.evals.commands.common import WORK

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("RAGWEAVE_DATA", HERE.parent.parent / "shared" / "data"))


async def measure(work: Path, given: argparse.Namespace) -> dict[str, float]:
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
        if given.only not in ("", name):
            continue
        asked = sample(asked, given.limit)
        bench = mixed.MixedBench(library, Context.model_validate({"mode": "extractive"}))
        found = await mixed.compare(bench, asked, Runner(work / "ledgers"))
        print(f"\n{name}, {len(asked)} questions\n{table(mixed.COLUMNS, mixed.rows_of(found))}")
        print(
            "\nR@5 by the corpus that holds the"
            f" answer\n{table(['system', *CORPORA], mixed.by_kind(found, asked))}"
        )
        for key, value in mixed.flat(found, len(asked)).items():
            figures[f"{name}, {key}"] = value
    return figures


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", default="", choices=("", "first", "fresh"))
    parser.add_argument("--limit", type=int, default=0, help="so many questions of a set, drawn by a seed")
    parser.set_defaults(work=WORK)


if __name__ == "__main__":
    run(__doc__, measure, _options)
