"""Fuse the ranked lists of a hop into its best items."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, zip_longest
from typing import NamedTuple

from langgraph.types import Overwrite

from ragweave.components.corpus_merge import blended, merged
from ragweave.components.distinct import distinct
from ragweave.components.duplicates import TEXTUAL
from ragweave.components.evidence import Evidence, RankedList
from ragweave.components.fusion import fused
from ragweave.components.local.rank import EACH, score_pools
from ragweave.components.picture_relevance import worth_a_look
from ragweave.components.recency import HALF_LIFE, by_age, by_published_age
from ragweave.components.rounds import shown as shown_of
from ragweave.components.run_context import has_writer_model
from ragweave.corpora.store.library import Library
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import NO_ROUTER, WHOLE, State, Update, of_hop, phrasings_of

LATER = 6
"""New items that a further round shows to a chat model."""


class ReadBefore(NamedTuple):
    """What earlier rounds showed to a chat model: its rows, and those that this round found again to be read whole."""

    rows: list[Evidence]
    again: list[Evidence]


async def fuse(state: State, runtime: NodeRuntime) -> Update:
    """Return the hop's best items as evidence.

    Dense and lexical lists of one phrasing are joined by standardised scores, and its pool is ordered by the
    relevance model or a cross-encoder. Phrasings take turns, the question's best first; ordered anew by the
    question they would lose what they found. With `rrf` they are joined by reciprocal ranks, as
    published (RAG-Fusion). If newer documents are preferred, age counts last.
    """
    run = NodeRun("fuse", state, runtime)
    run.by = "scores" if run.context.method.by_scores else run.context.method.fusion
    found = [row for row in state.get("found", []) if row["kind"] not in ("seen", "beside")]
    rows = await _in_turns(run, state, found)
    read = _read_before(run, state, rows)
    new = [row for row in rows if row["id"] not in {e["id"] for e in read.rows}]
    new, aged = await _by_age(run, new)
    kept = _kept(run, new, read.rows)
    kept = _with_looks(kept, state.get("found", []))
    best = f", best: {kept[0]['title']}" if kept else ""
    summary = f"{len(kept)} of {counted(len(new), 'place')} kept{aged}{best}"
    ids = [row["id"] for row in kept]
    data = {"items": ids, "of": len(new), "newer": bool(aged)}
    beside = [row for row in state.get("found", []) if row["kind"] == "beside"]
    return run.done(
        summary, data=data, evidence=[*read.again, *kept], candidates=ids, found=Overwrite(beside)
    )


async def _in_turns(run: NodeRun, state: State, found: list[RankedList]) -> list[Evidence]:
    """Return the best of each phrasing in turns, each item once: one path for rewrites and the reasoner's queries."""
    query, library = state["query"], await run.library()
    alone = [query, *phrasings_of(state)["also"]]
    if run.context.method.by_scores:
        alone = list(dict.fromkeys([query, *(row["query"] for row in found)]))
    confidence = _confidence(state, found)
    ordered = []
    for q in alone:
        lists = [row for row in found if row["query"] == q or (q == query and row["query"] not in alone)]
        ordered.append(await _order(run, library, q, lists, confidence))
    taken: dict[str, Evidence] = {}
    for row in filter(None, chain.from_iterable(zip_longest(*ordered))):
        if not _is_empty(row):
            taken.setdefault(row["id"], row)
    return list(taken.values())


def _is_empty(row: Evidence) -> bool:
    """Tell whether a row is a stretch of a recording without a word or a picture."""
    return row["corpus"] == "clip" and not row["text"].strip() and "image" not in row["locator"]


def _confidence(state: State, found: Sequence[RankedList]) -> Mapping[str, float] | None:
    """Return what the router gives each corpus; None if all is ordered as one pool."""
    routed = of_hop(state.get("routes"), state["hop"])
    if routed is None or routed["by"] == NO_ROUTER:
        return None
    if not {row["corpus"] for row in found} - {*TEXTUAL}:
        return None
    return routed["confidence"] or dict.fromkeys(routed["corpora"], 1.0)


