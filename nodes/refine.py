"""Refine the hop's items into strips: decompose, filter, recompose (CRAG, section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.components.component import Outcome
from ragweave.components.context import Context
from ragweave.components.evidence import TEXT_LIMIT, Action, Strip
from ragweave.components.passages import as_read, as_seen, as_strip
from ragweave.components.recency import faded
from ragweave.components.run_context import has_writer_model
from ragweave.components.strips import cut, select, strip_of
from ragweave.models.text import counted
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update, asked_together, bound, whole_documents

SHOWN: dict[Action, int] = {"correct": 4, "ambiguous": 5, "incorrect": 5}
"""Passages that a chat model is shown by the verdict over the first round."""
NEAREST = 3
"""Items that are kept where none looks relevant: which is said of them, is told by their sentences."""


async def refine(state: State, runtime: NodeRuntime) -> Update:
    """Return the strips of this hop that bear on its query, each with a locator of its own.

    A chat model is shown every item whole: it leaves out itself what does not help. A further round adds what the grade
    does not call irrelevant, or else its best item. Without a chat model nothing is cut either unless strips are asked
    for, and never a long document that is read whole.
    """
    run = NodeRun("refine", state, runtime)
    lower = bound(state)
    rows = {e["id"]: e for e in state.get("evidence", [])}
    found = [rows[i] for i in state.get("candidates", []) if i in rows]
    if shown_whole(run.context):
        # A picture without words, of which a look says nothing, holds nothing to read.
        said = [e for e in found if e["text"].strip() or e.get("seen") != "" or e["relevance"] >= lower]
        if run.hop > 1:
            said = [e for e in said if e["relevance"] >= lower] or said[:1]
        elif grade := state.get("grade"):
            said = said[: SHOWN[grade["action"]]]
        whole = [s for e in said for s in (as_strip(e), *as_seen(e))]
        run.by = "rule"
        return run.done(
            f"{counted(len(whole), 'passage')}, whole", data={"strips": [s["id"] for s in whole]}, knowledge=whole
        )
    kept = [e for e in found if e["relevance"] >= lower] or found[: NEAREST if run.hop == 1 else 1]
    if run.context.method.strip_mode == "auto":
        # Quotes read the items themselves.
        run.by = "rule"
        whole = [s for e in kept for s in (as_strip(e), *as_seen(e))]
        told = f"skipped: no model reads strips; {len(kept)} of {counted(len(found), 'passage')} kept"
        return run.done(told, data={"strips": [s["id"] for s in whole]}, knowledge=whole)
    items = await (await run.library()).items([e["id"] for e in kept if e["origin"] == "library"])
    whole_read = whole_documents(state, run.context.method.whole) if state.get("routes") else set()
    long = {i for i in whole_read & items.keys() if len(items[i].text) > TEXT_LIMIT}
    uncut = [as_strip(e) for e in kept if e["id"] in long]
    query = asked_together(state)
    made = [
        strip_of(e, items[e["id"]], a, b, run.hop)
        for e in kept
        if e["id"] in items and e["id"] not in long
        for a, b in cut(items[e["id"]].text, run.context.method.strip_mode, query)
    ]
    made += [s for e in kept for s in as_seen(e)]
    fresh = {e["id"]: e.get("fresh", 1.0) for e in kept}
    judged = await score_strips(run, query, made)
    scored = [Strip(**{**s, "score": round(faded(s["score"], fresh[s["evidence"]]), 4)}) for s in judged.value]
    chosen = select(scored, run.context.method)
    removed = 1 - sum(len(s["text"]) for s in chosen) / (
        sum(len(i.text) for i in items.values() if i.id not in long) or 1
    )
    summary = f"{len(chosen)} of {counted(len(made), 'part')} kept, {removed:.0%} of the text removed"
    summary += f"; documents whole: {len(uncut)}" if uncut else ""
    chosen = [*uncut, *chosen]
    return run.done(summary, judged, data={"strips": [s["id"] for s in chosen], "of": len(made)}, knowledge=chosen)


def shown_whole(context: Context) -> bool:
    """Tell whether items stay whole because a chat model reads them."""
    return context.method.strip_mode == "auto" and has_writer_model(context)


async def score_strips(run: NodeRun, query: str, made: Sequence[Strip]) -> Outcome[list[Strip]]:
    """Score strips with the run's evaluator for strips, all at once."""
    if not made:
        return Outcome([], "local")
    judged = await run.components.strip_evaluator(run, query, [as_read(s) for s in made])
    scored = [Strip(**{**s, "score": round(v, 4)}) for s, v in zip(made, judged.value, strict=True)]
    return Outcome(scored, judged.by, judged.fallback)
