"""Routes that an evaluation sets in the place of the router."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from langgraph.runtime import Runtime

from ragweave.components.context import Context
from ragweave.components.evidence import Route
from ragweave.components.route import Routed, best, labels, none_allowed
from ragweave.corpora.types import CORPORA, Label
from ragweave.graphs.base import Builder, new_graph
from ragweave.models import router
from ragweave.nodes.route import RECORDINGS
from ragweave.nodes.run import NodeRun
from ragweave.nodes.state import NO_ROUTER, State, Update

Choose = Callable[[NodeRun, State, Sequence[Label]], Routed]
"""Returns the corpora of a question, of those in which the library holds something, or `none`."""


def every(run: NodeRun, state: State, held: Sequence[Label]) -> Routed:
    """Return every corpus; `fuse` then orders all finds as one pool (UniversalRAG, the unified baseline)."""
    run.by = NO_ROUTER
    return Routed([*held], {}, "everything is searched and ordered as one")


def head_alone(run: NodeRun, state: State, held: Sequence[Label]) -> Routed:
    """Return the best corpus of the shipped head, or its best two if it is not sure."""
    run.by = "local"
    found = best(router.predict(state["query"]), held, run.context, none_allowed=False)
    return Routed(*found, "so the question reads")


def one_modality(run: NodeRun, state: State, held: Sequence[Label]) -> Routed:
    """Return all corpora of the head's best modality, or `none` (UniversalRAG, table 3)."""
    run.by = "local"
    confidence = router.predict(state["query"])
    able = ["none", *held] if none_allowed(run) else [*held]
    sums = {}
    for group in router.modalities(able):
        sums[group] = 0.0
        for corpus in group:
            sums[group] += confidence.get(corpus, 0.0)
    chosen = max(sums, key=lambda group: sums[group], default=())
    return Routed(labels(chosen), {}, "so the question reads")


CHOICES: Mapping[str, Choose] = {"every": every, "modality": one_modality}
"""Choices by the names that the arms of a benchmark give them."""


def with_route(builder: Builder, choose: Choose) -> Builder:
    """Set a choice of corpora in the place of a graph's router."""

    async def route(state: State, runtime: Runtime[Context]) -> Update:
        run = NodeRun("route", state, runtime)
        held = []
        for corpus in CORPORA:
            if corpus in await run.held():
                held.append(corpus)
        run.by = "bench"
        chosen, confidence, why = choose(run, state, labels(held))
        row: Route = {
            "hop": run.hop,
            "corpora": chosen,
            "confidence": confidence,
            "by": run.by,
            "why": why,
        }
        if {*RECORDINGS} & {*chosen}:
            row["recordings"] = True
        return run.done(", ".join(chosen), routes=[row])

    builder.nodes["route"] = new_graph(route=route).nodes["route"]
    return builder
