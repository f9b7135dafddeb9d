"""Fuse the hop's ranked lists into one order and keep the best items, each scored against the hop's query."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, zip_longest

from langgraph.types import Overwrite

from ragweave.components.corpus_merge import blended, merged
from ragweave.components.duplicates import TEXTUAL
from ragweave.components.evidence import Evidence, RankedList
from ragweave.components.fusion import fused
from ragweave.components.llm.conversation import shown as shown_of
from ragweave.components.local.rank import EACH, score_pools
from ragweave.components.passages import distinct
from ragweave.components.picture_relevance import worth_a_look
from ragweave.components.recency import HALF_LIFE, by_age, by_published_age
from ragweave.components.run_context import has_writer_model
from ragweave.corpora.store.library import Library
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update, of_hop

LATER = 6
"""New items that a further round shows to a chat model."""


async def fuse(state: State, runtime: NodeRuntime) -> Update:
    """Return the hop's best items as evidence.

    Dense and lexical lists of one phrasing are joined by standardised scores, and its pool is ordered by the relevance
    model or a cross-encoder. Phrasings take turns, the question's best first; ordered anew by the question they would
    lose what they found. With another `fusion` they are joined by reciprocal ranks, as
    published (RAG-Fusion). If newer documents are preferred, age counts last.
    """
    run = NodeRun("fuse", state, runtime)
    run.by = run.context.method.fusion
    query, found, also = state["query"], state.get("found", []), state.get("also", [])
    library = await run.library()
    routed = of_hop(state.get("routes"), run.hop)
    confidence: Mapping[str, float] | None = None
    if routed is not None and routed["by"] != "unified" and {row["corpus"] for row in found} - {*TEXTUAL}:
        confidence = routed["confidence"] or dict.fromkeys(routed["corpora"], 1.0)
    # One path for all phrasings, rewrites and queries of the reasoner alike: the best of each in turns, each item once.
    alone = [query, *also] if run.context.method.fusion != "scores" else _phrasings(query, found)
    ordered = []
    for q in alone:
        lists = [row for row in found if row["query"] == q or (q == query and row["query"] not in alone)]
        ordered.append(await _order(run, library, q, lists, confidence))
    taken: dict[str, Evidence] = {}
    for row in filter(None, chain.from_iterable(zip_longest(*ordered))):
        taken.setdefault(row["id"], row)
    rows = list(taken.values())
    most, read, again = run.context.kept, list[Evidence](), list[Evidence]()
    if has_writer_model(run.context) and run.hop > 1:
        # What the model has read stays in its conversation; a further round adds to it.
        kept = {s["evidence"] for s in state.get("knowledge", [])}
        shown = {i for ids in shown_of(state.get("hops", []), kept, run.context.method.turn_passages) for i in ids}
        read = [e for e in state.get("evidence", []) if e["id"] in shown]
        # A document of which a window was shown is read whole in its place once it is found again.
        found_again = {r["id"] for r in rows[: run.context.method.whole] if r["corpus"] == "document"}
        again = [Evidence(**{**e, "hop": run.hop}) for e in read if e["id"] in found_again and "chars" in e["locator"]]
        rows, most = [r for r in rows if r["id"] not in shown], min(most, LATER)
    now, own, aged = datetime.now(UTC), await library.about(), ""
    if (run.context.recency if run.context.recency != "auto" else own.recency) == "on":
        half_life = run.context.half_life or own.half_life or HALF_LIFE
        if run.context.method.decay == "article":
            rows, half_life = by_published_age(rows, now), HALF_LIFE
        else:
            rows = await asyncio.to_thread(by_age, rows, half_life, now)
        aged = f", newer first (half-life {half_life:g} days)"
    found_all = len(rows)
    if has_writer_model(run.context):
        # A picture without words takes no passage's place where nobody is going to look at it, but as published.
        worth = {r["id"] for r in rows} if run.context.method.form == "universal-rag" else worth_a_look(rows)
        rows = distinct((r for r in rows if r["text"].strip() or r["id"] in worth), most, read)
    else:
        rows = rows[:most]
    looked = state.get("looked", {})
    rows = [{**r, "seen": looked[r["id"]]} if r["id"] in looked else r for r in rows]
    # What a look added was not judged yet.
    judged = {(r["query"], i): v for r in found for i, v in zip(r["ids"], r.get("verdicts", []), strict=False)}
    rows = [
        {**r, "judged": judged[of]} if (of := (r["query"], r["id"])) in judged and not r.get("seen") else r
        for r in rows
    ]
    summary = f"{len(rows)} of {counted(found_all, 'place')} kept{aged}" + (
        f", best: {rows[0]['title']}" if rows else ""
    )
    ids = [r["id"] for r in rows]
    data = {"items": ids, "of": found_all, "newer": bool(aged)}
    return run.done(summary, data=data, evidence=[*again, *rows], candidates=ids, found=Overwrite([]))


def _phrasings(query: str, found: Sequence[RankedList]) -> list[str]:
    """Return what was searched, the question of the round first."""
    return list(dict.fromkeys([query, *(row["query"] for row in found)]))


async def _order(
    run: NodeRun, library: Library, query: str, found: list[RankedList], confidence: Mapping[str, float] | None
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
    return blended(ordered, joint) if joint and run.context.rerank and not compared else ordered
