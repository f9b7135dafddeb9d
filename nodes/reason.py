"""Reason over the findings: what is known, what is missing, the next query (Auto-RAG, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from ragweave.components.tables import TablePart, parts_of
from ragweave.components.turn import unknown
from ragweave.nodes.generate import open_builder, written
from ragweave.nodes.route import fallback_corpora
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import (
    EMPTY,
    Draft,
    State,
    Then,
    Update,
    best_of_hop,
    bound,
    ended,
    evidence_by_id,
    merge_strips,
    recalls,
)
from ragweave.nodes.whole_documents import whole_documents

SELECTED = 5
"""Number of best items over all hops that the writer always gets."""


@dataclass
class Reading:
    """The findings of the rounds so far.

    Attributes:
        opening: whether nothing was searched or recalled yet.
        hops: the rounds; the last one has just ended.
        strips: the knowledge; a document that is read whole is one strip.
        whole: items of this round that become knowledge because the graph does not refine.
        placed: the evidence, best first over all rounds.
        results: results of statements over tables, added while the model reasons.
        page: the builder of the model's answer while it writes; None before its first sentence.
    """

    opening: bool
    hops: list[Hop]
    strips: list[Strip]
    whole: list[Strip]
    placed: list[Evidence]
    results: list[Evidence] = field(default_factory=list)
    page: AnswerBuilder | None = None

    def say(self, raw: str, ids: Sequence[str], cites: bool) -> None:
        """Add a sentence to the answer; `ids` are the evidence that its numbers cite."""
        assert self.page is not None
        by_evidence: dict[str, list[Strip]] = {}
        for i in ids:
            by_evidence[i] = []
        for strip in [*self.strips, *map(as_strip, self.results)]:
            if strip["evidence"] in by_evidence:
                by_evidence[strip["evidence"]].append(strip)
        tell(raw, [by_evidence[i] for i in ids], self.page, cites=cites)


async def reason(state: State, runtime: NodeRuntime) -> Update:
    """Return the trace of this round, and the next query, the answer, or the end of the search.

    Rounds are counted here. A chat model's answer is streamed sentence by sentence.
    """
    run = NodeRun("reason", state, runtime)
    reading = await _read(run, state)
    made, limit = await _decided(run, state, reading)
    decision = _corrected(state, reading, made.value, limit)
    then = _next(run, state, reading, decision)
    update = _kept(state, reading, decision, made.by)
    if reading.page is not None:
        reading.page.close()
        update["draft"] = written(reading.page, "llm")
        then = "answered" if then == "write" and reading.page.sentences else then
    update["then"] = then
    if then == "write":
        update |= _to_write(state, reading, decision, update.get("draft"))
    if then in ("ask on", "recall"):
        update |= _next_round(state, reading, decision, then)
    elif reading.opening:
        update |= _unsearched(run, state, made)
    data = {"then": then, "query": decision.query, "learnt": decision.learnt, "missing": decision.missing}
    comes_next = _summary(reading, made.value, decision, then, limit)
    summary = "; ".join(filter(None, (decision.learnt, decision.missing, comes_next)))
    return run.done(summary, made, data=data, **update)


def _corrected(state: State, reading: Reading, decision: Decision, limit: str) -> Decision:
    """Return the decision without a repeated query; an unknown answer becomes a search."""
    if reading.opening and not decision.query and unknown(decision.answer) is not None:
        decision = replace(decision, query=state["question"], answer="")  # nothing was searched yet
    if _repeats(reading, state, decision) or (limit and not reading.opening):
        decision = replace(decision, query="", more=())
    return decision


def _to_write(state: State, reading: Reading, decision: Decision, draft: Draft | None) -> Update:
    """Return the input of the writer: the model's answer, or the best items over all rounds."""
    if decision.answer:
        reply = Reply(text=decision.answer, shown=list(decision.shown))
        return {"draft": {**(draft or state.get("draft") or EMPTY), "reply": reply}}
    queries = {hop["query"] for hop in reading.hops}
    if queries <= {state["question"]}:
        return {}
    return {"knowledge": [*reading.whole, *_selected(reading.placed, reading.strips)]}


def after_reason(state: State) -> str:
    """Return the next step, in the words of the graph's edges."""
    return state["then"]


async def _read(run: NodeRun, state: State) -> Reading:
    """Return the findings of the rounds so far."""
    opening = not state.get("routes") and state.get("then") != "recall"
    rows = evidence_by_id(state)
    whole: list[Strip] = []
    if not state.get("grade"):
        whole = list(map(as_strip, best_of_hop(state)))
    strips = merge_strips(state.get("knowledge"), whole)
    hops = [] if opening else [*state.get("hops", []), ended(state)]
    if has_writer_model(run.context):
        ranked = [hop["evidence"] for hop in hops]
        strips = await read_whole(run, strips, rows, ranked, whole_documents(state), state["question"])
    placed = []
    for row in rows.values():
        if row["origin"] != "model":
            placed.append(row)
    if len(hops) > 1:  # the items of one round are already in order
        placed = await scored(await run.library(), state["question"], placed, hops)
    return Reading(opening, hops, strips, whole, placed)


async def _decided(run: NodeRun, state: State, reading: Reading) -> tuple[Outcome[Decision], str]:
    """Return the reasoner's decision, and the limit that ends the search, or ""."""
    known = await _known(run, state, reading)
    model, limit = has_writer_model(run.context), _limit(run)
    if limit or (known.last and not model):
        query = known.question if reading.opening else ""
        return Outcome(Decision(query=query), "budget" if limit else "rule"), limit
    if _asks_tables(run):
        made, known = await with_results(run, known, decide, reading.results)
        reading.hops, reading.placed = list(known.hops), list(known.rows)
        reading.whole = [*reading.whole, *map(as_strip, reading.results)]
    else:
        made = await decide(run, known)
    if model:
        reading.hops = with_shown(known, run.context.method.turn_passages)
    return made, _limit(run)


