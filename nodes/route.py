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
"""Corpora that the retrievers of recordings search together."""
_SENT = ("turn", "query", "hop", "queries", "usage")
"""Keys of the state that a retriever reads."""
IN_QUESTION = 0.2
"""Smallest share of the router's confidence for recordings that makes all their retrievers run."""


async def route(state: State, runtime: NodeRuntime) -> Update:
    """Return the corpora of this hop, best first, with calibrated confidence.

    Corpora that the library lacks are masked; `none` is masked after hop 1, because a further hop always
    searches. A repeated query goes to the corpora that were not searched for it before.
    """
    run = NodeRun("route", state, runtime)
    made = await _chosen(run, state)
    corpora, confidence, why = made.value
    row: Route = {"hop": run.hop, "corpora": corpora, "confidence": confidence, "by": made.by, "why": why}
    if not set(RECORDINGS).isdisjoint(corpora):
        row["recordings"] = await _in_question(run, state["query"], row)
    shown: list[str] = []
    for corpus in corpora:
        shown.append(f"{corpus} {confidence[corpus]:.2f}" if corpus in confidence else corpus)
    summary = f"{', '.join(shown) or 'nothing'}: {why}"
    return run.done(summary, made, data={"route": row}, routes=[row])


async def _chosen(run: NodeRun, state: State) -> Outcome[Routed]:
    """Return the corpora that the run names, those not searched yet, or the choice of its router."""
    if run.context.max_hops == 0:
        return Outcome(Routed([], {}, "this run allows no round of retrieval (max_hops is 0)"), "rule")
    held: set[Label] = set(labels(await run.held()))
    if run.context.corpora:
        for missing in sorted(set(run.context.corpora) - held):
            run.note(f"The library holds nothing in its {missing} corpus.")
        wanted: list[Label] = []
        for corpus in run.context.corpora:
            if corpus in held:
                wanted.append(corpus)
        return Outcome(Routed(wanted, {}, "these corpora were asked for"), "asked")
    others = fallback_corpora(state, state["query"], held)
    if others:
        why = "what was searched before holds nothing that bears on the question"
        return Outcome(Routed(others, {}, why), "fallback")
    made = await choose_corpora(run, state["query"], held)
    if run.hop > 1 and not as_published(run.context):
        return replace(made, value=made.value._replace(labels=all_granularities(made.value.labels, held)))
    return made


def all_granularities(chosen: Sequence[Label], held: Collection[Label]) -> list[Label]:
    """Add the other granularities of chosen corpora: a further query seldom shows which one it needs."""
    found: list[str] = list(chosen)
    for name in chosen:
        for group in _modalities(held):
            if name in group:
                found += group
    return labels(dict.fromkeys(found))


def _modalities(held: Collection[str]) -> list[tuple[str, ...]]:
    """Return the corpora with content by modality, the finest granularity first."""
    found = []
    for corpus in CORPORA:
        if corpus in held:
            found.append(corpus)
    return modalities(found)


def fallback_corpora(state: State, query: str, held: Collection[str]) -> list[Label]:
    """Return the finest corpus of each modality not yet searched for the query; none if no router chose.

    A router is sometimes wrong. If its corpora have no answer, the run searches the other modalities before
    it declines (CRAG, section 4.2: an incorrect retrieval is corrected). Text counts as searched with its
    paragraphs or its documents, recordings with their clips or as a whole. The state is that at the end of a
    round, or at the start of the next.
    """
    chosen_by = {route["by"] for route in state.get("routes", [])}
    if chosen_by <= {NO_ROUTER}:
        return []
    done: set[str] = set()
    if state["query"] == query:
        done.update(searched(state))
    for hop in state.get("hops", []):
        if hop["query"] == query:
            done.update(hop["corpora"])
    if not done:
        return []
    finest = []
    for group in _modalities(held):
        if done.isdisjoint(group):
            finest.append(group[0])
    return labels(finest)


async def _in_question(run: NodeRun, query: str, routed: Route) -> bool:
    """Return whether the hop may need a recording, so that all retrievers of recordings should run.

    It does, unless the small router has almost no confidence in recordings and neither the run nor the query
    names one.
    """
    context = run.context
    if routed["by"] != "local" or context.from_time is not None or context.to_time is not None:
        return True
    confidence = 0.0
    for corpus in RECORDINGS:
        confidence += routed["confidence"].get(corpus, 0.0)
    if confidence >= IN_QUESTION:
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
        return "search"  # the retriever then searches the finest corpora
    if not corpora:
        return "no search"
    known: dict[str, Any] = {}
    for key, value in state.items():
        if key in _SENT:
            known[key] = value
    sent: list[Send] = []
    recorded: list[Corpus] = []
    for corpus in corpora:
        if route.get("recordings") and corpus in RECORDINGS:
            recorded.append(corpus)
        else:
            sent.append(_one(known, {**route, "recordings": False}, corpus))
    if not recorded:
        return sent
    recorded.sort(key=RECORDINGS.index)
    of_round = {}
    for key, value in known.items():
        if key in RoundState.__annotations__:
            of_round[key] = value
    sent.append(Send("retrieve_video", {**of_round, "corpora": recorded}))
    phrased = of_hop(state.get("queries"), state["hop"])
    if phrased and (phrased["also"] or phrased["rewrites"]):
        for corpus in recorded:
            sent.append(_one(known, {**route, "recordings": True}, corpus))
    return sent


def to_each(state: State) -> list[Send] | str:
    """Send the hop to each of its corpora, recordings like any other."""
    routes = [Route(**{**route, "recordings": False}) for route in state.get("routes", [])]
    return to_corpora(State(**{**state, "routes": routes}))


def _one(known: dict[str, Any], route: Route, corpus: Label) -> Send:
    """Send the hop to the retriever of one corpus."""
    return Send("retrieve", {**known, "routes": [{**route, "corpora": [corpus]}]})
