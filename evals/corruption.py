"""What grading is worth when retrieval fails: `ragweave eval corruption --data DIR`.

None, half or all of the retrieved items are replaced by wrong ones (CRAG, section 5.5, lowers the accuracy of retrieval
likewise). The wrong items are the best ranked ones that are not gold, so they look as right as wrong items can. Every
question is then asked three times in extractive mode: without any judgement of what was found, with grading, and with
grading and a folder of pages that stands in for the web. Counted is whether a gold answer stands in what is shown.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from ragweave.components.context import Context
from ragweave.components.fusion import fused
from ragweave.components.local.rank import score_pools
from ragweave.corpora.settings import corpora_settings
from ragweave.evals.answers import AnswerVerdict, Question, figures, question_of
from ragweave.evals.corpus import PreparedLibrary, prepare
from ragweave.evals.data import sample, text_sets
from ragweave.graphs import crag
from ragweave.graphs.base import new_graph
from ragweave.nodes.check import check
from ragweave.nodes.condense import condense
from ragweave.nodes.fuse import fuse
from ragweave.nodes.generate import generate
from ragweave.nodes.plan import dispatch, plan
from ragweave.nodes.retrieve import retrieve
from ragweave.nodes.run import NodeRun
from ragweave.nodes.state import State, Update

Way = Literal["plain", "graded", "web"]
WAYS: tuple[Way, ...] = ("plain", "graded", "web")
SHARES = (0.0, 0.5, 1.0)
SEED = 13

Gold = Mapping[str, frozenset[str]]
"""Gold passage ids by question."""


def lost(ids: Sequence[str], right: Collection[str], share: float, seed: str) -> frozenset[str]:
    """Return the gold items that are lost when a share of the retrieved items is replaced by wrong ones.

    Which positions are hit is drawn; a gold item there is lost, and a gold item that was not retrieved cannot come up
    in its stead. The same seed hits the same positions.
    """
    hit = random.Random(f"{SEED} {seed}").sample(range(len(ids)), round(share * len(ids)))
    kept = set(ids) - {ids[at] for at in hit}
    return frozenset(right) - kept if hit else frozenset()


def corrupted(
    share: float, gold: Gold, prepared: PreparedLibrary
) -> Callable[[State, Runtime[Context]], Awaitable[Update]]:
    """Return `fuse` with a share of its items replaced; the others are scored as honestly as they always are."""

    async def fuse_corrupted(state: State, runtime: Runtime[Context]) -> Update:
        update = await fuse(state, runtime)
        run = NodeRun("fuse", state, runtime)
        library, query = await run.library(), state["query"]
        ranking = fused(state.get("found", []), query, run.context)
        items = await library.items([i for i, _ in ranking])
        named = {i: prepared.id_of(item.locator.get("file", "")) for i, item in items.items()}
        right = {i for i, name in named.items() if name in gold.get(query, frozenset())}
        gone = lost(update["candidates"], right, share, query)
        if gone:
            left = [r for r in ranking if r[0] not in gone]
            (rows,), _ = await score_pools(library, query, [left], run.context, run.hop)
            rows = rows[: run.context.top_k]
            update = {**update, "evidence": rows, "candidates": [r["id"] for r in rows]}
        return update

    return fuse_corrupted


def graph_of(way: Way, share: float, gold: Gold, prepared: PreparedLibrary) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return CRAG over corrupted retrieval, or the same nodes without grading and repair."""
    fuse_corrupted = corrupted(share, gold, prepared)
    if way == "plain":
        builder = new_graph(condense, plan, retrieve, generate, check, fuse=fuse_corrupted)
        builder.path(START, "condense", "plan")
        builder.add_conditional_edges("plan", dispatch, ["retrieve", "generate"])
        builder.path("retrieve", "fuse", "generate", "check", END)
    else:
        builder = crag.build()
        builder.nodes["fuse"] = new_graph(fuse=fuse_corrupted).nodes["fuse"]
    return builder.compile()


