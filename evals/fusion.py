"""Figures of phrasing and fusion: `python -m ragweave.evals.fusion --data DIR [--json OUT]`.

XQuAD and HotpotQA passages lie in one index. Every way of ranking is asked the same questions, and is compared with the
control (hybrid + rerank, no rewrites) by paired bootstrap. The shipped relevance head was trained on the HotpotQA
questions, so that HotpotQA is ranked by five heads, each of which has not seen the question; XQuAD is clean transfer.
The good rewrites (`rewrites.jsonl`) were written for these questions from their words alone, as a strong model writes
them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from ragweave.corpora.store.library import Library
from ragweave.evals.bootstrap import Interval, interval, paired
from ragweave.evals.corpus import Prepared, prepare, use_home
from ragweave.evals.data import read_jsonl
from ragweave.evals.evaluator import FOLDS
from ragweave.evals.evaluator_data import hotpot, idf_of
from ragweave.evals.metrics import all_gold_at, auc, ndcg_at, recall_at
from ragweave.evals.report import table
from ragweave.evals.train_evaluator import examples, fit
from ragweave.minds.context import Context
from ragweave.minds.evidence import RankedList
from ragweave.minds.fusion import fused
from ragweave.minds.small.expand import STRONG, first_look
from ragweave.minds.small.rank import score_items
from ragweave.models import relevance
from ragweave.models.relevance import Head

logger = logging.getLogger(__name__)

CONTROL = "hybrid + rerank"
METRICS = ("R@5", "all-gold@5", "nDCG@10")
THRESHOLDS = (-0.5, 0.0, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
POOL = 50


@dataclass(frozen=True)
class Asked:
    """One question of the evaluation.

    Attributes:
        question: the question.
        gold: ids of its passages.
        good: rewrites as a strong model writes them; empty where none were written.
        head: relevance head that has not seen it; None for the shipped one.
    """

    question: str
    gold: tuple[str, ...]
    good: tuple[str, ...] = ()
    head: Head | None = None

    def unseen(self) -> AbstractContextManager[object]:
        """Rank with the head that has not seen the question."""
        return mock.patch.object(relevance, "head", lambda: self.head) if self.head else nullcontext()


@dataclass
class Ranked:
    """What one way of ranking gave, a value per question in the order of the questions."""

    values: dict[str, list[float]] = field(default_factory=lambda: {m: [] for m in METRICS})
    ms: list[float] = field(default_factory=list)

    def add(self, found: Sequence[str], gold: Sequence[str], seconds: float) -> None:
        """Score one ranking of passage ids."""
        scores = (recall_at(found, gold, 5), all_gold_at(found, gold, 5), ndcg_at(found, gold, 10))
        for name, value in zip(METRICS, scores, strict=True):
            self.values[name].append(value)
        self.ms.append(seconds * 1000)


async def lists_of(library: Library, phrasings: Sequence[str]) -> list[RankedList]:
    """Return the lists of every phrasing as `retrieve` gives them."""
    found: list[RankedList] = []
    for query, both in zip(phrasings, await library.search("paragraph", phrasings, POOL), strict=True):
        for kind, hits in (("dense", both.dense), ("lexical", both.lexical)):
            found.append(
                {
                    "corpus": "paragraph",
                    "query": query,
                    "kind": "dense" if kind == "dense" else "lexical",
                    "ids": [h.id for h in hits],
                    "scores": [h.score for h in hits],
                }
            )
    return found


async def rank(library: Library, asked: Asked, rewrites: Sequence[str], context: Context | None) -> list[str]:
    """Return item ids, best first: fused, and reranked where the context says so."""
    found = await lists_of(library, [asked.question, *rewrites])
    context = context or Context()
    pool = fused(found, asked.question, context)
    if not context.rerank:
        return [i for i, _ in pool]
    with asked.unseen():
        return [r["id"] for r in await score_items(library, asked.question, pool, context, 1)]


async def single(library: Library, question: str, kind: str) -> list[str]:
    """Return item ids of one list alone."""
    return next(r["ids"] for r in await lists_of(library, [question]) if r["kind"] == kind)


PLAIN = Context(rerank=False)
WAYS: dict[str, tuple[str, Context]] = {
    "hybrid": ("", PLAIN),
    "pure RRF": ("", Context(preset="rag-fusion-paper")),
    CONTROL: ("", Context()),
    "rerank 30": ("", Context(top_k=30)),
    "rerank 50": ("", Context(top_k=50)),
    "+ good rewrites": ("good", Context()),
    "hybrid + good rewrites": ("good", PLAIN),
    "pure RRF + good rewrites": (
        "good",
        Context(preset="rag-fusion-paper"),
    ),
}
"""Which rewrites and which fusion each way of ranking uses, beside the two single lists."""


async def compare(prepared: Prepared, asked: Sequence[Asked]) -> tuple[dict[str, Ranked], list[float]]:
    """Rank every question in every way, one after another, and take the gate's signal of each.

    Where a way has no rewrite to add for a question, its ranking and time are those of the way without.
    """
    library = prepared.library
    out: dict[str, Ranked] = {name: Ranked() for name in ("dense", "lexical", *WAYS, "+ good rewrites, gate")}
    signals: list[float] = []
    for a in asked:
        ways = {k: v for k, v in WAYS.items() if v[0] != "good" or a.good}
        known: dict[tuple[tuple[str, ...], Context], tuple[list[str], float]] = {}
        for kind in ("dense", "lexical"):
            began = time.perf_counter()
            ids = await single(library, a.question, kind)
            await _score(out[kind], prepared, ids, a, time.perf_counter() - began)
        for name, (which, context) in ways.items():
            rewrites = tuple(a.good if which else ())
            if (rewrites, context) not in known:
                began = time.perf_counter()
                ids = await rank(library, a, rewrites, context)
                known[rewrites, context] = ids, time.perf_counter() - began
            await _score(out[name], prepared, known[rewrites, context][0], a, known[rewrites, context][1])
        began = time.perf_counter()
        with a.unseen():
            signals.append(await first_look(library, a.question))
        looked = time.perf_counter() - began
        if a.good:
            ids, seconds = known[() if signals[-1] >= STRONG else a.good, Context()]
            await _score(out["+ good rewrites, gate"], prepared, ids, a, seconds + looked)
    return {name: r for name, r in out.items() if r.ms}, signals


async def _score(into: Ranked, prepared: Prepared, ids: Sequence[str], asked: Asked, seconds: float) -> None:
    items = await prepared.library.items(ids)
    passages = list(dict.fromkeys(prepared.id_of(items[i].locator["file"]) for i in ids if i in items))
    into.add(passages, asked.gold, seconds)


def figures(ranked: Mapping[str, Ranked], control: str = CONTROL) -> dict[str, dict[str, Any]]:
    """Return for each way its means with intervals, its difference from the control, and questions saved and lost.

    A question is saved where all of its gold is among the first five, and was not with the control.
    """
    out: dict[str, dict[str, Any]] = {}
    base = ranked[control]
    for name, r in ranked.items():
        row: dict[str, Any] = {"questions": len(r.ms), "ms": float(np.mean(r.ms)), "ms median": float(np.median(r.ms))}
        for metric in METRICS:
            row[metric] = _interval(interval(r.values[metric]))
            if len(r.ms) == len(base.ms):
                row[f"{metric} - control"] = _interval(paired(base.values[metric], r.values[metric]))
        if len(r.ms) == len(base.ms):
            before, after = np.array(base.values["all-gold@5"]), np.array(r.values["all-gold@5"])
            row["saved"], row["lost"] = int((after > before).sum()), int((after < before).sum())
        out[name] = row
    return out


def _interval(found: Interval) -> list[float]:
    return [round(v, 4) for v in (found.mean, found.low, found.high)]


def gate_curve(without: Ranked, with_: Ranked, signals: Sequence[float]) -> dict[str, Any]:
    """Return, for each threshold of the signal, the share of calls saved and the recall lost by it.

    Args:
        without: ranking where the call is not made.
        with_: ranking where it always is.
        signals: the gate's signal for each question.

    Returns:
        `curve`, a row per threshold; and `auc`, how well the signal tells the questions whose gold is found whole
        without the call from the others.
    """
    strong = np.array(signals)
    rows = []
    for threshold in THRESHOLDS:
        skipped = strong >= threshold
        row: dict[str, float] = {"threshold": threshold, "calls saved": float(skipped.mean())}
        for metric in METRICS[:2]:
            before, after = np.array(without.values[metric]), np.array(with_.values[metric])
            row[f"{metric} lost"] = float(after.mean() - np.where(skipped, before, after).mean())
        rows.append({k: round(v, 4) for k, v in row.items()})
    found = [int(v) for v in without.values["all-gold@5"]]
    return {"auc": round(auc(found, signals), 4), "curve": rows}


def unseen_heads(data: Path) -> dict[str, Head]:
    """Return for each HotpotQA question a relevance head that was trained without its fold."""
    asked = hotpot(data)
    seen = examples(asked, idf_of([p for a in asked for p in a.passages]))
    fold = np.random.RandomState(0).permutation(len(asked)) % FOLDS
    heads = [fit([s for s, f in zip(seen, fold, strict=True) if f != k]) for k in range(FOLDS)]
    return {a.question: heads[k] for a, k in zip(asked, fold, strict=True)}


def good_rewrites() -> dict[str, tuple[str, ...]]:
    """Return the written rewrites by question id."""
    text = files("ragweave.evals").joinpath("rewrites.jsonl").read_text(encoding="utf-8")
    return {row["id"]: tuple(row["queries"]) for row in map(json.loads, text.splitlines())}


def shown(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the figures as a table."""
    columns = ["way", "n", *METRICS, "R@5 - control", "all-gold@5 - control", "saved", "lost", "ms"]
    out = []
    for name, r in rows.items():
        cells = [f"{r[m][0]:.3f}" for m in METRICS]
        for m in METRICS[:2]:
            told = r.get(f"{m} - control")
            cells.append(f"{told[0]:+.3f} [{told[1]:+.3f}, {told[2]:+.3f}]" if told else "")
        out.append([name, r["questions"], *cells, r.get("saved", ""), r.get("lost", ""), f"{r['ms']:.1f}"])
    return table(columns, out)


