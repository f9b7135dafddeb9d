"""Figures of time decay on a library of changing facts: `python -m ragweave.evals.recency --news FOLDER`.

FOLDER is what `examples/news.py` makes. Every question is asked twice with the small mind: without decay, and with
the rule that decides by the question.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from ragweave.corpora.ingest.run import index
from ragweave.evals.corpus import use_home
from ragweave.evals.data import read_jsonl
from ragweave.evals.metrics import says
from ragweave.evals.report import Value, table
from ragweave.minds.context import Context
from ragweave.minds.recency import wants_recency
from ragweave.nodes.answer import Answer

LIBRARY = "news"


async def ask(question: str, recency: str, name: str) -> tuple[str, str, Answer]:
    """Return the file of the best evidence, the file cited first, and the answer of a graph."""
    graph = import_module(f"ragweave.graphs.{name}").graph
    context = Context.model_validate({"library": LIBRARY, "mind": "small", "recency": recency, "sentences": 1})
    sent: Any = {"messages": [("human", question)]}
    state = await graph.ainvoke(sent, context=context)
    answer: Answer = state["answer"]
    rows = {e["id"]: e for e in state["evidence"]}
    best = rows[state["candidates"][0]]["locator"]["file"] if state["candidates"] else ""
    cited = answer.citations[0].locator.get("file", "") if answer.citations else ""
    return Path(best).name, Path(cited).name, answer


async def measure(rows: Sequence[Mapping[str, Any]], graph: str) -> dict[str, dict[str, float]]:
    """Return shares per kind of question.

    `first` and `cited`: the gold report is the best evidence, and the one the answer cites first. `right`: the answer
    holds the gold value. `harmed`: right without decay and not with it. `asked`: the rule took it as asking for news.
    """
    out: dict[str, dict[str, float]] = {}
    now = datetime.now(UTC)
    for kind in dict.fromkeys(r["kind"] for r in rows):
        asked = [r for r in rows if r["kind"] == kind]
        figures: dict[str, float] = {"questions": len(asked)}
        figures["asked"] = sum(wants_recency(r["question"], now) for r in asked) / len(asked)
        right: dict[str, list[bool]] = {}
        for recency in ("off", "auto"):
            found = [await ask(r["question"], recency, graph) for r in asked]
            pairs = list(zip(asked, found, strict=True))
            right[recency] = [says(answer.text, r["answers"]) for r, (*_, answer) in pairs]
            figures[f"first {recency}"] = sum(best in r["gold"] for r, (best, *_) in pairs) / len(asked)
            figures[f"cited {recency}"] = sum(cited in r["gold"] for r, (_, cited, _) in pairs) / len(asked)
            figures[f"right {recency}"] = sum(right[recency]) / len(asked)
        figures["harmed"] = sum(a and not b for a, b in zip(right["off"], right["auto"], strict=True)) / len(asked)
        out[kind] = figures
    return out


async def run(news: Path, graph: str) -> dict[str, dict[str, float]]:
    """Index the news and measure."""
    await index([news / "files"], LIBRARY)
    return await measure(read_jsonl(news / "questions.jsonl"), graph)


def main() -> None:
    """Print the table, and write it as JSON where `--json` names a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--news", type=Path, required=True, help="folder made by examples/news.py")
    parser.add_argument("--work", type=Path, default=Path(".cache/evals"), help="folder for the evaluation library")
    parser.add_argument("--graph", default="rag_fusion", help="graph that answers")
    parser.add_argument("--json", type=Path, help="file for the figures")
    given = parser.parse_args()
    use_home(given.work.resolve() / "home")
    out = asyncio.run(run(given.news, given.graph))
    rows: list[list[Value]] = [[kind, *figures.values()] for kind, figures in out.items()]
    sys.stdout.write(table(["kind", *next(iter(out.values()))], rows) + "\n")
    if given.json:
        given.json.write_text(json.dumps(out, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
