"""`ragweave graph`: the graphs in words, as Mermaid text and as a page."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated, Any

import typer

from ragweave.app.commands.common import LibraryOption, console, library_name
from ragweave.graphs.steps import step_of


def graph(
    name: Annotated[str, typer.Argument(help="Graph to show; `entities` for what the recordings speak of.")] = "agent",
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print Mermaid text, which many editors draw.")] = False,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page instead.")] = None,
    library: LibraryOption = None,
    about: Annotated[str | None, typer.Option("--about", metavar="NAME", help="Tell about one entity.")] = None,
    apart: Annotated[str | None, typer.Option("--apart", metavar="NAME=NAME", help="Keep two names apart.")] = None,
) -> None:
    """Show the steps of a graph; `graph entities` lists the people and things in the recordings."""
    if name == "entities":
        from ragweave.app.commands.entities import entities

        entities(library_name(library), html, about, apart)
        return
    from ragweave.graphs.run import build_agent

    drawn = build_agent(name).get_graph()
    if mermaid:
        typer.echo(drawn.draw_mermaid())
    elif html is not None:
        from ragweave.models.errors import InputError

        try:
            html.write_text(_page(f"Ragweave: {name}", steps(drawn), drawn.draw_mermaid()), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{html} cannot be written ({error.strerror})", "choose another file") from None
        typer.echo(f"Wrote {html}.")
    else:
        from rich.table import Table

        table = Table("step", "what it does", "then", box=None, padding=(0, 2, 0, 0), header_style="bold")
        for row in steps(drawn):
            table.add_row(*row)
        out = console()
        out.print(table)
        told = "`or` is a decision, ↺ goes round again. As a drawing: "
        out.print(f"\n{told}ragweave graph {name} --mermaid", style="dim", soft_wrap=True)


def steps(drawn: Any) -> list[tuple[str, str, str]]:
    """Return each step of a drawable graph: its name, what it does, and what follows it."""
    import networkx

    arrows = networkx.DiGraph((e.source, e.target) for e in drawn.edges)
    far = networkx.single_source_shortest_path_length(arrows, "__start__")
    rows = []
    for node in drawn.nodes:
        ends: dict[bool, list[str]] = {False: [], True: []}
        for e in drawn.edges:
            if e.source == node:
                loop = far[e.target] < far[e.source] and networkx.has_path(arrows, e.target, e.source)
                again = "↺ " if loop else ""
                ends[bool(e.conditional)].append(again + e.target.strip("_"))
        then = " and ".join([*ends[False], *([" or ".join(ends[True])] if ends[True] else [])])
        if node != "__end__":
            rows.append((node.strip("_"), meaning(node), then))
    return rows


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


def _page(title: str, rows: list[tuple[str, str, str]], mermaid: str) -> str:
    """Build a page that needs no network: what each step does and what follows, and the text that draws it."""
    from html import escape

    table = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head>\n'
        f"<body><h1>{escape(title)}</h1>\n<table>\n<tr><th>step</th><th>what it does</th><th>then</th></tr>\n"
        f"{table}\n</table>\n<h2>Mermaid</h2>\n<pre>{escape(mermaid)}</pre></body></html>\n"
    )
