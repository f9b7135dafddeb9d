"""Refine the hop's items into strips: decompose, filter, recompose (CRAG, section 4.4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ragweave.components.ask import Outcome
from ragweave.components.context import Context
from ragweave.components.evidence import TEXT_LIMIT, Action, Evidence, Strip
from ragweave.components.grade import score_passages
from ragweave.components.method import Effort
from ragweave.components.passages import as_read, as_seen, as_strip
from ragweave.components.recency import faded
from ragweave.components.run_context import has_writer_model
from ragweave.components.strips import cut, select, strip_of, strip_of_text
from ragweave.corpora.types import Item
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update, asked_together, best_of_hop, bound
from ragweave.nodes.whole_documents import whole_documents

SHOWN: dict[Effort, dict[Action, int]] = {
    "low": {"correct": 3, "ambiguous": 4, "incorrect": 4},
    "normal": {"correct": 4, "ambiguous": 5, "incorrect": 5},
    "high": {"correct": 6, "ambiguous": 8, "incorrect": 8},
}
"""How many passages a chat model reads, by effort and by the verdict over the first round."""
NEAREST = 3
"""How many items are kept if none is relevant; extractive mode then says that they match little."""


async def refine(state: State, runtime: NodeRuntime) -> Update:
    """Return the strips of this hop that are relevant to its query, each with its own place.

    A chat model reads every item whole and ignores what does not help. A further round adds the items that
    are not graded as irrelevant, or else its best item. Without a chat model, items are cut only if
    `method.strip_mode` asks for strips, and a long document that is read whole is never cut.
    """
    run = NodeRun("refine", state, runtime)
    found = best_of_hop(state)
    if shown_whole(run.context):
        kept = _for_a_model(run, state, found)
        return _uncut(run, kept, f"{counted(len(kept), 'passage')}, whole")
    lower = bound(state)
    nearest = found[: NEAREST if run.hop == 1 else 1]
    kept = _relevant(found, lower) or nearest
    if run.context.method.strip_mode == "auto":
        # Quotes are cut from the items themselves.
        some = f"{len(kept)} of {counted(len(found), 'passage')} kept"
        return _uncut(run, kept, f"skipped: no model reads strips; {some}")
    return await _cut(run, state, kept)


def shown_whole(context: Context) -> bool:
    """Return whether items stay whole because a chat model reads them."""
    return context.method.strip_mode == "auto" and has_writer_model(context)


def _for_a_model(run: NodeRun, state: State, found: Sequence[Evidence]) -> list[Evidence]:
    """Return the items that a chat model reads, as many as the verdict allows."""
    lower, grade = bound(state), state.get("grade")
    readable = []
    for e in found:
        if _is_readable(e, lower):
            readable.append(e)
    if run.hop > 1:
        return _relevant(readable, lower) or readable[:1]
    if not grade:
        return readable
    return readable[: SHOWN[run.context.effort][grade["action"]]]


def _relevant(rows: Sequence[Evidence], lower: float) -> list[Evidence]:
    """Return the rows that are not irrelevant."""
    kept: list[Evidence] = []
    for row in rows:
        if row["relevance"] >= lower:
            kept.append(row)
    return kept


def _is_readable(row: Evidence, lower: float) -> bool:
    """Return False for an irrelevant picture without words in which a look saw nothing."""
    return bool(row["text"].strip()) or row.get("seen") != "" or row["relevance"] >= lower


def _uncut(run: NodeRun, kept: Sequence[Evidence], summary: str) -> Update:
    """Close the node with whole items and what was seen in them."""
    run.by = "rule"
    strips: list[Strip] = []
    for row in kept:
        strips += [as_strip(row), *as_seen(row)]
    return run.done(summary, data={"strips": _ids(strips)}, knowledge=strips)


async def _cut(run: NodeRun, state: State, kept: Sequence[Evidence]) -> Update:
    """Close the node with the strips of items that the evaluator finds relevant."""
    in_library = []
    for e in kept:
        if e["origin"] == "library":
            in_library.append(e["id"])
    items = await (await run.library()).items(in_library)
    uncut, cuttable = _apart(kept, items, whole_documents(state) if state.get("routes") else set())
    query = asked_together(state)
    made = _strips(run, cuttable, items, query)
    judged = await score_strips(run, query, made)
    chosen = select(_faded(judged.value, kept), run.context.method)
    summary = f"{len(chosen)} of {counted(len(made), 'part')} kept, "
    summary += f"{_removed(cuttable, items, chosen):.0%} of the text removed"
    if uncut:
        summary += f"; documents whole: {len(uncut)}"
    knowledge = [*uncut, *chosen]
    data = {"strips": _ids(knowledge), "of": len(made)}
    return run.done(summary, judged, data=data, knowledge=knowledge)


def _ids(strips: Sequence[Strip]) -> list[str]:
    return [strip["id"] for strip in strips]


def _apart(
    kept: Sequence[Evidence], items: Mapping[str, Item], wholes: Collection[str]
) -> tuple[list[Strip], list[Evidence]]:
    """Return the long documents that are read whole, as strips, and the items to cut."""
    uncut: list[Strip] = []
    cuttable: list[Evidence] = []
    for row in kept:
        i = row["id"]
        if i in wholes and i in items and len(items[i].text) > TEXT_LIMIT:
            uncut.append(as_strip(row))
        else:
            cuttable.append(row)
    return uncut, cuttable


def _faded(strips: Sequence[Strip], kept: Sequence[Evidence]) -> list[Strip]:
    """Return strips whose scores count the age of their items, if newer ones are preferred."""
    fresh = {}
    for row in kept:
        fresh[row["id"]] = row.get("fresh", 1.0)
    scored: list[Strip] = []
    for strip in strips:
        score = round(faded(strip["score"], fresh[strip["evidence"]]), 4)
        scored.append(Strip(**{**strip, "score": score}))
    return scored


def _removed(cut_from: Sequence[Evidence], items: Mapping[str, Item], chosen: Sequence[Strip]) -> float:
    """Return the share of the items' text that was removed, from 0 to 1."""
    before = 0
    for row in cut_from:
        before += len(items[row["id"]].text if row["id"] in items else row["text"])
    after = 0
    for strip in chosen:
        after += len(strip["text"])
    return 1 - after / (before or 1)


def _strips(run: NodeRun, kept: Sequence[Evidence], items: Mapping[str, Item], query: str) -> list[Strip]:
    """Cut items into strips; what was seen in an item is a strip of its own."""
    made: list[Strip] = []
    mode = run.context.method.strip_mode
    for row in kept:
        item = items.get(row["id"])
        if item is not None:
            for start, end in cut(item.text, mode, query):
                made.append(strip_of(row, item, start, end, run.hop))
        else:  # of a retriever of somebody else, whose texts no library holds
            for start, end in cut(row["text"], mode, query):
                made.append(strip_of_text(row, start, end))
    for row in kept:
        made += as_seen(row)
    return made


async def score_strips(run: NodeRun, query: str, made: Sequence[Strip]) -> Outcome[list[Strip]]:
    """Score strips with the run's evaluator for strips, all at once."""
    if not made:
        return Outcome([], "local")
    judged = await score_passages(run, query, list(map(as_read, made)))
    scored: list[Strip] = []
    for strip, score in zip(made, judged.value, strict=True):
        scored.append(Strip(**{**strip, "score": round(score, 4)}))
    return Outcome(scored, judged.by, judged.fallback)
