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
from ragweave.corpora.types import CORPORA, Corpus, Hit
from ragweave.evals.bootstrap import interval, paired
from ragweave.evals.corpus import indexed
from ragweave.evals.metrics import recall_at
from ragweave.evals.mixed_data import MixedQuestion
from ragweave.evals.routes import Choose, every, head_alone, with_route
from ragweave.evals.runner import Row, Runner
from ragweave.graphs.search import build
from ragweave.models.errors import InputError

DEPTH = 5
"""Number of items that count: recall@5."""
POOL = 50
"""Number of items of each list that plain RRF fuses; a search has as many."""
ROUTED, HARD = "routed", "routed, hard"
ORACLE = "oracle"
UNIFIED, RRF = "unified", "unified, plain RRF"
MAIN = (ROUTED, HARD, UNIFIED, RRF, ORACLE)


class Way(NamedTuple):
    """The result of one way of choosing corpora for one question.

    `right` is whether the search covered the gold corpus; `ms` are milliseconds of CPU time.
    """

    first: float
    recall: float
    searched: float
    right: float
    ms: float


Found = Mapping[str, Sequence[Way]]
"""The results of each way of choosing, in the order of the questions."""


def mean(ways: Sequence[Way]) -> Way:
    """Return the mean of each figure."""
    return Way(*np.mean(ways, axis=0).tolist())


def _recalls(ways: Sequence[Way]) -> list[float]:
    return [way.recall for way in ways]


async def prepare(rows: Sequence[Mapping[str, Any]], work: Path, also: str = "") -> Library:
    """Index an item list once for the same rows and the same other contents, and return the library.

    Args:
        rows: rows of the item list.
        work: folder for evaluation libraries.
        also: digest of what else the library holds, "" for nothing.

    Raises:
        InputError: the index left rows out, so that figures over them would be wrong.
    """
    lines = []
    for row in rows:
        lines.append(json.dumps(row, ensure_ascii=False))
    contents = [*lines, also] if also else lines
    name = "mixed-" + hashlib.sha256("\n".join(contents).encode()).hexdigest()[:10]
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
    """Searches the mixed library in several ways."""

    def __init__(self, library: Library, context: Context) -> None:
        self.library = library
        self.base = {**context.model_dump(exclude_unset=True), "library": library.name}
        self._graphs: dict[Choose | None, Any] = {None: build().compile()}
        for choose in (head_alone, every):
            self._graphs[choose] = with_route(build(), choose).compile()

    async def routed(
        self, question: str, by: Choose | None = None, **knobs: Any
    ) -> tuple[list[str], list[str], float]:
        """Search as the graph does; return the rows, the searched corpora, and milliseconds of CPU time.

        `by` replaces the router. Each call reads the question again, so that no way profits from another.
        """
        search = self._graphs[by]
        began = time.process_time()
        sent: Any = {"messages": [("human", question)]}
        context = Context(**{**self.base, **knobs, "top_k": DEPTH})
        state = await search.ainvoke(sent, context=context)
        ms = (time.process_time() - began) * 1000
        corpora = []
        for corpus in state["routes"][-1]["corpora"]:
            if corpus != "none":
                corpora.append(corpus)
        return await self.keys(state.get("candidates", [])), corpora, ms

    async def plain(self, question: str, corpora: Sequence[Corpus]) -> tuple[list[str], float]:
        """Fuse the lists of all corpora by reciprocal ranks; return the rows and milliseconds of CPU time."""
        began = time.process_time()
        weighted: list[tuple[float, list[tuple[str, float]]]] = []
        for corpus in corpora:
            for lists in await self.library.search(corpus, [question], POOL):
                weighted.append((1.0, _scored(lists.dense)))
                weighted.append((1.0, _scored(lists.lexical)))
        ranked = fuse_ranks(weighted)
        ids = [i for i, _ in ranked]
        return await self.keys(ids), (time.process_time() - began) * 1000

    async def ways(self, q: MixedQuestion, held: Sequence[Corpus]) -> dict[str, Way]:
        """Search for one question in every way, one after another."""

        def way(found: Sequence[str], corpora: Sequence[str], ms: float) -> Way:
            first, recall = recall_at(found, q.gold, 1), recall_at(found, q.gold, DEPTH)
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
        """Return the ids of the first items in the item list."""
        items = await self.library.items(ids[:DEPTH])
        keys = []
        for i in ids[:DEPTH]:
            if i in items:
                keys.append(str(items[i].meta.get("key", "")))
        return keys


