"""Route the hop's query to the corpora that can answer it, or to none (UniversalRAG, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ragweave.components.component import Outcome
from ragweave.components.evidence import Route
from ragweave.components.local.route import labels
from ragweave.components.protocols import Routed
from ragweave.corpora.types import CORPORA, Label
from ragweave.models.router import modalities
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update


async def route(state: State, runtime: NodeRuntime) -> Update:
    """Return the corpora of this hop, best first, with calibrated confidence.

    Corpora that the library lacks are masked; `none` is masked after hop 1, because a hop is only made to search. A
    query that is asked again goes to what was not searched for it before.
    """
    run = NodeRun("route", state, runtime)
    held: set[Label] = {*labels(await run.held())}
    if run.context.corpora:
        for missing in sorted(set(run.context.corpora) - held):
            run.note(f"The library holds nothing in its {missing} corpus.")
        wanted: list[Label] = [c for c in run.context.corpora if c in held]
        made = Outcome(Routed(wanted, {}, "these corpora were asked for"), "asked")
    elif others := fallback_corpora(state, state["query"], held):
        why = "what was searched before holds nothing that bears on the question"
        made = Outcome(Routed(others, {}, why), "fallback")
    elif run.context.route_by == "unified":
        why = "everything is searched and ordered as one"
        made = Outcome(Routed([c for c in CORPORA if c in held], {}, why), "unified")
    else:
        made = await run.components.router(run, state["query"], held)
        if run.hop > 1 and run.context.route_by != "hard":
            made = replace(made, value=made.value._replace(labels=all_granularities(made.value.labels, held)))
    chosen, confidence, why = made.value
    row: Route = {"hop": run.hop, "corpora": chosen, "confidence": confidence, "by": made.by, "why": why}
    shown = ", ".join(f"{c} {confidence[c]:.2f}" if c in confidence else c for c in chosen) or "nothing is indexed"
    return run.done(f"{shown}: {why}", made, data={"route": row}, routes=[row])


def all_granularities(chosen: Sequence[Label], held: Collection[Label]) -> list[Label]:
    """Add to the corpora of a further query what else holds the same matter: it seldom says where its answer lies."""
    groups = modalities([c for c in CORPORA if c in held])
    more = [c for name in chosen for group in groups if name in group for c in group]
    return labels(dict.fromkeys([*chosen, *more]))


def fallback_corpora(state: State, query: str, held: Collection[str]) -> list[Label]:
    """Return the finest corpus of each matter that was not searched for the query yet; none where no router chose.

    A router is wrong now and then. Where what it chose holds nothing that bears on the question, the same question is
    asked of the rest before the run declines (CRAG, section 4.2: an incorrect retrieval is corrected). Text counts as
    searched with its paragraphs or its documents, recordings with their clips or as wholes. The state is that at the
    end of a round, or at the start of the next.
    """
    if not state.get("routes"):
        return []
    searched: set[str] = {t["corpus"] for t in state.get("tasks", []) if query in t["queries"][:1]}
    searched |= {c for hop in state.get("hops", []) if hop["query"] == query for c in hop["corpora"]}
    groups = modalities([c for c in CORPORA if c in held])
    return labels([group[0] for group in groups if not searched & {*group}]) if searched else []
