"""Reason over what was found: what was learnt, what is missing, the next query or enough (Auto-RAG, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from langgraph.runtime import Runtime

from ragweave.minds.context import Context
from ragweave.minds.evidence import Evidence, Hop, Route, Strip
from ragweave.minds.looks import shown_by_look
from ragweave.minds.passages import as_strip
from ragweave.minds.recency import timeless
from ragweave.models.chat import Chat
from ragweave.models.text import clip, content_terms, sentences
from ragweave.nodes.bridges import LINKING, Standing, enough, lead, open_words, stand
from ragweave.nodes.dialogue import (
    REMINDER,
    REPEATED,
    Round,
    Turn,
    asked_now,
    conversation,
    fetched_now,
    read_turn,
    recalling,
    rounds,
    settled,
)
from ragweave.nodes.elsewhere import elsewhere
from ragweave.nodes.run import Run
from ragweave.nodes.state import State, Then, Update, merge_strips, on_timeline

REPROMPTS = 2
"""Times that a turn which cannot be used is asked for again."""
SELECTED = 5
"""Best items over all hops that an answer always sees."""


@dataclass(frozen=True)
class Decision:
    """Outcome of one round of reasoning; an empty query means that the answer can be written.

    Attributes:
        learnt: what the round added, in words.
        missing: what is not known yet, in words.
        query: next query, or empty.
        lead: id of the evidence that the query was made from, or empty.
        again: the query was asked before, and goes to other corpora now.
    """

    learnt: str
    missing: str
    query: str
    lead: str = ""
    again: bool = False


async def reason(state: State, runtime: Runtime[Context]) -> Update:
    """Return the trace of this round, and either the next query or that the answer can be written.

    Rounds of retrieval and of recall are counted here: when both are spent no model is asked, because nothing is left
    to decide. A limit of the run that is reached ends the loop with what is there.
    """
    run = Run.of("reason", state, runtime)
    if not (state.get("tasks") or state.get("routes") or state.get("recalls")):
        return await _open(run, state)
    learnt = [] if state.get("grade") else _taken(state)
    strips = merge_strips(state.get("knowledge"), learnt)
    rows = [e for e in state.get("evidence", []) if e["origin"] != "model"]
    standing = await stand(
        await run.library(), state["question"], rows, [*state.get("hops", []), _row(state, run)], run.context.hop_weight
    )
    asked = [state["question"], *(h["query"] for h in state.get("hops", [])), asked_now(state)]
    can_search = state["hop"] < run.context.max_hops
    can_recall = state.get("recalls", 0) < run.context.max_recalls and run.chat("writer") is not None
    decision = Decision(_learnt(strips, state["hop"]), "", "")
    spent = _spent(run)
    if on_timeline(state):
        run.by = "timeline"
    elif (can_search or can_recall) and not spent:
        decision = await run.decide(
            run.chat("reasoner"),
            lambda model: _by_model(model, run, state["question"], _past(run, state, strips), asked),
            lambda: _by_rule(run, state, strips, standing),
        )
        spent = _spent(run)
    else:
        run.by = "budget" if spent else "rule"
    if spent or (repeated(decision.query, asked) and not decision.again):
        decision = replace(decision, query="", lead="")
    then: Then = "generate" if not decision.query else "more" if can_search else "recall" if can_recall else "generate"
    update: Update = {
        "then": then,
        "enough": not decision.query and not spent,
        "knowledge": learnt,
        "evidence": [Evidence(**{**e, "standing": round(standing.value[e["id"]], 4)}) for e in rows],
        "hops": [_row(state, run, decision)],
    }
    if then == "generate" and any(query != state["question"] for query in asked):
        update["knowledge"] = [*learnt, *_selected(standing.ordered(rows), strips)]
    if then == "more":
        update |= {"query": decision.query, "hop": state["hop"] + 1, "candidates": [], "grade": None}
    elif then == "recall":
        update |= {"query": decision.query}
    told = {"more": f"next: {decision.query}", "recall": f"recall: {decision.query}", "generate": "enough"}[then]
    if then == "generate" and spent:
        told = f"stopped by the limit of {spent}"
    return _close(run, decision, then, told, update)


def after_reason(state: State) -> list[str] | str:
    """Continue as `reason` decided: another hop asks route and expand again, side by side."""
    return ["route", "expand"] if state["then"] == "more" else state["then"]


def repeated(query: str, asked: Sequence[str]) -> bool:
    """Tell whether a query has the same content words as one that was asked before."""
    key = sorted(content_terms(query))
    return bool(query) and any(sorted(content_terms(a)) == key for a in asked)


async def _open(run: Run, state: State) -> Update:
    """Take the first turn of a graph that reasons before it searches: plan the first query, or answer without one."""
    question = state["question"]

    async def ask_it() -> Decision:
        return Decision("", "", question)

    decision = await run.decide(
        None if _spent(run) else run.chat("reasoner"), lambda model: _by_model(model, run, question, [], []), ask_it
    )
    if not decision.query:
        told = "no search is needed"
        none: Route = {"hop": state["hop"], "corpora": ["none"], "confidence": {}, "by": run.by, "why": told}
        return _close(run, decision, "generate", told, {"then": "generate", "enough": True, "routes": [none]})
    if run.context.max_hops >= 1:
        told = f"first query: {decision.query}"
        return _close(run, decision, "more", told, {"then": "more", "enough": False, "query": decision.query})
    run.note("Nothing was searched: this run allows no round of retrieval (max_hops is 0).")
    can_recall = run.context.max_recalls > 0 and run.chat("writer") is not None
    then: Then = "recall" if can_recall else "generate"
    update = {"then": then, "enough": False, "query": decision.query}
    return _close(run, decision, then, "no round of retrieval is allowed", update)


def _close(run: Run, decision: Decision, then: Then, told: str, update: Update) -> Update:
    data = {"then": then, "query": decision.query, "learnt": decision.learnt, "missing": decision.missing}
    return run.done("; ".join(s for s in (decision.learnt, decision.missing, told) if s), data=data, **update)


def _spent(run: Run) -> str:
    """Return the limit that leaves nothing to go on with; without a model only time counts."""
    if run.meter.out_of_time() or run.meter.refused:
        return run.meter.refused
    return run.meter.exhausted if run.chat("reasoner") is not None else ""


def _taken(state: State) -> list[Strip]:
    """Take the hop's items whole as knowledge, in a graph that does not refine them."""
    rows = {e["id"]: e for e in state.get("evidence", [])}
    return [as_strip(rows[i]) for i in state.get("candidates", []) if i in rows]


