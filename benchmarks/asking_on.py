"""Measure further search rounds without a model: `python benchmarks/asking_on.py [--limit N] [-v]`.

The questions are 75 of three and four hops over the passages of HotpotQA (`multihop_own`). Each runs once
with one round of search and once as shipped, with further rounds for what the best passages leave open. The
program prints the share of the answering passages among the first five, and how often all of them are
there.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

from printed import run

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("RAGWEAVE_DATA", HERE.parent.parent / "shared" / "data"))
FIRST = 5
ARMS: dict[str, dict[str, Any]] = {"one round": {"max_hops": 1}, "asking on": {}}


async def first(question: str, library: str, knobs: dict[str, Any], corpus: Any) -> list[str]:
    """Return the ids of the first passages that a run has found."""
    from ragweave import Context
    from ragweave.app.api import astate

    state: Any = await astate(question, context=Context(library=library, mode="extractive", **knobs))
    rows = sorted(state["evidence"], key=lambda e: -e.get("global_score", e["score"]))
    ids = [corpus.id_of(row["locator"]["file"]) for row in rows]
    return list(dict.fromkeys(ids))[:FIRST]


async def measure(work: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Ask all questions in both arms."""
    from ragweave.evals.corpus import prepare
    from ragweave.evals.data import read_jsonl

    passages = [{**p, "id": str(p["id"])} for p in read_jsonl(DATA / "multihop_hotpotqa/corpus.jsonl")]
    corpus = await prepare(passages, "asking-on", work)
    asked = list(read_jsonl(DATA / "multihop_own/queries.jsonl"))
    if given.limit:
        asked = asked[: given.limit]
    figures: dict[str, Any] = {}
    for arm, knobs in ARMS.items():
        recall, whole, began = 0.0, 0, time.process_time()
        for q in asked:
            gold = set(map(str, q["gold"]))
            found = await first(q["question"], corpus.library.name, knobs, corpus)
            held = len(gold & set(found))
            recall += held / len(gold)
            whole += held == len(gold)
            if given.verbose and held < len(gold):
                print(f"{arm}: {q['question']}\n   without {sorted(gold - set(found))}")
        figures[f"{arm}: R@{FIRST}"] = f"{recall / len(asked):.3f} of {len(asked)} questions"
        figures[f"{arm}: all of them"] = f"{whole / len(asked):.3f}"
        figures[f"{arm}: processor ms a question"] = 1e3 * (time.process_time() - began) / len(asked)
    return figures


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=0, help="only the first so many questions")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was not found")


if __name__ == "__main__":
    run(__doc__, measure, _options)
