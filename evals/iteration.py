"""Figures of iteration: what each further hop finds and keeps. `python -m ragweave.evals.iteration --data DIR`."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ragweave.components.context import Context
from ragweave.components.evidence import Evidence, Hop
from ragweave.evals.corpus import PreparedLibrary, prepare, use_home
from ragweave.evals.data import read_jsonl, sample, text_sets
from ragweave.evals.metrics import all_gold_at, exact_match, recall_at, says, token_f1
from ragweave.evals.report import of_rows
from ragweave.models.text import fold

HOPS = 4
"""Hops that are measured."""
CONTROL_POOL = 50
"""Items that the control may keep of its one hop."""

TRAP = (
    "The shipped relevance head was trained on passages of the same 100 HotpotQA questions: read their figures as "
    "in-domain. The questions of multihop_own are written for this project, over the same passages."
)


@dataclass(frozen=True)
class IterationQuestion:
    """One question with what it needs.

    `gold` are ids of the passages it needs, `links` strings that lead from one to the next; hops are counted by `kind`.
    """

    text: str
    gold: tuple[str, ...]
    kind: str
    links: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


@dataclass
class IterationTrail:
    """What one run left behind.

    `ranked` has the passage ids after each hop, best first, `kept` how many rows of evidence there were, `control`
    those of one hop; the answer is empty for an abstention.
    """

    asked: IterationQuestion
    ranked: list[list[str]] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    hops: list[Hop] = field(default_factory=list)
    control: list[str] = field(default_factory=list)
    answer: str = ""

    def after(self, hop: int) -> tuple[list[str], int]:
        """Return the ranking after a hop and the number of rows kept; a run that stopped earlier keeps its last."""
        at = min(hop, len(self.ranked)) - 1
        return (self.ranked[at], self.kept[at]) if self.ranked else ([], 0)

    @property
    def names_bridge(self) -> bool | None:
        """The second query names a link of the question, or a gold passage that the question does not name."""
        if len(self.hops) < 2:
            return None
        query, said = fold(self.hops[1]["query"]), fold(self.asked.text)
        links = self.asked.links or tuple(bare(g) for g in self.asked.gold)
        return any(fold(link) in query and fold(link) not in said for link in links)


def bare(title: str) -> str:
    """Return a title without what stands in brackets after it."""
    return title.split(" (")[0].strip()


async def trail(prepared: PreparedLibrary, asked: IterationQuestion, context: Context, graph: Any) -> IterationTrail:
    """Run one question and note the order of the evidence after each hop."""
    out = IterationTrail(asked)
    rows: dict[str, Evidence] = {}
    stream = graph.astream({"messages": [("human", asked.text)]}, context=context, stream_mode="updates")
    async for update in stream:
        for node, part in update.items():
            if node in {"fuse", "grade", "reason"} and part:
                rows.update({e["id"]: e for e in part.get("evidence", [])})
            if node == "check":
                out.answer = " ".join(s.text for s in part["answer"].sentences)
            if node == "reason" and part.get("hops"):
                out.hops.extend(part["hops"])
                best = sorted(rows.values(), key=lambda e: (-e.get("global_score", 0.0), e["id"]))
                out.ranked.append(passages(prepared, best))
                out.kept.append(len(best))
    return out


async def control(prepared: PreparedLibrary, asked: IterationQuestion, context: Context, graph: Any) -> list[str]:
    """Return the passages of one hop, reranked against the question, best first."""
    once = context.model_copy(update={"max_hops": 1, "top_k": CONTROL_POOL})
    state = await graph.ainvoke({"messages": [("human", asked.text)]}, context=once)
    rows: Sequence[Evidence] = state.get("evidence", [])
    return passages(prepared, sorted(rows, key=lambda e: (-e["score"], e["id"])))


def passages(prepared: PreparedLibrary, rows: Sequence[Evidence]) -> list[str]:
    """Return the passage ids of evidence rows in order, each once."""
    return list(dict.fromkeys(prepared.id_of(e["locator"].get("file", "")) for e in rows))


def figures(trails: Sequence[IterationTrail], hops: int = HOPS) -> dict[str, dict[str, float]]:
    """Return recall and all-gold over the best 5, the best 10 and all that was kept, after each hop, and the control's.

    The control has as many items as the hops before it kept together, taken in one hop.
    """
    out: dict[str, dict[str, float]] = {}
    for hop in range(1, hops + 1):
        here = [t.after(hop) for t in trails]
        out[f"after hop {hop}"] = _row([(ids, kept, t.asked.gold) for t, (ids, kept) in zip(trails, here, strict=True)])
        same = [(t.control[:kept], kept, t.asked.gold) for t, (_, kept) in zip(trails, here, strict=True)]
        out[f"one hop, as many as after {hop}"] = _row(same)
    return out


def _row(cases: Sequence[tuple[Sequence[str], int, Sequence[str]]]) -> dict[str, float]:
    row: dict[str, float] = {}
    for name, k in (("@5", 5), ("@10", 10), ("@all", 10**6)):
        row[f"recall{name}"] = float(np.mean([recall_at(ids, gold, k) for ids, _, gold in cases]))
        row[f"all_gold{name}"] = float(np.mean([all_gold_at(ids, gold, k) for ids, _, gold in cases]))
    row["items"] = float(np.mean([kept for _, kept, _ in cases]))
    return {k: round(v, 3) for k, v in row.items()}


def behaviour(trails: Sequence[IterationTrail]) -> dict[str, Any]:
    """Return mean hops, the share that stopped early, the share of second queries with a bridge, hops by type."""
    named = [t.names_bridge for t in trails if t.names_bridge is not None]
    by_kind: dict[str, Counter[int]] = {}
    for t in trails:
        by_kind.setdefault(t.asked.kind, Counter())[len(t.hops)] += 1
    return {
        "questions": len(trails),
        "mean_hops": round(float(np.mean([len(t.hops) for t in trails])), 3),
        "stopped_early": round(float(np.mean([len(t.hops) < HOPS for t in trails])), 3),
        "second_query_names_bridge": round(float(np.mean(named)), 3) if named else None,
        "second_queries": len(named),
        "hops_by_type": {k: dict(sorted(c.items())) for k, c in sorted(by_kind.items())},
    }


def sets(data: Path, limit: int) -> dict[str, list[IterationQuestion]]:
    """Read the question sets: two, three and four hops, and questions that need a single one."""
    single, hotpot, _ = text_sets(data)
    own = read_jsonl(data / "multihop_own/queries.jsonl")
    own3, own4 = ([_asked(q, f"{n} hops") for q in own if q["hops"] == n] for n in (3, 4))
    found = {
        "multihop_own, 3 hops": own3,
        "multihop_own, 4 hops": own4,
        "hotpotqa": [_asked(q, str(q["type"])) for q in hotpot],
        "xquad": [_asked(q, "single") for q in sample(single, 100)],
    }
    return {name: sample(rows, limit) for name, rows in found.items()}


def _asked(row: Mapping[str, Any], kind: str) -> IterationQuestion:
    links, answers = tuple(row.get("links", ())), tuple(row.get("answers", ()))
    return IterationQuestion(str(row["question"]), tuple(row["gold"]), kind, links, answers)


def answered(trails: Sequence[IterationTrail]) -> dict[str, float]:
    """Return exact match and token F1 of what was shown, as it is, and how often it holds a gold answer or nothing."""
    asked = [(t.answer, t.asked.answers) for t in trails]
    return {
        "exact_match": round(float(np.mean([exact_match(text, golds) for text, golds in asked])), 3),
        "token_f1": round(float(np.mean([token_f1(text, golds) for text, golds in asked])), 3),
        "holds_answer": round(float(np.mean([says(text, golds) for text, golds in asked])), 3),
        "abstained": round(float(np.mean([not text for text, _ in asked])), 3),
    }


async def measure(
    data: Path,
    work: Path,
    graph: str,
    limit: int,
    knobs: Mapping[str, Any],
    only: Sequence[str] = (),
    told: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Measure every set in one library that holds the passages of all of them.

    `only` has parts of the names of the sets to run; all where empty.
    """
    prepared = await prepare(text_sets(data)[2], "text", work)
    compiled = import_module(f"ragweave.graphs.{graph}").graph
    context = Context(**{"library": prepared.library.name, "mode": "extractive", "max_hops": HOPS, **knobs})
    out: dict[str, Any] = {}
    for name, questions in sets(data, limit).items():
        if only and not any(o in name for o in only):
            continue
        trails = []
        for n, asked in enumerate(questions, 1):
            made = await trail(prepared, asked, context, compiled)
            made.control = await control(prepared, asked, context, compiled)
            trails.append(made)
            told(f"{name}: {n} of {len(questions)}")
        out[name] = {"figures": figures(trails), **behaviour(trails), "answers": answered(trails)}
    return out