async def _known(run: NodeRun, state: State, reading: Reading) -> Knowledge:
    """Return the reasoner's input."""
    library = await run.library()
    model, cites = has_writer_model(run.context), run.context.method.form == "own"

    async def say(raw: str, shown: Sequence[str]) -> None:
        if reading.page is None:
            extended = State(**{**state, "evidence": [*state.get("evidence", []), *reading.results]})
            reading.page = await open_builder(run, extended, reading.strips)
        reading.say(raw, shown, cites)

    tables: Mapping[str, Sequence[TablePart]] = {}
    if _asks_tables(run):
        tables = await parts_of(library, list(_evidence_of(reading.strips)))
    # Without a model, the search is for the edited query.
    question = state["query"] if reading.opening and not model else state["question"]
    others = not run.context.corpora and bool(fallback_corpora(state, state["query"], await run.held()))
    last = not (reading.opening or _can_search(run, state, reading) or _can_recall(run, state))
    return Knowledge(
        question,
        reading.hops,
        reading.placed,
        reading.strips,
        others,
        last,
        say,
        state["turn"]["plan"],
        bound(state),
        tables,
    )


def _asks_tables(run: NodeRun) -> bool:
    """Return whether the reasoner may run statements over tables."""
    return has_writer_model(run.context) and run.context.method.form == "own"


def _can_search(run: NodeRun, state: State, reading: Reading) -> bool:
    return run.context.max_hops > (0 if reading.opening else state["hop"])


def _can_recall(run: NodeRun, state: State) -> bool:
    done = recalls(state) + (state.get("then") == "recall")
    return done < run.context.method.recalls and has_memory(run.context)


def _limit(run: NodeRun) -> str:
    """Return the limit that ends the search, or ""; without a model only time counts."""
    late = run.meter.out_of_time() or run.meter.refused or chosen("reasoner", run.context) is None
    return run.meter.refused if late else run.meter.exhausted


def _repeats(reading: Reading, state: State, decision: Decision) -> bool:
    """Return whether the decision has only an earlier query."""
    known = Knowledge(state["question"], reading.hops)
    return not (reading.opening or decision.again) and known.asked(decision.query)


def _next(run: NodeRun, state: State, reading: Reading, decision: Decision) -> Then:
    """Return the next step: another search, the model's memory, or the answer."""
    if decision.query and _can_search(run, state, reading):
        return "ask on"
    if decision.query and _can_recall(run, state):
        return "recall"
    return "write"


def _kept(state: State, reading: Reading, decision: Decision, by: str) -> Update:
    """Return the results of the round that has ended: its trace, and the items that were read."""
    if reading.opening:
        update: Update = {"turn": {**state["turn"], "plan": [decision.learnt, decision.missing]}}
        if reading.results:
            update |= {"knowledge": reading.whole, "evidence": reading.placed, "hops": reading.hops}
        return update
    row = reading.hops[-1]
    row |= {"learnt": decision.learnt, "missing": decision.missing, "next": decision.query}
    row["by"] = by
    new = reading.hops[len(state.get("hops", [])) :]
    return {"knowledge": reading.whole, "evidence": reading.placed, "hops": new}


def _next_round(state: State, reading: Reading, decision: Decision, then: Then) -> Update:
    """Return the start of another round."""
    query = decision.query or state["query"]
    hop = state["hop"] + (then == "ask on" and not reading.opening)
    row = Phrasings(hop=hop, query=query, also=list(decision.more), rewrites=[], by="")
    update: Update = {"query": query, "hop": hop, "queries": [row]}
    if then == "ask on" and not reading.opening:
        update |= {"candidates": [], "grade": None}
    return update


def _unsearched(run: NodeRun, state: State, made: Outcome[Decision]) -> Update:
    """Return the route of a turn without a search."""
    if made.value.query:
        run.note("Nothing was searched: this run allows no round of retrieval (max_hops is 0).")
        return {}
    why = "no search is needed"
    return {"routes": [Route(hop=state["hop"], corpora=["none"], confidence={}, by=made.by, why=why)]}


def _summary(reading: Reading, wanted: Decision, decision: Decision, then: Then, limit: str) -> str:
    """Return the statements over tables and the next step, in words."""
    step = "enough"
    if then == "ask on":
        step = f"next: {' | '.join([decision.query, *decision.more])}"
    elif then == "recall":
        step = f"recall: {decision.query}"
    elif reading.opening and not wanted.query:
        step = "no search is needed"
    elif limit and not (reading.opening or decision.answer):
        step = f"stopped by the limit of {limit}"
    elif wanted.query and not decision.query:
        step = "asked only what was asked before"
    statements = [row["query"] for row in reading.results]
    return "; ".join([*statements, step])


def _evidence_of(strips: Sequence[Strip]) -> set[str]:
    """Return the ids of the evidence of strips."""
    return {strip["evidence"] for strip in strips}


def _selected(ordered: list[Evidence], strips: list[Strip]) -> list[Strip]:
    """Return the best items over all hops, whole, if the refinement of their hop kept nothing of them."""
    have = _evidence_of(strips)
    found: list[Strip] = []
    for row in ordered[:SELECTED]:
        if row["id"] not in have:
            found.append(as_strip(row))
    return found
