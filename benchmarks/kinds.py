"""Measure questions for things of a kind: `python benchmarks/kinds.py [--work FOLDER] [-v]`.

The library is that of `mixed.py`: texts, pictures, clips and recordings. Questions for pictures are made from
their alternative texts (“Which picture shows ...?”, 116); the fresh questions of the set ask for
pictures, clips and recordings. The program prints how often the thing itself is among what `ask` shows
without a model, and among the first three of `search`; how often it is first; and how often the first is of
its kind.
"""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

from printed import run

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("RAGWEAVE_DATA", HERE.parent.parent / "shared" / "data"))
FIRST = 3
RECORDED = ("clip", "video")
Asked = tuple[str, str, set[str]]
"""Question, corpus, and the ids of what answers it."""


def questions() -> list[tuple[str, Asked]]:
    """Return the questions with the name of their set."""
    from ragweave.evals.data import read_jsonl
    from ragweave.evals.mixed_data import fresh

    asked: list[tuple[str, Asked]] = []
    for row in read_jsonl(DATA / "images_astronomy/captions.jsonl"):
        if row["caption"] and row["alt"]:
            said = row["alt"].partition(".")[0].strip()
            asked.append(("pictures, described", (f"Which picture shows {said}?", "image", {row["id"]})))
    for q in fresh(DATA):
        if q.corpus in ("image", "clip", "video"):
            gold = set(q.gold)
            if q.corpus == "video":  # a clip of the recording answers as well
                gold = {re.sub("[-_]", " ", name) for name in q.gold}
            asked.append((f"{q.corpus}, fresh", (q.text, q.corpus, gold)))
    return asked


async def answered(question: str, library: str) -> list[str]:
    """Return the ids of the items that an answer without a model shows, in its order."""
    from ragweave import Context
    from ragweave.app.api import aask

    answer = await aask(question, context=Context(library=library, mode="extractive"))
    return list(dict.fromkeys([citation.id for citation in answer.citations]))


async def searched(question: str, library: str) -> list[str]:
    """Return the ids of the first three of `search`."""
    from ragweave import Context
    from ragweave.app.api import asearch

    rows = await asearch(question, context=Context(library=library, mode="extractive"))
    return [row["id"] for row in rows[:FIRST]]


async def measure(work: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Ask all questions and return the figures."""
    from ragweave.evals import mixed
    from ragweave.evals.mixed_data import library_rows

    held = await mixed.prepare(library_rows(DATA), work)
    totals: dict[str, Counter[str]] = {}
    for name, (text, corpus, gold) in questions():
        total = totals.setdefault(name, Counter())
        total["of"] += 1
        for way, ask in (("ask", answered), ("search", searched)):
            ids = await ask(text, held.name)
            items = await held.items(ids)
            known = [name_of(items[i], corpus) for i in ids if i in items]
            total[f"{way}: shown"] += bool(gold & set(known[:FIRST]))
            total[f"{way}: first"] += bool(known and known[0] in gold)
            kinds = RECORDED if corpus in RECORDED else (corpus,)
            total[f"{way}: first of its kind"] += bool(ids and items[ids[0]].corpus in kinds)
            if given.verbose and way == "ask" and not gold & set(known[:FIRST]):
                print(f"{name}: {text}\n   {gold}: {known}")
    figures: dict[str, Any] = {}
    for name, total in totals.items():
        for what in ("shown", "first", "first of its kind"):
            for way in ("ask", "search"):
                count = total[f"{way}: {what}"]
                figures[f"{name}, {way}: {what}"] = f"{count} of {total['of']} ({count / total['of']:.3f})"
    return figures


def name_of(item: Any, corpus: str) -> str:
    """Return the id by which the questions know an item; of a clip the recording, if that is asked for."""
    if corpus == "video":
        return str(item.title)
    return str(item.meta.get("key", ""))


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was not shown")


if __name__ == "__main__":
    run(__doc__, measure, _options)
