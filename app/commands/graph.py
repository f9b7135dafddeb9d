"""`ragweave graph`: the graphs in words, and as Mermaid text."""

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
        named = [dict(zip(("step", "does", "then"), row, strict=True)) for row in steps(drawn)]
        print_json({"graph": name, "steps": named, "settings": knobs_of(preset) if preset else {}})
    else:
        print_table(("step", "what it does", "then"), steps(drawn))
        typer.echo(f"\n`or` is a decision. As a drawing: ragweave graph {name} --mermaid")
        if preset is not None:
            typer.echo(f"\nThe graph {name}, set by the preset {preset}; all else has its default:\n")
            print_table(("setting", "value", "meaning"), settings(preset))


def write_entities(library: str, to: Path) -> None:
    """Write the entity graph of a library, and say how large it is."""
    from ragweave.corpora.knowledge.graph import entity_graph, export
    from ragweave.corpora.store.stores import stores

    catalog = stores().catalog
    found = entity_graph(catalog, catalog.library(library).id)
    if not found:
        raise InputError(
            f"Library {library!r} has no entity graph",
            "set RAGWEAVE_ENTITIES=llm and a chat model, and index again",
        )
    export(found, to)
    typer.echo(f"Wrote {to}: {counted(len(found), 'node')}, {counted(found.size(), 'edge')}.")


def settings(preset: str) -> list[tuple[str, str, str]]:
    """Return each setting of a preset: its name, its value, what it means."""
    from ragweave.components.context import Context
    from ragweave.components.method import Method, knobs_of

    fields = {**Context.model_fields, **{f"method.{k}": f for k, f in Method.model_fields.items()}}
    return [(k, shown(v), " ".join(str(fields[k].description).split())) for k, v in knobs_of(preset).items()]


def shown(value: Any) -> str:
    """Return a setting's value as `--set` takes it."""
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def steps(drawn: Any) -> list[tuple[str, str, str]]:
    """Return each step of a drawable graph: its name, what it does, and what follows it."""
    rows = []
    for node in drawn.nodes:
        ends: dict[bool, list[str]] = {False: [], True: []}
        for e in drawn.edges:
            if e.source == node:
                ends[bool(e.conditional)].append(e.target.strip("_"))
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
