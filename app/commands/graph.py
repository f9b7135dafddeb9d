"""`ragweave graph`: the graphs in words, and as Mermaid text."""

from __future__ import annotations

import importlib
from typing import Annotated, Any

import typer

from ragweave.app.commands.common import LibraryOption, library_name, print_table
from ragweave.app.render import clean
from ragweave.graphs.steps import step_of

LISTED = 40
"""Entities that are listed: those that most chunks speak of."""


def graph(
    name: Annotated[str, typer.Argument(help="Graph to show; `entities` for what the recordings speak of.")] = "agent",
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print Mermaid text, which many editors draw.")] = False,
    library: LibraryOption = None,
) -> None:
    """Show the steps of a graph; `graph entities` lists the people and things in the recordings."""
    if name == "entities":
        entities(library_name(library))
        return
    from ragweave.graphs.run import build_agent

    drawn = build_agent(name).get_graph()
    if mermaid:
        typer.echo(drawn.draw_mermaid())
    else:
        print_table(("step", "what it does", "then"), steps(drawn))
        typer.echo(f"\n`or` is a decision, ↺ goes round again. As a drawing: ragweave graph {name} --mermaid")


def entities(library: str) -> None:
    """List the entities that most of a library's recordings speak of."""
    from ragweave.corpora.knowledge.store import named
    from ragweave.corpora.store.stores import stores

    held = stores()
    row = held.catalog.library(library)
    found = sorted(named(held.catalog, row.id), key=lambda e: (-e.chunks, e.name))
    if not found:
        typer.echo("There are no entities yet; `ragweave index` finds them in recordings and transcripts.")
        return
    rows = [(clean(e.name), e.kind, str(e.chunks), str(e.sources)) for e in found[:LISTED]]
    print_table(("entity", "type", "chunks", "sources"), rows, right=("chunks", "sources"))
    typer.echo(f"{len(found):,} in all.")


def steps(drawn: Any) -> list[tuple[str, str, str]]:
    """Return each step of a drawable graph: its name, what it does, and what follows it."""
    far = _far(drawn, "__start__")
    rows = []
    for node in drawn.nodes:
        ends: dict[bool, list[str]] = {False: [], True: []}
        for e in drawn.edges:
            if e.source == node:
                loop = far[e.target] < far[e.source] and e.source in _far(drawn, e.target)
                again = "↺ " if loop else ""
                ends[bool(e.conditional)].append(again + e.target.strip("_"))
        then = " and ".join([*ends[False], *([" or ".join(ends[True])] if ends[True] else [])])
        if node != "__end__":
            rows.append((node.strip("_"), meaning(node), then))
    return rows


def _far(drawn: Any, start: str) -> dict[str, int]:
    """Return how many arrows lead from a node to each that can be reached, at least."""
    far, reached = {start: 0}, [start]
    for node in reached:
        following = [e.target for e in drawn.edges if e.source == node and e.target not in far]
        far.update(dict.fromkeys(following, far[node] + 1))
        reached += dict.fromkeys(following)
    return far


def meaning(node: str) -> str:
    """Return what a node does: the first sentence of its module."""
    if node.startswith("__"):
        return ""
    try:
        told = importlib.import_module(f"ragweave.nodes.{node}").__doc__ or ""
    except ModuleNotFoundError:
        # A graph of its own as one step of this one.
        return f"{step_of(node).words}: a graph of its own."
    return " ".join(told.split("\n\n")[0].split())