async def measure(data: Path, work: Path, limit: int) -> dict[str, Any]:
    """Return every figure of both sets."""
    heads, written = unseen_heads(data), good_rewrites()
    passages = [
        *read_jsonl(data / "squad_xquad_en/passages.jsonl"),
        *read_jsonl(data / "multihop_hotpotqa/corpus.jsonl"),
    ]
    prepared = await prepare(passages, "text", work)
    out: dict[str, Any] = {}
    for name, folder in (("hotpotqa", "multihop_hotpotqa"), ("xquad", "squad_xquad_en")):
        rows = read_jsonl(data / folder / "queries.jsonl")
        asked = [
            Asked(r["question"], tuple(r["gold"]), written.get(r["id"], ()), heads.get(r["question"])) for r in rows
        ]
        rewritten = [a for a in asked if a.good]
        ranked, signals = await compare(prepared, rewritten)
        out[name] = {
            "questions with good rewrites": figures(ranked),
            "gate of the rewrites": gate_curve(ranked[CONTROL], ranked["+ good rewrites"], signals),
            "gate of reranking": gate_curve(ranked["hybrid"], ranked[CONTROL], signals),
        }
        if len(rewritten) < len(asked):
            plain = [replace(a, good=()) for a in asked[:: max(1, len(asked) // limit)]]
            ranked, _ = await compare(prepared, plain)
            out[name]["all questions"] = figures(ranked)
        if any(a.head for a in asked):
            ranked, _ = await compare(prepared, [replace(a, good=(), head=None) for a in asked])
            out[name]["head trained on these questions"] = {CONTROL: figures(ranked)[CONTROL]}
    return out


def main() -> None:
    """Print the tables, and write them as JSON where `--json` names a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    parser.add_argument("--work", type=Path, default=Path(".cache/evals"), help="folder for the evaluation library")
    parser.add_argument("--limit", type=int, default=300, help="questions of XQuAD, evenly spread")
    parser.add_argument("--json", type=Path, help="file for the figures")
    given = parser.parse_args()
    work = given.work.resolve()
    use_home(work / "home")
    out = asyncio.run(measure(given.data, work, given.limit))
    for name, parts in out.items():
        for part, found in parts.items():
            if "curve" in found:
                rows = [list(r.values()) for r in found["curve"]]
                told = f"{table(list(found['curve'][0]), rows)}\nAUC of the signal: {found['auc']}"
            else:
                told = shown(found)
            sys.stdout.write(f"\n{name}: {part}\n{told}\n")
    if given.json:
        given.json.write_text(json.dumps(out, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
