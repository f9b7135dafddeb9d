"""Run the agent without one of its nodes; its replacement does only what the rest of the graph needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from importlib import import_module
from types import FunctionType
from typing import Literal, get_args

from langgraph.runtime import Runtime

from ragweave.components.ask import Outcome
from ragweave.components.context import Context
from ragweave.components.evidence import Action, Grade, Hop, Phrasings
from ragweave.components.passages import as_strip
from ragweave.components.run_context import RunContext
from ragweave.graphs.base import Builder, new_graph
from ragweave.models.errors import InputError
from ragweave.nodes.run import NodeRun
from ragweave.nodes.search_web import search_web
from ragweave.nodes.state import State, Update, best_of_hop, phrasings_of, searched

Node = Callable[..., Awaitable[Update]]
Off = Literal[
    "route",
    "expand",
    "fuse",
    "grade",
    "refine",
    "reason",
    "rewrite",
    "select",
    "correct",
    "ambiguous",
    "incorrect",
]
OFF: tuple[Off, ...] = get_args(Off)
NODE_OF: dict[Off, str] = {
    **dict.fromkeys(("rewrite", "select"), "search_web"),
    **dict.fromkeys(("correct", "ambiguous", "incorrect"), "grade"),
}
"""The node in which a part of a method happens, where the part is no node of its own."""


def without(builder: Builder, names: Collection[Off]) -> Builder:
    """Put what does as little as it can in the place of these nodes of a graph that is not compiled yet."""
    for name in names:
        verb = node_of(name)
        builder.nodes[verb] = new_graph(**{verb: _left_out(name)}).nodes[verb]
    return builder


def node_of(name: Off) -> str:
    """Return the node that changes where something is left out."""
    return NODE_OF.get(name, name)


def _left_out(name: Off) -> Node:
    node: Node = getattr(import_module(f"ragweave.nodes.{node_of(name)}"), node_of(name))

    async def left_out(state: State, runtime: Runtime[Context]) -> Update:
        return await _IN_PLACE[name](state, runtime, node)

    return left_out


async def _nothing(state: State, runtime: Runtime[Context], node: Node) -> Update:
    return {}


async def _no_rewrites(state: State, runtime: Runtime[Context], node: Node) -> Update:
    # The verdict asks for other words until somebody says that none are made.
    return {"queries": [Phrasings(**{**phrasings_of(state), "by": "off"})]}


async def _by_vector(state: State, runtime: Runtime[Context], node: Node) -> Update:
    found = []
    for row in state.get("found", []):
        if row["kind"] == "dense" and row["query"] == state["query"]:
            found.append(row)
    context = Context.of(runtime).model_copy(update={"recency": "off"}).with_method(fusion="scores")
    return await node(State(**{**state, "found": found}), runtime.override(context=context))


async def _all_correct(state: State, runtime: Runtime[Context], node: Node) -> Update:
    relevances = [row["relevance"] for row in best_of_hop(state)]
    best = max(relevances, default=-1.0)
    least = {"upper": -1.0, "lower": -1.0, "web": False, "again": list[Action]()}
    grade = {"hop": state["hop"], "action": "correct", "best": best, "by": "off", **least}
    return {"grade": grade}


async def _whole(state: State, runtime: Runtime[Context], node: Node) -> Update:
    grade = state.get("grade")
    lower = grade["lower"] if grade else -1.0
    kept = []
    for row in best_of_hop(state):
        if row["relevance"] >= lower:
            kept.append(as_strip(row))
    return {"knowledge": kept}


async def _one_round(state: State, runtime: Runtime[Context], node: Node) -> Update:
    if not state.get("routes"):
        # Auto-RAG's own graph reasons before its first search as well.
        return await node(state, runtime)
    run = NodeRun("reason", state, runtime)
    run.by = "off"
    grade = state.get("grade")
    row: Hop = {
        "n": state["hop"],
        "query": state["query"],
        "corpora": sorted(map(str, searched(state))),
        "evidence": list(state.get("candidates", [])),
        "action": grade["action"] if grade else "",
        "learnt": "",
        "missing": "",
        "next": "",
        "by": "off",
    }
    return run.done("left out", then="write", hops=[row])


async def _as_asked(state: State, runtime: Runtime[Context], node: Node) -> Update:
    async def unchanged(run: RunContext, question: str) -> Outcome[str]:
        return Outcome(question, "off")

    # A copy of the node that calls this function by that name; other runs of this process keep theirs.
    names = {**search_web.__globals__, "query_for_web": unchanged}
    update: Update = await FunctionType(search_web.__code__, names)(state, runtime)
    return update


async def _unselected(state: State, runtime: Runtime[Context], node: Node) -> Update:
    context = Context.of(runtime)
    method = context.method.model_copy(update={"strip_mode": "all"})
    return await node(state, runtime.override(context=context.model_copy(update={"method": method})))


def _without_action(name: Action) -> Callable[[State, Runtime[Context], Node], Awaitable[Update]]:
    async def graded(state: State, runtime: Runtime[Context], node: Node) -> Update:
        update = await node(state, runtime)
        grade: Grade = update["grade"]
        if grade["action"] == name:
            middle = (grade["upper"] + grade["lower"]) / 2
            alone: Action = "correct" if grade["best"] >= middle else "incorrect"
            update["grade"] = {**grade, "action": alone if name == "ambiguous" else "ambiguous", "by": "off"}
        return update

    return graded


_IN_PLACE: dict[str, Callable[[State, Runtime[Context], Node], Awaitable[Update]]] = {
    "route": _nothing,
    "expand": _no_rewrites,
    "fuse": _by_vector,
    "grade": _all_correct,
    "refine": _whole,
    "reason": _one_round,
    "rewrite": _as_asked,
    "select": _unselected,
    "correct": _without_action("correct"),
    "ambiguous": _without_action("ambiguous"),
    "incorrect": _without_action("incorrect"),
}


def check_off(names: Collection[str]) -> list[Off]:
    """Return the names of nodes to leave out.

    Raises:
        InputError: a node of that name cannot be left out.
    """
    known: dict[str, Off] = dict(zip(OFF, OFF, strict=True))
    out: dict[Off, None] = {}
    for name in names:
        if name not in known:
            raise InputError(f"the node {name!r} cannot be left out", f"use one of: {', '.join(OFF)}")
        out[known[name]] = None
    return list(out)
