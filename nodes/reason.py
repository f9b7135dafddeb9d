"""Reason over what was found: what was learnt, what is missing, the next query or enough (Auto-RAG, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.ask import Outcome
from ragweave.components.documents import read_whole
from ragweave.components.evidence import Evidence, Hop, Phrasings, Reply, Route, Strip
from ragweave.components.hop_rank import scored
from ragweave.components.knowledge import Decision, Knowledge
from ragweave.components.passages import as_strip
from ragweave.components.prose import tell
from ragweave.components.reason import decide
from ragweave.components.recall import has_memory
from ragweave.components.rounds import with_shown
from ragweave.components.run_context import chosen, has_writer_model
from ragweave.components.table_query import with_results
from ragweave.components.tables import parts_of
from ragweave.components.turn import unknown
from ragweave.nodes.generate import open_builder, written
from ragweave.nodes.route import fallback_corpora
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import (
    EMPTY,
    State,
    Then,
    Update,
    best_of_hop,
    bound,
    ended,
    evidence_by_id,
    merge_strips,
    recalls,
    whole_documents,
)

SELECTED = 5
"""Best items over all hops that an answer always sees."""


@dataclass
class Reading:
    """What the rounds so far have brought, as it is read now.

    Attributes:
        opening: nothing was searched or recalled yet.
        hops: the rounds; the last one has just ended.
        strips: what is known; documents that are read whole stand in it as wholes.
        whole: items of this round that become knowledge because the graph does not refine.
        placed: what was found, best first over all rounds.
        results: what statements over tables gave, added while the model reasons.
        page: where the model's answer is shown while it writes; None until it begins.
    """

    opening: bool
    hops: list[Hop]
    strips: list[Strip]
    whole: list[Strip]
    placed: list[Evidence]
    results: list[Evidence] = field(default_factory=list)
    page: AnswerBuilder | None = None

    def say(self, raw: str, ids: Sequence[str], cites: bool) -> None:
        """Show a sentence of the answer; `ids` are what its numbers mean."""
        assert self.page is not None
        strips = [*self.strips, *map(as_strip, self.results)]
        tell(raw, [[s for s in strips if s["evidence"] == i] for i in ids], self.page, cites=cites)


async def reason(state: State, runtime: NodeRuntime) -> Update:
    """Return the trace of this round, and the next query, the answer, or that what is there has to do.

    Rounds are counted here. The sentences of a chat model's answer are shown as it writes them.
    """
    run = NodeRun("reason", state, runtime)
    reading = await _read(run, state)
    made, limit = await _decided(run, state, reading)
    decision = made.value
    if reading.opening and not decision.query and unknown(decision.answer) is not None:
        decision = replace(
            decision, query=state["question"], answer=""
        )  # what is not known was not searched yet
    if _repeats(reading, state, decision) or (limit and not reading.opening):
        decision = replace(decision, query="", more=())
    then = _next(run, state, reading, decision)
    update = _kept(state, reading, decision, made.by)
    page = reading.page
    if page is not None:
        page.close()
        update["draft"] = written(page, "llm")
        then = "answered" if then == "write" and page.sentences else then
    update["then"] = then
    if then == "write" and decision.answer:
        reply = Reply(text=decision.answer, shown=list(decision.shown))
        update["draft"] = {**(update.get("draft") or state.get("draft") or EMPTY), "reply": reply}
    elif then == "write" and any(h["query"] != state["question"] for h in reading.hops):
        update["knowledge"] = [*reading.whole, *_selected(reading.placed, reading.strips)]
    if then in ("ask on", "recall"):
        update |= _next_round(state, reading, decision, then)
    elif reading.opening:
        update |= _unsearched(run, state, made)
    said = _summary(reading, made.value, decision, then, limit)
    data = {"then": then, "query": decision.query, "learnt": decision.learnt, "missing": decision.missing}
    return run.done(
        "; ".join(filter(None, (decision.learnt, decision.missing, said))), made, data=data, **update
    )


def after_reason(state: State) -> str:
    """Return what the decision leads to, in the words of the graph's edges."""
    return state["then"]


async def _read(run: NodeRun, state: State) -> Reading:
    """Return what the rounds so far have brought."""
    opening = not state.get("routes") and state.get("then") != "recall"
    rows = evidence_by_id(state)
    whole: list[Strip] = []
    if not state.get("grade"):
        whole = [as_strip(row) for row in best_of_hop(state)]
    strips = merge_strips(state.get("knowledge"), whole)
    hops = [] if opening else [*state.get("hops", []), ended(state)]
    if has_writer_model(run.context):
        ranked = [h["evidence"] for h in hops]
        strips = await read_whole(run, strips, rows, ranked, whole_documents(state), state["question"])
    placed = [e for e in rows.values() if e["origin"] != "model"]
    if len(hops) > 1:  # what one round found is in order already
        placed = await scored(await run.library(), state["question"], placed, hops)
    return Reading(opening, hops, strips, whole, placed)


