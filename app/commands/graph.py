"""`ragweave graph`: the steps of a graph in words or as Mermaid text."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated, Any

import typer

from ragweave.app.commands.common import JsonOption, LibraryOption, library_name, print_json, print_table
from ragweave.app.render import counted
from ragweave.models.errors import InputError
from ragweave.nodes.steps import step_of


def graph(
    name: Annotated[str, typer.Argument(help="Graph to show.")] = "agent",
    preset: Annotated[
        str | None, typer.Option("--preset", metavar="NAME", help="The graph and the settings of a paper.")
    ] = None,
    mermaid: Annotated[
        bool, typer.Option("--mermaid", help="Print Mermaid text, which many editors draw.")
    ] = False,
    entities: Annotated[
        Path | None,
        typer.Option(
            "--entities", metavar="FILE", help="Write the entity graph of a library to this GraphML file."
        ),
    ] = None,
    library: LibraryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the steps of a graph, or export the entity graph of a library."""
    if entities is not None:
        write_entities(library_name(library), entities.expanduser().absolute())
        return
    from ragweave.components.method import graph_of, knobs_of, spelled
    from ragweave.graphs.run import build_agent

    if preset is not None:
        preset = spelled(preset)
        name = graph_of(preset)
    drawn = build_agent(name).get_graph()
    if mermaid:
        typer.echo(drawn.draw_mermaid())
    elif as_json:
        rows = [{"step": step, "does": does, "then": then} for step, does, then in steps(drawn)]
        print_json({"graph": name, "steps": rows, "settings": knobs_of(preset) if preset else {}})
    else:
        print_table(("step", "what it does", "then"), steps(drawn))
        typer.echo(f"\n`or` is a decision. As a drawing: ragweave graph {name} --mermaid")
        if preset is not None:
            typer.echo(f"\nThe graph {name}, set by the preset {preset}; all else has its default:\n")
            print_table(("setting", "value", "meaning"), settings(preset))


def write_entities(library: str, to: Path) -> None:
    """Write the entity graph of a library to a file, and print its size.

    Raises:
        InputError: the library has no entity graph.
    """
    from ragweave.corpora.knowledge.graph import entity_graph, export
    from ragweave.corpora.store.stores import stores

    catalog = stores().catalog
    found = entity_graph(catalog, catalog.library(library).id)
    if not found:
        raise InputError(
            f"Library {library!r} has no entity graph",
            "`ragweave setup entities` offers to build it",
        )
    export(found, to)
    typer.echo(f"Wrote {to}: {counted(len(found), 'node')}, {counted(found.size(), 'edge')}.")


def settings(preset: str) -> list[tuple[str, str, str]]:
    """Return the name, value and meaning of each setting of a preset."""
    from ragweave.components.context import Context
    from ragweave.components.method import Method, knobs_of

    fields = dict(Context.model_fields)
    for name, field in Method.model_fields.items():
        fields[f"method.{name}"] = field
    rows: list[tuple[str, str, str]] = []
    for name, value in knobs_of(preset).items():
        meaning = " ".join(str(fields[name].description).split())
        rows.append((name, shown(value), meaning))
    return rows


def shown(value: Any) -> str:
    """Return the value of a setting as `--set` accepts it."""
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def steps(drawn: Any) -> list[tuple[str, str, str]]:
    """Return the name and purpose of each step of a drawable graph, and the steps that may follow."""
    rows = []
    for node in drawn.nodes:
        if node != "__end__":
            rows.append((node.strip("_"), meaning(node), _next_steps(drawn, node)))
    return rows


def _next_steps(drawn: Any, node: str) -> str:
    """Return the steps that follow a node: `a and b` if all do, `a or b` if one of them does."""
    always: list[str] = []
    decided: list[str] = []
    for edge in drawn.edges:
        if edge.source == node:
            targets = decided if edge.conditional else always
            targets.append(edge.target.strip("_"))
    if decided:
        always.append(" or ".join(decided))
    return " and ".join(always)


def meaning(node: str) -> str:
    """Return what a node does: the first sentence of its module."""
    if node.startswith("__"):
        return ""
    try:
        description = importlib.import_module(f"ragweave.nodes.{node}").__doc__ or ""
    except ModuleNotFoundError:
        # A step without a module is a whole graph.
        return f"{step_of(node).words}: a graph of its own."
    return " ".join(description.split("\n\n")[0].split())