def _selected(ordered: Sequence[Evidence], strips: Sequence[Strip]) -> list[Strip]:
    """Take the best items over all hops whole, where refinement against the query of their own hop left nothing."""
    have = {s["evidence"] for s in strips}
    return [as_strip(e) for e in ordered[:SELECTED] if e["id"] not in have]


def _row(state: State, run: Run, decision: Decision | None = None) -> Hop:
    """Build the row of the round that has just ended; without a decision, for what it fetched alone."""
    decision = decision or Decision("", "", "")
    grade, recalled = state.get("grade"), recalling(state)
    return {
        "n": state["hop"],
        "query": asked_now(state),
        "corpora": ["model"] if recalled else [t["corpus"] for t in state.get("tasks", [])],
        "evidence": fetched_now(state),
        "action": grade["action"] if grade and not recalled else "",
        "learnt": decision.learnt,
        "missing": decision.missing,
        "next": decision.query,
        "lead": decision.lead,
        "by": run.by,
    }


def _past(run: Run, state: State, strips: list[Strip]) -> list[Round]:
    return rounds(state, strips, run.context.turn_passages)


async def _by_model(
    model: Chat, run: Run, question: str, past: Sequence[Round], asked: Sequence[str]
) -> Decision | None:
    """Take the model's next turn; one that cannot be read, or asks what was asked before, is asked for again.

    The last try asks for JSON, which many servers can enforce. A model that only repeats itself has had enough.
    """
    messages = conversation(question, past, run.context.turn_tokens)
    turn: Turn | None = None
    for _ in range(REPROMPTS):
        reply = await model.text(messages, node=run.node, meter=run.meter)
        turn = read_turn(reply)
        if turn is not None and not repeated(turn.query, asked):
            return _decision(turn)
        problem = REMINDER if turn is None else REPEATED
        messages = [*messages, ("assistant", clip(reply.strip(), 1_000) or "(nothing)"), ("user", problem)]
    if turn is None:
        made = await model.json(messages, Turn, node=run.node, meter=run.meter)
        turn = settled(made) if isinstance(made, Turn) else None
    return None if turn is None else _decision(turn)


def _decision(turn: Turn) -> Decision:
    learnt = turn.learnt or (f"concluded: {turn.answer}" if turn.answer else "")
    return Decision(learnt, "" if turn.enough else turn.missing, turn.query)


async def _by_rule(run: Run, state: State, strips: list[Strip], standing: Standing) -> Decision:
    """Ask on only for something named: a name in a kept strip that the question lacks (nodes/bridges.py)."""
    learnt = _learnt(strips, state["hop"])
    kept: dict[str, list[str]] = {}
    for s in strips:
        kept.setdefault(s["evidence"], []).append(s["text"])
    ordered = [e for e in standing.ordered(state.get("evidence", [])) if e["origin"] != "model"]
    rows = [Evidence(**{**e, "text": " ".join(kept[e["id"]])}) for e in ordered if e["id"] in kept]
    if not rows and shown_by_look(ordered):
        return Decision(learnt, "", "")
    if not rows:
        found_nothing = "nothing that bears on the question was found"
        if not run.context.corpora and elsewhere(state, state["query"], await run.held()):
            return Decision(learnt, f"{found_nothing} where it was looked for", state["query"], again=True)
        return Decision(learnt, found_nothing, "")
    question = timeless(state["question"], datetime.now(UTC))
    idf = await (await run.library()).idf(content_terms(question))
    if enough(question, rows, standing.gap, idf, state["hop"]):
        return Decision(learnt, "", "")
    used = [h["lead"] for h in state.get("hops", [])]
    # What refinement dropped may still lead on, if it is among the best.
    found = lead(question, [*rows, *(e for e in ordered[:LINKING] if e["id"] not in kept)], used, idf)
    uncovered = open_words(question, [f"{e['title']} {e['text']}" for e in rows[:3]])
    missing = "not yet covered: " + ", ".join(uncovered[:6]) if uncovered else ""
    return Decision(learnt, missing, found.query if found else "", found.evidence if found else "")


def _learnt(strips: list[Strip], hop: int) -> str:
    new = [s for s in strips if s["hop"] == hop]
    if not new:
        return "nothing new was learnt" if hop > 1 else ""
    best = max(new, key=lambda s: (s["score"], s["id"]))
    first = sentences(best["text"])[0] if best["text"].strip() else (0, 0)
    return f"{best['title']}: {clip(best['text'][slice(*first)], 160)}"
