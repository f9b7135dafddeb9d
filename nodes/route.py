"""Route the hop's query to the corpora that can answer it, or to none (UniversalRAG, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from langgraph.types import Send

from ragweave.components.ask import Outcome
from ragweave.components.evidence import Route
from ragweave.components.route import Routed, as_published, choose_corpora, labels
from ragweave.components.run_context import within
from ragweave.components.scope import named_scope
from ragweave.corpora.types import CORPORA, Corpus, Label
from ragweave.models.router import modalities
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import NO_ROUTER, RoundState, State, Update, of_hop, searched

RECORDINGS: tuple[Corpus, ...] = ("clip", "video")
"""Corpora that the retrievers of the recordings search together."""
_SENT = ("turn", "query", "hop", "queries", "usage")
"""Keys of the state that a retriever reads."""
IN_QUESTION = 0.2
"""Share of the router's confidence from which a recording is in question."""


async def route(state: State, runtime: NodeRuntime) -> Update:
    """Return the corpora of this hop, best first, with calibrated confidence.

    Corpora that the library lacks are masked; `none` is masked after hop 1, because a hop is only made to
    search. A query that is asked again goes to what was not searched for it before.
    """
    run = NodeRun("route", state, runtime)
    made = await _chosen(run, state)
    corpora, confidence, why = made.value
    row: Route = {"hop": run.hop, "corpora": corpora, "confidence": confidence, "by": made.by, "why": why}
    if {*RECORDINGS} & {*corpora}:
        row["recordings"] = await _in_question(run, state["query"], row)
    shown = ", ".join(f"{c} {confidence[c]:.2f}" if c in confidence else c for c in corpora) or "nothing"
    return run.done(f"{shown}: {why}", made, data={"route": row}, routes=[row])


async def _chosen(run: NodeRun, state: State) -> Outcome[Routed]:
    """Return the corpora that the run names, those that were not searched yet, or the choice of its router."""
    if run.context.max_hops == 0:
        return Outcome(Routed([], {}, "this run allows no round of retrieval (max_hops is 0)"), "rule")
    held: set[Label] = {*labels(await run.held())}
    if run.context.corpora:
        for missing in sorted(set(run.context.corpora) - held):
            run.note(f"The library holds nothing in its {missing} corpus.")
        wanted: list[Label] = [c for c in run.context.corpora if c in held]
        return Outcome(Routed(wanted, {}, "these corpora were asked for"), "asked")
    if others := fallback_corpora(state, state["query"], held):
        why = "what was searched before holds nothing that bears on the question"
        return Outcome(Routed(others, {}, why), "fallback")
    made = await choose_corpora(run, state["query"], held)
    if run.hop > 1 and not as_published(run.context):
        return replace(made, value=made.value._replace(labels=all_granularities(made.value.labels, held)))
    return made


def all_granularities(chosen: Sequence[Label], held: Collection[Label]) -> list[Label]:
    """Add to the corpora of a further query what else holds the same matter: it seldom says where its answer lies."""
    groups = modalities([c for c in CORPORA if c in held])
    more = [c for name in chosen for group in groups if name in group for c in group]
    return labels(dict.fromkeys([*chosen, *more]))


def fallback_corpora(state: State, query: str, held: Collection[str]) -> list[Label]:
    """Return the finest corpus of each matter that was not searched for the query yet; none if no router chose.

    A router is wrong now and then. If what it chose holds nothing that bears on the question, the same
    question is asked of the rest before the run declines (CRAG, section 4.2: an incorrect retrieval is
    corrected). Text counts as searched with its paragraphs or its documents, recordings with their clips or
    as wholes. The state is that at the end of a round, or at the start of the next.
    """
    if not any(route["by"] != NO_ROUTER for route in state.get("routes", [])):
        return []
    done = {str(c) for c in searched(state)} if state["query"] == query else set()
    for hop in state.get("hops", []):
        if hop["query"] == query:
            done |= {*hop["corpora"]}
    groups = modalities([c for c in CORPORA if c in held])
    return labels([group[0] for group in groups if not done & {*group}]) if done else []


async def _in_question(run: NodeRun, query: str, routed: Route) -> bool:
    """Tell whether the hop may be about a recording, so that all retrievers of recordings are worth their time.

    It is unless the small router gives recordings next to nothing, and neither the run nor the query names
    one.
    """
    context = run.context
    if routed["by"] != "local" or context.from_time is not None or context.to_time is not None:
        return True
    if sum(routed["confidence"].get(c, 0.0) for c in RECORDINGS) >= IN_QUESTION:
        return True
    scope = await within(run)
    return bool(scope.titles) or await named_scope(await run.library(), query, scope) is not scope


def to_corpora(state: State) -> list[Send] | str:
    """Send the hop to each of its corpora; recordings in question go to their own retrievers together.

    Further phrasings of the query are searched in the recordings as in any other corpus: by words and by
    meaning.
    """
    route, corpora = of_hop(state.get("routes"), state["hop"]), searched(state)
    if route is None:
        return "search"  # whoever retrieves then searches the finest corpora
    if not corpora:
        return "no search"
    recorded: list[Corpus] = [c for c in RECORDINGS if c in corpora] if route.get("recordings") else []
    known: dict[str, Any] = {key: value for key, value in state.items() if key in _SENT}
    sent = [_one(known, {**route, "recordings": False}, c) for c in corpora if c not in recorded]
    if recorded:
        round_of = {key: value for key, value in known.items() if key in RoundState.__annotations__}
        sent.append(Send("retrieve_video", {**round_of, "corpora": recorded}))
        phrased = of_hop(state.get("queries"), state["hop"])
        if phrased and (phrased["also"] or phrased["rewrites"]):
            sent += [_one(known, {**route, "recordings": True}, c) for c in recorded]
    return sent


def to_each(state: State) -> list[Send] | str:
    """Send the hop to each of its corpora, recordings like any other."""
    routes = [Route(**{**route, "recordings": False}) for route in state.get("routes", [])]
    return to_corpora(State(**{**state, "routes": routes}))


def _one(known: dict[str, Any], route: Route, corpus: Label) -> Send:
    return Send("retrieve", {**known, "routes": [{**route, "corpora": [corpus]}]})
