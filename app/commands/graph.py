"""`ragweave graph`: the graphs, drawn without a network."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragweave.app.commands.common import LibraryOption, console, library_name

if TYPE_CHECKING:
    from ragweave.app.drawing import Edge


def graph(
    name: Annotated[str, typer.Argument(help="Graph to draw; `entities` for what the recordings speak of.")] = "agent",
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print Mermaid text.")] = False,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page with the drawing.")] = None,
    library: LibraryOption = None,
    about: Annotated[str | None, typer.Option("--about", metavar="NAME", help="Tell about one entity.")] = None,
    apart: Annotated[str | None, typer.Option("--apart", metavar="NAME=NAME", help="Keep two names apart.")] = None,
) -> None:
    """Show the steps of a graph, or draw it; `graph entities` lists the people and things in the recordings."""
    if name == "entities":
        from ragweave.app.commands.entities import entities

        entities(library_name(library), html, about, apart)
        return
    from ragweave.app import api

    drawn = api.build_agent(name).get_graph()
    if mermaid:
        typer.echo(drawn.draw_mermaid())
        return
    nodes, edges = shape(drawn)
    words = {n: meaning(n) for n in nodes}
    if html is not None:
        from ragweave.app.drawing import page
        from ragweave.models.errors import InputError

        try:
            html.write_text(page(f"Ragweave: {name}", nodes, edges, words), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{html} cannot be written ({error.strerror})", "choose another file") from None
        typer.echo(f"Wrote {html}.")
        return
    _print_steps(name, nodes, edges, words)


def shape(drawn: Any) -> tuple[list[str], list[Edge]]:
    """Return the nodes and edges of a drawable graph, the start first."""
    from ragweave.app.drawing import Edge

    edges = [Edge(e.source, e.target, bool(e.conditional)) for e in drawn.edges]
    return list(drawn.nodes), list(dict.fromkeys(edges))


def meaning(node: str) -> str:
    """Return what a node does: the first sentence of its module."""
    if node.startswith("__"):
        return ""
    try:
        module = importlib.import_module(f"ragweave.nodes.{node}")
    except ModuleNotFoundError:
        return ""
    return " ".join((module.__doc__ or "").split("\n\n")[0].split())


def _print_steps(name: str, nodes: list[str], edges: list[Edge], words: dict[str, str]) -> None:
    from rich.table import Table

    from ragweave.app.drawing import back_edges

    back = back_edges(nodes, edges)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("step", style="cyan", no_wrap=True)
    table.add_column("what it does")
    table.add_column("then")
    for node in nodes:
        if node == "__end__":
            continue
        plain = [_target(e, back) for e in edges if e.source == node and not e.conditional]
        decided = [_target(e, back) for e in edges if e.source == node and e.conditional]
        then = " and ".join(plain) + (" and " if plain and decided else "") + " or ".join(decided)
        table.add_row(node.strip("_"), words[node], then)
    out = console()
    out.print(table)
    out.print(
        f"\n`or` is a decision, ↺ goes round again. Draw it: ragweave graph {name} --html graph.html", style="dim"
    )


def _target(edge: Edge, back: list[Edge]) -> str:
    return ("↺ " if edge in back else "") + edge.target.strip("_")
