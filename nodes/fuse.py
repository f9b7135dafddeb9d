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
from ragweave.nodes.state import NO_ROUTER, State, Update, of_hop, phrasings_of
from ragweave.nodes.whole_documents import WHOLE

LATER = 6
"""Largest number of new items that a further round shows to a chat model."""


class ReadBefore(NamedTuple):
    """What a chat model has read in earlier rounds.

    Attributes:
        rows: the evidence it was shown.
        again: those of it that this round found again, to be read as whole documents.
    """

    rows: list[Evidence]
    again: list[Evidence]


async def fuse(state: State, runtime: NodeRuntime) -> Update:
    """Return the hop's best items as evidence.

    Standardised scores join the dense and lexical lists of one phrasing, and the relevance model or a
    cross-encoder orders its pool. The phrasings then take turns, the question's best first: one order by the
    question would lose what the other phrasings found. With `rrf`, reciprocal ranks join all lists, as
    published (RAG-Fusion). If newer documents are preferred, age counts last.
    """
    run = NodeRun("fuse", state, runtime)
    run.by = "scores" if run.context.method.by_scores else run.context.method.fusion
    found, chunks = _without_side_lists(state.get("found", []))
    rows = await _in_turns(run, state, found)
    read = _read_before(run, state, rows)
    read_ids = _ids(read.rows)
    new = []
    for row in rows:
        if row["id"] not in read_ids:
            new.append(row)
    new, aged = await _by_age(run, new)
    kept = _kept(run, new, read.rows)
    kept = _with_looks(kept, state.get("found", []))
    best = f", best: {kept[0]['title']}" if kept else ""
    summary = f"{len(kept)} of {counted(len(new), 'place')} kept{aged}{best}"
    ids = [row["id"] for row in kept]
    data = {"items": ids, "of": len(new), "newer": bool(aged)}
    evidence = [*read.again, *kept]
    return run.done(summary, data=data, evidence=evidence, candidates=ids, found=Overwrite(chunks))


def _without_side_lists(found: Sequence[RankedList]) -> tuple[list[RankedList], list[RankedList]]:
    """Return the ranked lists to fuse, and those of further passages for the writer."""
    ranked: list[RankedList] = []
    further: list[RankedList] = []
    for row in found:
        if row["kind"] == "beside":
            further.append(row)
        elif row["kind"] != "seen":
            ranked.append(row)
    return ranked, further


def _ids(rows: Sequence[Evidence]) -> set[str]:
    return {row["id"] for row in rows}


async def _in_turns(run: NodeRun, state: State, found: list[RankedList]) -> list[Evidence]:
    """Return the best items of each phrasing in turns, each item once."""
    query, library = state["query"], await run.library()
    alone = [query, *phrasings_of(state)["also"]]
    if run.context.method.by_scores:
        queries = [row["query"] for row in found]
        alone = list(dict.fromkeys([query, *queries]))
    lists: dict[str, list[RankedList]] = {}
    for phrasing in alone:
        lists[phrasing] = []
    for row in found:
        phrasing = row["query"] if row["query"] in lists else query
        lists[phrasing].append(row)
    confidence = _confidence(run, state, found)
    ordered: list[list[Evidence]] = []
    for phrasing in alone:
        ordered.append(await _order(run, library, phrasing, lists[phrasing], confidence))
    taken: dict[str, Evidence] = {}
    for evidence in filter(None, chain.from_iterable(zip_longest(*ordered))):
        if not _is_empty(evidence):
            taken.setdefault(evidence["id"], evidence)
    return list(taken.values())


def _is_empty(row: Evidence) -> bool:
    """Return whether a row is a part of a recording without words and pictures."""
    return row["corpus"] == "clip" and not row["text"].strip() and "image" not in row["locator"]


def _confidence(run: NodeRun, state: State, found: Sequence[RankedList]) -> Mapping[str, float] | None:
    """Return the router's confidence by corpus, or None if all corpora are ordered as one pool."""
    if run.context.method.fusion == "dense":  # the cosines alone order
        return None
    routed = of_hop(state.get("routes"), state["hop"])
    if routed is None or routed["by"] == NO_ROUTER:
        return None
    corpora = {row["corpus"] for row in found}
    if corpora.issubset(TEXTUAL):
        return None
    return routed["confidence"] or dict.fromkeys(routed["corpora"], 1.0)


