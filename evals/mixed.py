"""Routing over a mixed library: routed against oracle and unified (UniversalRAG, 4.2)."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ragweave.components.context import Context
from ragweave.components.fusion import fuse_ranks
from ragweave.corpora.store.library import Library, open_library
from ragweave.corpora.types import CORPORA, Corpus, Hit, Lists
from ragweave.evals.bootstrap import Interval, interval, paired
from ragweave.evals.corpus import indexed
from ragweave.evals.metrics import recall_at
from ragweave.evals.mixed_data import MixedQuestion
from ragweave.evals.routes import Choose, every, head_alone, with_route
from ragweave.evals.runner import Row, Runner
from ragweave.graphs.search import build
from ragweave.models.errors import InputError

DEPTH = 5
"""Items that count: recall@5."""
POOL = 50
"""Items of a list that plain RRF reads, as many as a search."""
ROUTED, HARD = "routed", "routed, hard"
ORACLE = "oracle"
UNIFIED, RRF = "unified", "unified, plain RRF"
MAIN = (ROUTED, HARD, UNIFIED, RRF, ORACLE)


class Way(NamedTuple):
    """What one way of choosing corpora gave for one question.

    `right` is whether the gold corpus was among those searched, `ms` of CPU.
    """

    first: float
    recall: float
    searched: float
    right: float
    ms: float


Found = Mapping[str, Sequence[Way]]
"""What each way gave, for each question in their order."""


def mean(ways: Sequence[Way]) -> Way:
    """Return the mean of each figure."""
    return Way(*np.mean(ways, axis=0).tolist())


def _recalls(ways: Sequence[Way]) -> list[float]:
    return [way.recall for way in ways]


async def prepare(rows: Sequence[Mapping[str, Any]], work: Path, also: str = "") -> Library:
    """Index an item list, once for the same rows and what else lies in it, and return the library.

    Raises:
        InputError: rows were left out, so that figures over them would be wrong.
    """
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    name = "mixed-" + hashlib.sha256("\n".join([*lines, *filter(None, [also])]).encode()).hexdigest()[:10]
    folder = work / name
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "files").mkdir(parents=True)
        (folder / "files" / "items.jsonl").write_text("\n".join(lines), encoding="utf-8")
        library = await indexed(folder / "files", name)
        (source,) = await library.sources()
        if source.status != "ok" or source.warnings:
            why = source.reason or source.warnings[0]
            raise InputError(f"the item list cannot be used as it is ({why})", "mend it (docs/formats.md)")
        (folder / "done").touch()
    return await open_library(name)


class MixedBench:
    """Asks the mixed library."""

    def __init__(self, library: Library, context: Context) -> None:
        self.library = library
        self.base = {**context.model_dump(exclude_unset=True), "library": library.name}
        self._graphs: dict[Choose | None, Any] = {None: build().compile()}
        for choose in (head_alone, every):
            self._graphs[choose] = with_route(build(), choose).compile()

    async def routed(
        self, question: str, by: Choose | None = None, **knobs: Any
    ) -> tuple[list[str], list[str], float]:
        """Return the rows found, the corpora searched, and milliseconds of CPU, as the graph does it.

        `by` sets a choice of corpora in the place of the router. Nothing that another way has read of the
        question is kept.
        """
        search = self._graphs[by]
        began = time.process_time()
        sent: Any = {"messages": [("human", question)]}
        context = Context(**{**self.base, **knobs, "top_k": DEPTH})
        state = await search.ainvoke(sent, context=context)
        ms = (time.process_time() - began) * 1000
        corpora = [c for c in state["routes"][-1]["corpora"] if c != "none"]
        return await self.keys(state.get("candidates", [])), corpora, ms

    async def plain(self, question: str, corpora: Sequence[Corpus]) -> tuple[list[str], float]:
        """Return the rows that reciprocal ranks over the lists of all corpora put first, and milliseconds of CPU."""
        began = time.process_time()
        found = [
            hits
            for c in corpora
            for x in await self.library.search(c, [question], POOL)
            for hits in _lists(x)
        ]
        ranked = fuse_ranks([(1.0, [(h.id, h.score) for h in hits]) for hits in found])
        return await self.keys([i for i, _ in ranked]), (time.process_time() - began) * 1000

    async def ways(self, q: MixedQuestion, held: Sequence[Corpus]) -> dict[str, Way]:
        """Ask one question in every way, one after another."""

        def way(found: Sequence[str], corpora: Sequence[str], ms: float) -> Way:
            first, recall = (recall_at(found, q.gold, k) for k in (1, DEPTH))
            return Way(first, recall, len(corpora), float(q.corpus in corpora), ms)

        found, corpora, ms = await self.routed(q.text)
        out = {ROUTED: way(found, corpora, ms)}
        for name, by in ((HARD, head_alone), (UNIFIED, every)):
            out[name] = way(*await self.routed(q.text, by))
        out[ORACLE] = way(*await self.routed(q.text, corpora=(q.corpus,), route_by="local"))
        found, ms = await self.plain(q.text, held)
        out[RRF] = way(found, held, ms)
        return out

    async def keys(self, ids: Sequence[str]) -> list[str]:
        """Return the ids that the first items have in the list."""
        items = await self.library.items(ids[:DEPTH])
        return [str(items[i].meta.get("key", "")) for i in ids[:DEPTH] if i in items]


def _lists(found: Lists) -> tuple[Sequence[Hit], ...]:
    return found.dense, found.lexical


async def compare(bench: MixedBench, asked: Sequence[MixedQuestion], runner: Runner) -> Found:
    """Ask every question in every way."""
    held: list[Corpus] = [c for c in CORPORA if (await bench.library.counts()).get(c)]

    async def one(q: MixedQuestion) -> Row:
        return {name: list(found) for name, found in (await bench.ways(q, held)).items()}

    of = {"library": bench.library.name, "base": bench.base, "questions": [astuple(q) for q in asked]}
    if asked:
        # What a process loads once counts for no question.
        await bench.ways(asked[0], held)
    rows = await runner.each("questions", {q.id: q for q in asked}, one, of)
    return {name: [Way(*row[name]) for row in rows] for name in (rows[0] if rows else ())}


def rows_of(found: Found) -> list[list[str | float | int]]:
    """Return a table row per system: figures, and paired differences from the oracle and from unified search."""
    rows: list[list[str | float | int]] = []
    for name, ways in found.items():
        recalls, means = _recalls(ways), mean(ways)
        both = interval([way.first for way in ways]), interval(recalls)
        gaps = [
            paired(_recalls(found[base]), recalls) if name != base else None for base in (ORACLE, UNIFIED)
        ]
        shares = [x for i in both for x in (i.mean, f"{i.low:.3f} to {i.high:.3f}")]
        rows.append([name, *shares, *map(_shown, gaps), means.searched, means.right, round(means.ms)])
    return rows


def _shown(gap: Interval | None) -> str:
    return f"{gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]" if gap else "-"


COLUMNS = (
    *("system", "R@1", "95 %", "R@5", "95 %", "against oracle", "against unified"),
    *("corpora", "right corpus", "CPU ms"),
)


def by_kind(found: Found, asked: Sequence[MixedQuestion]) -> list[list[str | float | int]]:
    """Return recall@5 per system and gold corpus."""
    kinds = [c for c in CORPORA if any(q.corpus == c for q in asked)]
    return [
        [name, *(mean([w for w, q in zip(ways, asked, strict=True) if q.corpus == k]).recall for k in kinds)]
        for name, ways in found.items()
    ]


def flat(found: Found, questions: int) -> dict[str, float]:
    """Return the figures under the keys that `--json` writes."""

    def key(name: str) -> str:
        return name.replace(",", "").replace(" ", "_")

    out: dict[str, float] = {"questions": questions}
    means = {name: mean(ways) for name, ways in found.items()}
    for name, of in means.items():
        out |= {f"recall@1_{key(name)}": round(of.first, 4), f"recall@5_{key(name)}": round(of.recall, 4)}
    out["corpora_searched"] = round(means[ROUTED].searched, 4)
    out["right_corpus"] = round(means[ROUTED].right, 4)
    for name in (n for n in (ROUTED, HARD) if n in found):
        for base in (ORACLE, UNIFIED):
            gap = paired(_recalls(found[base]), _recalls(found[name]))
            out |= {
                f"{key(name)}_minus_{base}": round(gap.mean, 4),
                f"{key(name)}_minus_{base}_low": round(gap.low, 4),
                f"{key(name)}_minus_{base}_high": round(gap.high, 4),
            }
    return out | {f"ms_{key(name)}": round(means[name].ms, 1) for name in MAIN if name in means}
