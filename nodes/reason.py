"""Reason over what was found: what was learnt, what is missing, the next query or enough (Auto-RAG, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.component import Outcome
from ragweave.components.evidence import Evidence, Reply, Route, Strip
from ragweave.components.hop_rank import scored
from ragweave.components.knowledge import Decision, Knowledge
from ragweave.components.llm.documents import read_whole
from ragweave.components.llm.prose import tell
from ragweave.components.passages import as_strip
from ragweave.components.run_context import chosen, has_writer_model, rewrites
from ragweave.components.table_query import with_results
from ragweave.components.tables import parts_of
from ragweave.nodes.generate import open_builder, written
from ragweave.nodes.route import fallback_corpora
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Then, Update, bound, ended, merge_strips, whole_documents

SELECTED = 5
"""Best items over all hops that an answer always sees."""


async def reason(state: State, runtime: NodeRuntime) -> Update:
    """Return the trace of this round, and either the next query or that the answer can be written.

    Rounds are counted here; when all are spent, or a limit is reached, what is there has to do. The sentences of a chat
    model's answer are shown as it writes them.
    """
    run = NodeRun("reason", state, runtime)
    context = run.context
    opening = not (state.get("tasks") or state.get("routes") or state.get("recalls"))
    rows = {e["id"]: e for e in state.get("evidence", [])}
    whole = [] if state.get("grade") else [as_strip(rows[i]) for i in state.get("candidates", []) if i in rows]
    strips = merge_strips(state.get("knowledge"), whole)
    hops = [] if opening else [*state.get("hops", []), ended(state)]
    if has_writer_model(context):
        ranked = [h["evidence"] for h in hops]
        documents = whole_documents(state, context.method.whole)
        strips = await read_whole(run, strips, rows, ranked, documents, state["question"])
    library, found = await run.library(), [e for e in rows.values() if e["origin"] != "model"]
    # What one round found is in order already.
    placed = await scored(library, state["question"], found, hops) if len(hops) > 1 else found
    others = not context.corpora and bool(fallback_corpora(state, state["query"], await run.held()))
    can_search = context.max_hops > (0 if opening else state["hop"])
    can_recall = state.get("recalls", 0) < context.max_recalls and run.components.recaller is not None
    last = not (opening or can_search or can_recall)
    builder: AnswerBuilder | None = None
    results: list[Evidence] = []

    async def say(raw: str, shown: Sequence[str]) -> None:
        nonlocal builder
        if builder is None:
            held = State(**{**state, "evidence": [*state.get("evidence", []), *results]})
            builder = await open_builder(run, held, strips)
        said = [*strips, *map(as_strip, results)]
        rows = [[s for s in said if s["evidence"] == i] for i in shown]
        tell(raw, rows, builder, cites=context.method.form == "own")

    # A query that was edited counts.
    first = state["query"] if opening and not has_writer_model(context) else state["question"]
    reads = has_writer_model(context) and context.method.form == "own"
    tables = await parts_of(library, [*{s["evidence"] for s in strips}]) if reads else {}
    known = Knowledge(first, hops, placed, strips, others, last, say, state.get("plan", []), bound(state), tables)
    spent = _spent(run)
    if not spent and (has_writer_model(context) or not last):
        ask = run.components.reasoner
        made, known = await with_results(run, known, ask, results) if reads else (await ask(run, known), known)
        hops, placed, whole = [*known.hops], [*known.rows], [*whole, *map(as_strip, results)]
        spent = _spent(run)
    else:
        made = Outcome(Decision(query=first if opening else ""), "budget" if spent else "rule")
    decision = made.value
    repeated = not (opening or decision.again) and known.asked(decision.query)
    if repeated or (spent and not opening):
        decision = replace(decision, query="", more=())
    then: Then = "write"
    if decision.query and can_search:
        then = "ask on"
    elif decision.query and can_recall:
        then = "recall"
    update: Update = {"then": then, "enough": not (decision.query or spent or repeated), "also": []}
    if decision.answer and then == "write":
        update["reply"] = Reply(text=decision.answer, shown=list(decision.shown))
    if builder is not None:
        builder.close()
        update |= written(builder)
        if then == "write" and builder.sentences:
            update |= {"then": "answered", "mode": "llm"}
    asked = " | ".join([decision.query, *decision.more])
    done = "asked only what was asked before" if repeated else "enough"
    told = {"ask on": f"next: {asked}", "recall": f"recall: {decision.query}"}.get(then, done)
    if results:
        update |= {"knowledge": whole, "evidence": placed, "hops": hops[len(state.get("hops", [])) :]}
    if opening:
        update["plan"] = [decision.learnt, decision.missing]
        if not decision.query:
            told = "no search is needed"
            update["routes"] = [Route(hop=state["hop"], corpora=["none"], confidence={}, by=made.by, why=told)]
        elif not can_search:
            run.note("Nothing was searched: this run allows no round of retrieval (max_hops is 0).")
    else:
        row = hops[-1]
        row |= {"learnt": decision.learnt, "missing": decision.missing, "next": decision.query}
        row["by"] = made.by
        update |= {"knowledge": whole, "evidence": placed, "hops": hops[len(state.get("hops", [])) :]}
        if then == "write" and "reply" not in update and any(h["query"] != state["question"] for h in hops):
            update["knowledge"] = [*whole, *_selected(placed, strips)]
        if then == "ask on":
            update |= {"hop": state["hop"] + 1, "rewrite": rewrites(context), "candidates": [], "grade": None}
        elif then == "write" and spent and "reply" not in update:
            told = f"stopped by the limit of {spent}"
    if then != "write" or opening:
        update |= {"query": decision.query or state["query"], "also": list(decision.more)}
    told = "; ".join([*(e["query"] for e in results), told])
    data = {"then": update["then"], "query": decision.query, "learnt": decision.learnt, "missing": decision.missing}
    return run.done("; ".join(filter(None, (decision.learnt, decision.missing, told))), made, data=data, **update)


def _spent(run: NodeRun) -> str:
    """Return the limit that leaves nothing to go on with; without a model only time counts."""
    late = run.meter.out_of_time() or run.meter.refused or chosen("reasoner", run.context) is None
    return run.meter.refused if late else run.meter.exhausted


def _selected(ordered: list[Evidence], strips: list[Strip]) -> list[Strip]:
    """Take the best items over all hops whole, where refinement against the query of their own hop left nothing."""
    have = {s["evidence"] for s in strips}
    return [as_strip(e) for e in ordered[:SELECTED] if e["id"] not in have]