async def _order(
    run: NodeRun,
    library: Library,
    query: str,
    found: list[RankedList],
    confidence: Mapping[str, float] | None,
) -> list[Evidence]:
    """Score what a query found; with a confidence, score each corpus and merge them, the likeliest first."""
    compared: set[str] = set()
    by_corpus: dict[str, list[RankedList]] = {}
    for row in found:
        by_corpus.setdefault(str(row["corpus"]), []).append(row)
        if row["kind"] == "visual":
            compared.update(row["ids"])
    corpora: list[str] = []
    if confidence is None or not found:
        pools = [fused(found, query, run.context)]
    else:
        corpora = sorted(by_corpus, key=lambda corpus: -confidence.get(corpus, 0.0))
        most = max(EACH, run.context.kept)
        first, *others = [fused(by_corpus[corpus], query, run.context) for corpus in corpora]
        pools = [first]
        for pool in others:
            pools.append(pool[:most])
    context = run.context
    rows, joint = await score_pools(library, query, pools, context, run.hop, run.notes, frozenset(compared))
    if confidence is None or not corpora:
        return rows[0]
    ordered = merged(dict(zip(corpora, rows, strict=True)), confidence)
    # In one pool, a compared picture would count only by its words.
    return blended(ordered, joint) if joint and context.method.reranks and not compared else ordered


def _read_before(run: NodeRun, state: State, rows: Sequence[Evidence]) -> ReadBefore:
    """Return what a chat model has read: it stays in its conversation, and a further round adds to it.

    If a document was shown as a window and is found again, it is read whole instead.
    """
    if not has_writer_model(run.context) or run.hop == 1:
        return ReadBefore([], [])
    kept = {strip["evidence"] for strip in state.get("knowledge", [])}
    shown: set[str] = set()
    shown.update(*shown_of(state.get("hops", []), kept, run.context.method.turn_passages))
    found_again = set()
    for row in rows[:WHOLE]:
        if row["corpus"] == "document":
            found_again.add(row["id"])
    read: list[Evidence] = []
    again: list[Evidence] = []
    for row in state.get("evidence", []):
        if row["id"] not in shown:
            continue
        read.append(row)
        if row["id"] in found_again and "chars" in row["locator"]:
            again.append(Evidence(**{**row, "hop": run.hop}))
    return ReadBefore(read, again)


async def _by_age(run: NodeRun, rows: list[Evidence]) -> tuple[list[Evidence], str]:
    """Return rows in an order in which age counts, and a note on it, or unchanged if age does not count."""
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
    """Return the rows that the hop keeps; a chat model gets only rows that add to others and to `read`."""
    most = run.context.kept
    if not has_writer_model(run.context):
        return rows[:most]
    if run.hop > 1:
        most = min(most, LATER)
    # A picture without words is kept only if a model will look at it, or if the published method keeps it.
    published = run.context.method.form == "universal-rag"
    worth = _ids(rows) if published else worth_a_look(rows)
    useful = []
    for row in rows:
        if row["text"].strip() or row["id"] in worth:
            useful.append(row)
    return distinct(useful, most, read)


def _with_looks(rows: Sequence[Evidence], found: Sequence[RankedList]) -> list[Evidence]:
    """Add what a model saw in clips, and the verdicts on rows whose text a look has not changed."""
    seen: dict[str, str] = {}
    judged: dict[tuple[str, str], float] = {}
    for ranked in found:
        seen |= dict(zip(ranked["ids"], ranked.get("seen", []), strict=False))
        for i, value in zip(ranked["ids"], ranked.get("verdicts", []), strict=False):
            judged[ranked["query"], i] = value
    out: list[Evidence] = []
    for row in rows:
        row = Evidence(**{**row, "seen": seen[row["id"]]}) if row["id"] in seen else row
        verdict = judged.get((row["query"], row["id"]))
        if verdict is not None and not row.get("seen"):
            row = Evidence(**{**row, "judged": verdict})
        out.append(row)
    return out
