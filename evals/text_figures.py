"""Search and answers over the public text sets: `python -m ragweave.evals.text_figures --data DIR`."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from ragweave.components.context import Context
from ragweave.evals.answers import Question, ask_all, figures, question_of
from ragweave.evals.corpus import PreparedLibrary, prepare, use_home
from ragweave.evals.data import read_jsonl, sample, text_sets
from ragweave.evals.report import of_rows
from ragweave.evals.retrieval import Query, compare


async def retrieval(data: Path, work: Path, limit: int) -> dict[str, dict[str, dict[str, float]]]:
    """XQuAD and HotpotQA passages in one index: every ranking method on both question sets."""
    xquad, hotpot, passages = text_sets(data)
    prepared = await prepare(passages, "text", work)
    out: dict[str, dict[str, dict[str, float]]] = {}
    for name, rows in (("xquad", sample(xquad, limit)), ("hotpotqa", sample(hotpot, limit))):
        queries = [Query(str(q["question"]), tuple(str(g) for g in q["gold"])) for q in rows]
        out[name] = {m: f.mean() for m, f in (await compare(prepared, queries)).items()}
    return out


async def answers(data: Path, work: Path, limit: int, graph: str) -> dict[str, dict[str, float]]:
    """Quotes of the extractive mode over every set of `question_sets`."""
    build = import_module(f"ragweave.graphs.{graph}").build
    out: dict[str, dict[str, float]] = {}
    for name, prepared, questions in await question_sets(data, work, limit):
        context = Context(library=prepared.library.name, mode="extractive")
        out[name] = figures(await ask_all(build, questions, context, name_of=prepared.id_of))
    return out


async def question_sets(data: Path, work: Path, limit: int) -> list[tuple[str, PreparedLibrary, list[Question]]]:
    """Return the question sets with the library to ask: XQuAD, HotpotQA, and the own ones."""
    squad, two_hops, passages = text_sets(data)
    xquad, hotpot = [question_of(q, "xquad") for q in squad], [question_of(q, "hotpotqa") for q in two_hops]
    own = [question_of(q, "own") for q in read_jsonl(data / "multihop_own/queries.jsonl")]
    whole = await prepare(passages, "text", work)
    return [
        ("xquad", whole, sample(xquad, limit)),
        ("hotpotqa", whole, sample(hotpot, limit)),
        ("multihop_own", whole, sample(own, limit)),
    ]


def main() -> None:
    """Print the tables, and write them as JSON where `--json` names a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    parser.add_argument("--work", type=Path, default=Path(".cache/evals"), help="folder for the evaluation libraries")
    parser.add_argument("--limit", type=int, default=10_000, help="questions per set")
    parser.add_argument("--graph", default="agent", help="graph that answers")
    parser.add_argument("--only", choices=["retrieval", "answers"], help="run one part")
    parser.add_argument("--json", type=Path, help="file for the figures")
    given = parser.parse_args()
    work = given.work.resolve()
    use_home(work / "home")
    out: dict[str, Any] = {}
    if given.only != "answers":
        out["retrieval"] = asyncio.run(retrieval(given.data, work, given.limit))
        for name, rows in out["retrieval"].items():
            sys.stdout.write(f"\n{name}: ranking of paragraphs\n{of_rows(rows)}\n")
    if given.only != "retrieval":
        out["answers"] = asyncio.run(answers(given.data, work, given.limit, given.graph))
        sys.stdout.write(f"\nquotes of the extractive mode, graph {given.graph}\n{of_rows(out['answers'])}\n")
    if given.json:
        given.json.write_text(json.dumps(out, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
