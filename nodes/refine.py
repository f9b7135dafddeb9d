"""Refine the hop's items into strips: decompose, filter, recompose (CRAG, section 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragweave.components.ask import Outcome
from ragweave.components.context import Context
from ragweave.components.evidence import TEXT_LIMIT, Action, Evidence, Strip
from ragweave.components.grade import score_passages
from ragweave.components.method import Effort
from ragweave.components.passages import as_read, as_seen, as_strip
from ragweave.components.recency import faded
from ragweave.components.run_context import has_writer_model
from ragweave.components.strips import cut, select, strip_of
from ragweave.corpora.types import Item
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update, asked_together, bound, whole_documents

SHOWN: dict[Effort, dict[Action, int]] = {
    "low": {"correct": 3, "ambiguous": 4, "incorrect": 4},
    "normal": {"correct": 4, "ambiguous": 5, "incorrect": 5},
    "high": {"correct": 6, "ambiguous": 8, "incorrect": 8},
}
"""Passages that a chat model is shown, by the verdict over the first round."""
NEAREST = 3
"""Items that are kept if none looks relevant; their sentences then say how little that is."""


async def refine(state: State, runtime: NodeRuntime) -> Update:
    """Return the strips of this hop that bear on its query, each with a locator of its own.

    A chat model is shown every item whole: it leaves out itself what does not help. A further round adds what
    the grade does not call irrelevant, or else its best item. Without a chat model nothing is cut either
    unless strips are asked for, and never a long document that is read whole.
    """
    run = NodeRun("refine", state, runtime)
    rows = {e["id"]: e for e in state.get("evidence", [])}
    found = [rows[i] for i in state.get("candidates", []) if i in rows]
    if shown_whole(run.context):
        kept = _for_a_model(run, state, found)
        return _uncut(run, kept, f"{counted(len(kept), 'passage')}, whole")
    lower = bound(state)
    kept = [e for e in found if e["relevance"] >= lower] or found[: NEAREST if run.hop == 1 else 1]
    if run.context.method.strip_mode == "auto":
        # Quotes read the items themselves.
        return _uncut(
            run, kept, f"skipped: no model reads strips; {len(kept)} of {counted(len(found), 'passage')} kept"
        )
    return await _cut(run, state, kept)


def shown_whole(context: Context) -> bool:
    """Tell whether items stay whole because a chat model reads them."""
    return context.method.strip_mode == "auto" and has_writer_model(context)


def _for_a_model(run: NodeRun, state: State, found: Sequence[Evidence]) -> list[Evidence]:
    """Return the items that a chat model is shown, as many as the verdict allows."""
    lower, grade = bound(state), state.get("grade")
    # A picture without words, of which a look says nothing, holds nothing to read.
    said = [e for e in found if e["text"].strip() or e.get("seen") != "" or e["relevance"] >= lower]
    if run.hop > 1:
        return [e for e in said if e["relevance"] >= lower] or said[:1]
    return said[: SHOWN[run.context.effort][grade["action"]]] if grade else said


def _uncut(run: NodeRun, kept: Sequence[Evidence], summary: str) -> Update:
    """Close the node with items as they are, and what was seen in them."""
    run.by = "rule"
    strips = [s for e in kept for s in (as_strip(e), *as_seen(e))]
    return run.done(summary, data={"strips": [s["id"] for s in strips]}, knowledge=strips)


async def _cut(run: NodeRun, state: State, kept: Sequence[Evidence]) -> Update:
    """Close the node with the strips of items that the evaluator finds relevant."""
    items = await (await run.library()).items([e["id"] for e in kept if e["origin"] == "library"])
    wholes = whole_documents(state) if state.get("routes") else set()
    long = {i for i in wholes & items.keys() if len(items[i].text) > TEXT_LIMIT}
    uncut = [as_strip(e) for e in kept if e["id"] in long]
    cuttable = [e for e in kept if e["id"] not in long]
    query = asked_together(state)
    made = _strips(run, cuttable, items, query)
    judged = await score_strips(run, query, made)
    fresh = {e["id"]: e.get("fresh", 1.0) for e in kept}
    scored = [
        Strip(**{**s, "score": round(faded(s["score"], fresh[s["evidence"]]), 4)}) for s in judged.value
    ]
    chosen = select(scored, run.context.method)
    before = sum(len(items[e["id"]].text) for e in cuttable if e["id"] in items)
    removed = 1 - sum(len(s["text"]) for s in chosen) / (before or 1)
    summary = f"{len(chosen)} of {counted(len(made), 'part')} kept, {removed:.0%} of the text removed"
    summary += f"; documents whole: {len(uncut)}" if uncut else ""
    chosen = [*uncut, *chosen]
    return run.done(
        summary, judged, data={"strips": [s["id"] for s in chosen], "of": len(made)}, knowledge=chosen
    )


def _strips(run: NodeRun, kept: Sequence[Evidence], items: Mapping[str, Item], query: str) -> list[Strip]:
    """Cut items into strips; what was seen in an item is one of its own."""
    made: list[Strip] = []
    for row in kept:
        item = items.get(row["id"])
        spans = cut(item.text, run.context.method.strip_mode, query) if item else []
        made += [strip_of(row, item, a, b, run.hop) for a, b in spans if item]
    return made + [s for row in kept for s in as_seen(row)]


async def score_strips(run: NodeRun, query: str, made: Sequence[Strip]) -> Outcome[list[Strip]]:
    """Score strips with the run's evaluator for strips, all at once."""
    if not made:
        return Outcome([], "local")
    judged = await score_passages(run, query, [as_read(s) for s in made])
    scored = [Strip(**{**s, "score": round(v, 4)}) for s, v in zip(made, judged.value, strict=True)]
    return Outcome(scored, judged.by, judged.fallback)