async def _order(
    run: NodeRun,
    library: Library,
    query: str,
    found: list[RankedList],
    confidence: Mapping[str, float] | None,
) -> list[Evidence]:
    """Score what a query found; with a confidence what each corpus gave, the likeliest as if it were alone."""
    compared = frozenset(i for row in found if row["kind"] == "visual" for i in row["ids"])
    corpora = list(dict.fromkeys(str(row["corpus"]) for row in found)) if confidence is not None else []
    corpora.sort(key=lambda c: -(confidence or {}).get(c, 0.0))
    pools = [fused([row for row in found if row["corpus"] == c], query, run.context) for c in corpora]
    most = max(EACH, run.context.kept)
    pools = [pools[0], *(pool[:most] for pool in pools[1:])] if pools else [fused(found, query, run.context)]
    rows, joint = await score_pools(library, query, pools, run.context, run.hop, run.notes, compared)
    if confidence is None or not corpora or (len(corpora) == 1 and run.context.method.fusion == "dense"):
        return rows[0]  # cosines of one corpus keep their order
    ordered = merged(dict(zip(corpora, rows, strict=True)), confidence)
    # Read as one pool, a picture that was compared would count by its words alone.
    return blended(ordered, joint) if joint and run.context.method.reranks and not compared else ordered


def _read_before(run: NodeRun, state: State, rows: Sequence[Evidence]) -> ReadBefore:
    """Return what a chat model has read: that stays in its conversation, and a further round adds to it.

    A document of which a window was shown is read whole in its place once it is found again.
    """
    if not has_writer_model(run.context) or run.hop == 1:
        return ReadBefore([], [])
    kept = {s["evidence"] for s in state.get("knowledge", [])}
    shown = {
        i for ids in shown_of(state.get("hops", []), kept, run.context.method.turn_passages) for i in ids
    }
    read = [e for e in state.get("evidence", []) if e["id"] in shown]
    found_again = {row["id"] for row in rows[:WHOLE] if row["corpus"] == "document"}
    windows = [e for e in read if e["id"] in found_again and "chars" in e["locator"]]
    return ReadBefore(read, [Evidence(**{**e, "hop": run.hop}) for e in windows])


async def _by_age(run: NodeRun, rows: list[Evidence]) -> tuple[list[Evidence], str]:
    """Return rows in the order in which age counts, and that in words; as they are unless newer ones are preferred."""
    library = await (await run.library()).about()
    recency = run.context.recency if run.context.recency != "auto" else library.recency
    if recency != "on":
        return rows, ""
    now, half_life = datetime.now(UTC), library.half_life or HALF_LIFE
    if run.context.method.decay == "article":
        rows, half_life = by_published_age(rows, now), HALF_LIFE
    else:
        rows = await asyncio.to_thread(by_age, rows, half_life, now)
    return rows, f", newer first (half-life {half_life:g} days)"


def _kept(run: NodeRun, rows: list[Evidence], read: Sequence[Evidence]) -> list[Evidence]:
    """Return the rows that the hop keeps; for a chat model none holds another one, or says what was read before."""
    most = run.context.kept
    if not has_writer_model(run.context):
        return rows[:most]
    if run.hop > 1:
        most = min(most, LATER)
    # A picture without words takes no passage's place where nobody is going to look at it, but as published.
    published = run.context.method.form == "universal-rag"
    worth = {row["id"] for row in rows} if published else worth_a_look(rows)
    return distinct((row for row in rows if row["text"].strip() or row["id"] in worth), most, read)


def _with_looks(rows: Sequence[Evidence], found: Sequence[RankedList]) -> list[Evidence]:
    """Add what was seen in clips, and the verdicts over those of which a look has not changed what is read."""
    seen: dict[str, str] = {}
    judged: dict[tuple[str, str], float] = {}
    for listed in found:
        seen |= dict(zip(listed["ids"], listed.get("seen", []), strict=False))
        for i, value in zip(listed["ids"], listed.get("verdicts", []), strict=False):
            judged[listed["query"], i] = value
    out = []
    for row in rows:
        row = Evidence(**{**row, "seen": seen[row["id"]]}) if row["id"] in seen else row
        verdict = judged.get((row["query"], row["id"]))
        if verdict is not None and not row.get("seen"):
            row = Evidence(**{**row, "judged": verdict})
        out.append(row)
    return out
