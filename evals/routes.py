"""Routes that an evaluation sets in the place of the router."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from langgraph.runtime import Runtime

from ragweave.components.ask import Outcome
from ragweave.components.context import Context
from ragweave.components.evidence import Route
from ragweave.components.route import Routed, best, choose_corpora, labels
from ragweave.corpora.types import CORPORA, Label
from ragweave.graphs.base import Builder, new_graph
from ragweave.models import router
from ragweave.nodes.route import RECORDINGS
from ragweave.nodes.run import NodeRun
from ragweave.nodes.state import NO_ROUTER, State, Update

Choose = Callable[[NodeRun, State, Sequence[Label]], Awaitable[Outcome[Routed]]]
"""Returns the corpora of a question, of those in which the library holds something, or `none`."""


async def every(run: NodeRun, state: State, held: Sequence[Label]) -> Outcome[Routed]:
    """Return every corpus; `fuse` then orders all finds as one pool (UniversalRAG, the unified baseline).

    With `method.fusion=dense` that pool is one joint space: the cosines of the text encoder order it.
    """
    return Outcome(Routed([*held], {}, "everything is searched and ordered as one"), NO_ROUTER)


async def head_alone(run: NodeRun, state: State, held: Sequence[Label]) -> Outcome[Routed]:
    """Return the best corpus of the shipped head, or its best two if it is not sure."""
    found = best(router.predict(state["query"]), held, run.context, none_allowed=False)
    return Outcome(Routed(*found, "so the question reads"), "local")


async def one_modality(run: NodeRun, state: State, held: Sequence[Label]) -> Outcome[Routed]:
    """Return all corpora of the best modality of the run's router, or `none` (UniversalRAG, table 3)."""
    made = await choose_corpora(run, state["query"], held)
    confidence = made.value.confidence
    sums = {}
    for group in router.modalities(confidence):
        sums[group] = 0.0
        for corpus in group:
            sums[group] += confidence[corpus]
    modality = max(sums, key=lambda group: sums[group], default=())
    chosen: list[str] = []
    for group in router.modalities(["none", *held]):
        if not set(group).isdisjoint(modality):
            chosen += group
    return replace(made, value=Routed(labels(chosen), {}, made.value.why))


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
        made = await choose(run, state, labels(held))
        chosen, confidence, why = made.value
        row: Route = {
            "hop": run.hop,
            "corpora": chosen,
            "confidence": confidence,
            "by": made.by,
            "why": why,
        }
        if {*RECORDINGS} & {*chosen}:
            row["recordings"] = True
        return run.done(", ".join(chosen), made, routes=[row])

    builder.nodes["route"] = new_graph(route=route).nodes["route"]
    return builder