def report(measured: Mapping[str, Any]) -> str:
    """Return the figures as text."""
    lines = [TRAP]
    for name, row in measured.items():
        lines += ["", f"{name}: {row['questions']} questions", of_rows(row["figures"])]
        lines.append(
            f"mean hops {row['mean_hops']}, stopped before hop {HOPS} {row['stopped_early']:.0%}, second queries that "
            f"name a bridge {row['second_query_names_bridge']} of {row['second_queries']}, "
            f"hops by type {row['hops_by_type']}, answers {row['answers']}"
        )
    return "\n".join(lines)


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{text}   ")


def main() -> None:
    """Print the figures, and write them as JSON where `--json` names a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    parser.add_argument("--work", type=Path, default=Path(".cache/evals"), help="folder for the evaluation library")
    parser.add_argument("--limit", type=int, default=10_000, help="questions per set")
    parser.add_argument("--graph", default="agent", help="graph that is run")
    parser.add_argument("--only", nargs="*", default=[], help="sets to run, by part of their name")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="settings of the runs")
    parser.add_argument("--json", type=Path, help="file for the figures")
    given = parser.parse_args()
    work = given.work.resolve()
    use_home(work / "home")
    knobs = dict(pair.split("=", 1) for pair in given.set)
    measured = asyncio.run(measure(given.data, work, given.graph, given.limit, knobs, given.only, _progress))
    sys.stdout.write(report(measured) + "\n")
    if given.json:
        given.json.write_text(json.dumps(measured, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