@dataclass(frozen=True)
class CorruptionQuestion:
    """One answered question.

    `action` is the verdict of CRAG, or "" where nothing graded.
    """

    outcome: AnswerVerdict
    action: str


async def ask(
    graph: CompiledStateGraph[Any, Any, Any, Any], prepared: PreparedLibrary, questions: Sequence[Question], way: Way
) -> list[CorruptionQuestion]:
    """Ask every question, one after another."""
    context = Context(library=prepared.library.name, mode="extractive", web="auto" if way == "web" else "off")
    out: list[CorruptionQuestion] = []
    for question in questions:
        started = time.perf_counter()
        state = await graph.ainvoke({"messages": [("human", question.text)]}, context=context)
        cited = [prepared.id_of(c.locator.get("file", "")) for c in state["answer"].citations]
        outcome = AnswerVerdict(question, state["answer"], time.perf_counter() - started, cited)
        out.append(CorruptionQuestion(outcome, (state.get("grade") or {}).get("action", "")))
    return out


def cell(asked: Sequence[CorruptionQuestion], before: Sequence[CorruptionQuestion] = ()) -> dict[str, float]:
    """Return the figures of one cell; with the same questions before repair, also how many of those it mended.

    `repaired` is the share of the questions of which no gold answer was shown before and one is now; `broken` the share
    of those of which one was and none is any more.
    """
    out = {"answer_shown": figures([a.outcome for a in asked])["answer_shown"]}
    if any(a.action for a in asked):
        out |= {
            action: round(sum(a.action == action for a in asked) / len(asked), 4)
            for action in ("correct", "ambiguous", "incorrect")
        }
    if before:
        right = [
            (b.outcome.verdict == "correct", a.outcome.verdict == "correct") for b, a in zip(before, asked, strict=True)
        ]
        wrong, good = [now for was, now in right if not was], [now for was, now in right if was]
        out["repaired"] = round(sum(wrong) / len(wrong), 4) if wrong else 0.0
        out["broken"] = round(1 - sum(good) / len(good), 4) if good else 0.0
    return out


def save_pages(passages: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write passages as pages with addresses of their own, for the folder provider."""
    folder.mkdir(parents=True, exist_ok=True)
    for n, p in enumerate(passages):
        head = f"---\nurl: https://pages.example/{n}\n---\n# {p['title']}\n\n"
        (folder / f"{n:05d}.md").write_text(f"{head}{p['text']}\n", encoding="utf-8")


@contextmanager
def web_folder(folder: Path) -> Iterator[None]:
    """Let a folder stand in for the web."""
    name, before = "RAGWEAVE_WEB_FOLDER", os.environ.get("RAGWEAVE_WEB_FOLDER")
    os.environ[name] = str(folder)
    corpora_settings.cache_clear()
    try:
        yield
    finally:
        corpora_settings.cache_clear()
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


async def measure(data: Path, work: Path, limit: int) -> dict[str, dict[str, dict[str, float]]]:
    """Return the figures by question set, then by share of wrong items and way of answering."""
    squad, two_hops, passages = text_sets(data)
    xquad, hotpot = [question_of(q, "xquad") for q in squad], [question_of(q, "hotpotqa") for q in two_hops]
    prepared = await prepare(passages, "text", work)
    save_pages(passages, work / "web")
    sets = {"xquad": sample(xquad, limit), "hotpotqa": sample(hotpot, limit)}
    out: dict[str, dict[str, dict[str, float]]] = {}
    with web_folder(work / "web"):
        for name, questions in sets.items():
            gold = {q.text: frozenset(q.gold) for q in questions}
            out[name] = {}
            for share in SHARES:
                before: list[CorruptionQuestion] = []
                for way in WAYS:
                    asked = await ask(graph_of(way, share, gold, prepared), prepared, questions, way)
                    out[name][f"{share:.0%} wrong, {way}"] = cell(asked, before if way == "web" else ())
                    before = asked
    return out


COLUMNS = ("answer_shown", "correct", "ambiguous", "incorrect", "repaired", "broken")