def _scored(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in hits]


async def compare(bench: MixedBench, asked: Sequence[MixedQuestion], runner: Runner) -> Found:
    """Search for every question in every way."""
    counts = await bench.library.counts()
    held: list[Corpus] = []
    for corpus in CORPORA:
        if counts.get(corpus):
            held.append(corpus)

    async def one(q: MixedQuestion) -> Row:
        row: Row = {}
        for name, way in (await bench.ways(q, held)).items():
            row[name] = list(way)
        return row

    of = {"library": bench.library.name, "base": bench.base, "questions": list(map(astuple, asked))}
    if asked:
        # The first search loads models; this time must not count for a question.
        await bench.ways(asked[0], held)
    units = {}
    for question in asked:
        units[question.id] = question
    rows = await runner.each("questions", units, one, of)
    found: dict[str, list[Way]] = {}
    for row in rows:
        for name, figures in row.items():
            found.setdefault(name, []).append(Way(*figures))
    return found


def rows_of(found: Found) -> list[list[str | float | int]]:
    """Return a row per system: figures, and paired differences from the oracle and unified search."""
    rows: list[list[str | float | int]] = []
    for name, ways in found.items():
        recalls, means = _recalls(ways), mean(ways)
        row: list[str | float | int] = [name]
        firsts = [way.first for way in ways]
        for values in (firsts, recalls):
            share = interval(values)
            row += [share.mean, f"{share.low:.3f} to {share.high:.3f}"]
        for base in (ORACLE, UNIFIED):
            row.append("-" if name == base else _gap(_recalls(found[base]), recalls))
        rows.append([*row, means.searched, means.right, round(means.ms)])
    return rows


def _gap(base: Sequence[float], other: Sequence[float]) -> str:
    """Return the paired difference with its interval."""
    gap = paired(base, other)
    return f"{gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]"


COLUMNS = (
    *("system", "R@1", "95 %", "R@5", "95 %", "against oracle", "against unified"),
    *("corpora", "right corpus", "CPU ms"),
)


def by_kind(found: Found, asked: Sequence[MixedQuestion]) -> list[list[str | float | int]]:
    """Return recall@5 per system and gold corpus."""
    rows: list[list[str | float | int]] = []
    for name, ways in found.items():
        groups: dict[str, list[Way]] = {}
        for way, question in zip(ways, asked, strict=True):
            groups.setdefault(question.corpus, []).append(way)
        row: list[str | float | int] = [name]
        for corpus in CORPORA:
            if corpus in groups:
                row.append(mean(groups[corpus]).recall)
        rows.append(row)
    return rows


def flat(found: Found, questions: int) -> dict[str, float]:
    """Return the figures under the keys that `--json` writes."""

    def key(name: str) -> str:
        return name.replace(",", "").replace(" ", "_")

    out: dict[str, float] = {"questions": questions}
    means = {}
    for name, ways in found.items():
        of = means[name] = mean(ways)
        out |= {f"recall@1_{key(name)}": round(of.first, 4), f"recall@5_{key(name)}": round(of.recall, 4)}
    out["corpora_searched"] = round(means[ROUTED].searched, 4)
    out["right_corpus"] = round(means[ROUTED].right, 4)
    for name in (ROUTED, HARD):
        if name not in found:
            continue
        for base in (ORACLE, UNIFIED):
            gap = paired(_recalls(found[base]), _recalls(found[name]))
            out |= {
                f"{key(name)}_minus_{base}": round(gap.mean, 4),
                f"{key(name)}_minus_{base}_low": round(gap.low, 4),
                f"{key(name)}_minus_{base}_high": round(gap.high, 4),
            }
    for name in MAIN:
        if name in means:
            out[f"ms_{key(name)}"] = round(means[name].ms, 1)
    return out