async def _decided(run: NodeRun, state: State, reading: Reading) -> tuple[Outcome[Decision], str]:
    """Return what the reasoner decides, and the limit that leaves nothing to go on with, or ""."""
    known = await _known(run, state, reading)
    model, limit = has_writer_model(run.context), _limit(run)
    if limit or (known.last and not model):
        query = known.question if reading.opening else ""
        return Outcome(Decision(query=query), "budget" if limit else "rule"), limit
    ask = decide
    if _asks_tables(run):
        made, known = await with_results(run, known, ask, reading.results)
        reading.hops, reading.placed = [*known.hops], [*known.rows]
        reading.whole = [*reading.whole, *map(as_strip, reading.results)]
    else:
        made = await ask(run, known)
    if model:
        reading.hops = with_shown(known, run.context.method.turn_passages)
    return made, _limit(run)


async def _known(run: NodeRun, state: State, reading: Reading) -> Knowledge:
    """Return what the reasoner is given."""
    library = await run.library()
    model, cites = has_writer_model(run.context), run.context.method.form == "own"

    async def say(raw: str, shown: Sequence[str]) -> None:
        if reading.page is None:
            held = State(**{**state, "evidence": [*state.get("evidence", []), *reading.results]})
            reading.page = await open_builder(run, held, reading.strips)
        reading.say(raw, shown, cites)

    tables = await parts_of(library, [*{s["evidence"] for s in reading.strips}]) if _asks_tables(run) else {}
    # Without a model the query is asked that was edited.
    question = state["query"] if reading.opening and not model else state["question"]
    others = not run.context.corpora and bool(fallback_corpora(state, state["query"], await run.held()))
    last = not (reading.opening or _can_search(run, state, reading) or _can_recall(run, state))
    return Knowledge(
        question, reading.hops, reading.placed, reading.strips, others, last, say, state["turn"]["plan"], bound(state),
        tables,
    )  # fmt: skip


def _asks_tables(run: NodeRun) -> bool:
    return has_writer_model(run.context) and run.context.method.form == "own"


def _can_search(run: NodeRun, state: State, reading: Reading) -> bool:
    return run.context.max_hops > (0 if reading.opening else state["hop"])


def _can_recall(run: NodeRun, state: State) -> bool:
    done = recalls(state) + (state.get("then") == "recall")
    return done < run.context.method.recalls and has_memory(run.context)


def _limit(run: NodeRun) -> str:
    """Return the limit that leaves nothing to go on with; without a model only time counts."""
    late = run.meter.out_of_time() or run.meter.refused or chosen("reasoner", run.context) is None
    return run.meter.refused if late else run.meter.exhausted


def _repeats(reading: Reading, state: State, decision: Decision) -> bool:
    """Tell whether the decision asks only what was asked before."""
    known = Knowledge(state["question"], reading.hops)
    return not (reading.opening or decision.again) and known.asked(decision.query)


def _next(run: NodeRun, state: State, reading: Reading, decision: Decision) -> Then:
    """Return where the run goes: to another search, to the model's memory, or to the answer."""
    if decision.query and _can_search(run, state, reading):
        return "ask on"
    if decision.query and _can_recall(run, state):
        return "recall"
    return "write"


def _kept(state: State, reading: Reading, decision: Decision, by: str) -> Update:
    """Return what is kept of the round that has ended: its trace, and what was read in it."""
    if reading.opening:
        return {"turn": {**state["turn"], "plan": [decision.learnt, decision.missing]}} | (
            {"knowledge": reading.whole, "evidence": reading.placed, "hops": reading.hops}
            if reading.results
            else {}
        )
    row = reading.hops[-1]
    row |= {"learnt": decision.learnt, "missing": decision.missing, "next": decision.query}
    row["by"] = by
    new = reading.hops[len(state.get("hops", [])) :]
    return {"knowledge": reading.whole, "evidence": reading.placed, "hops": new}


def _next_round(state: State, reading: Reading, decision: Decision, then: Then) -> Update:
    """Return what another round begins with."""
    query = decision.query or state["query"]
    hop = state["hop"] + (then == "ask on" and not reading.opening)
    row = Phrasings(hop=hop, query=query, also=list(decision.more), rewrites=[], by="")
    update: Update = {"query": query, "hop": hop, "queries": [row]}
    if then == "ask on" and not reading.opening:
        update |= {"candidates": [], "grade": None}
    return update


def _unsearched(run: NodeRun, state: State, made: Outcome[Decision]) -> Update:
    """Return the route of a turn in which nothing is searched."""
    if made.value.query:
        run.note("Nothing was searched: this run allows no round of retrieval (max_hops is 0).")
        return {}
    why = "no search is needed"
    return {"routes": [Route(hop=state["hop"], corpora=["none"], confidence={}, by=made.by, why=why)]}


def _summary(reading: Reading, wanted: Decision, decision: Decision, then: Then, limit: str) -> str:
    """Say what was asked of tables, and what comes next."""
    said = "enough"
    if then == "ask on":
        said = f"next: {' | '.join([decision.query, *decision.more])}"
    elif then == "recall":
        said = f"recall: {decision.query}"
    elif reading.opening and not wanted.query:
        said = "no search is needed"
    elif limit and not (reading.opening or decision.answer):
        said = f"stopped by the limit of {limit}"
    elif wanted.query and not decision.query:
        said = "asked only what was asked before"
    return "; ".join([*(e["query"] for e in reading.results), said])


def _selected(ordered: list[Evidence], strips: list[Strip]) -> list[Strip]:
    """Take the best items over all hops whole, where refinement against the query of their own hop left nothing."""
    have = {s["evidence"] for s in strips}
    return [as_strip(e) for e in ordered[:SELECTED] if e["id"] not in have]
