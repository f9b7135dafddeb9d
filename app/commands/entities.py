"""`ragweave graph entities`: what the recordings speak of, listed, drawn, and taken apart where names were joined."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import typer

from ragweave.app.commands.common import console, print_table, run
from ragweave.app.render import clean, place_in
from ragweave.models.errors import InputError, RagweaveError

if TYPE_CHECKING:
    from ragweave.corpora.knowledge.view import Node

LISTED = 40
DRAWN = 60
_EDGES = 4
"""Relations that are drawn of each entity: its strongest."""


def entities(library: str, mermaid: bool, about: str | None, apart: str | None) -> None:
    """List the entities of a library, tell about one, draw them, or keep two names apart."""
    from ragweave.corpora.knowledge import store, view
    from ragweave.corpora.store.stores import stores

    held = stores()
    row = held.catalog.library(library)
    if apart is not None:
        one, _, other = (part.strip() for part in apart.partition("="))
        if not one or not other:
            told = f"`--apart {apart}` is not of the form NAME=NAME"
            raise InputError(told, "write, say, --apart 'Chris=Chris Benson'")
        store.set_apart(held.catalog.engine(row.id), row.id, one, other)
        typer.echo(f"“{one}” and “{other}” are two from now on.")
        return
    if about is not None:
        node = view.find(held, row, about)
        if node is None:
            told = f"nothing in library {library!r} speaks of “{about}”"
            raise InputError(told, "list what it speaks of: ragweave graph entities")
        _tell(held, row, node)
        return
    found = view.nodes(held, row)
    if not found:
        typer.echo("There are no entities yet; `ragweave index` finds them in recordings and transcripts.")
    elif mermaid:
        typer.echo(_drawing(view.graph(held, row, DRAWN)))
    else:
        rows = [
            (clean(n.name), n.kind, str(n.chunks), str(n.sources), clean(", ".join(n.names[:4])))
            for n in found[:LISTED]
        ]
        print_table(("entity", "type", "chunks", "sources", "also called"), rows, right=("chunks", "sources"))
        more = f", {len(found) - LISTED:,} not shown" if len(found) > LISTED else ""
        typer.echo(f"{len(found):,} {'entity' if len(found) == 1 else 'entities'}{more}.")
        typer.echo("One of them: ragweave graph entities --about NAME. As a drawing: --mermaid.")


def _drawing(drawn: Any) -> str:
    """Write a graph of entities as Mermaid text: each entity with its strongest relations."""
    best = (sorted(drawn.edges(n, data="weight"), key=lambda e: (-e[2], e[1]))[:_EDGES] for n in drawn)
    joined = {frozenset(edge[:2]): edge[:2] for edge in chain.from_iterable(best)}
    at = {node: f"n{i}" for i, node in enumerate(drawn)}
    lines = [f'    {at[node]}["{clean(name).replace(chr(34), "#quot;")}"]' for node, name in drawn.nodes(data="name")]
    return "\n".join(["graph LR", *lines, *(f"    {at[one]} --- {at[other]}" for one, other in joined.values())])


def _tell(held: Any, row: Any, node: Node) -> None:
    from ragweave.corpora.knowledge import view

    out = console()
    out.print(clean(node.name) + (f" ({node.kind})" if node.kind else ""), style="bold")
    if node.names:
        out.print(f"Also called: {clean(', '.join(node.names))}", soft_wrap=True)
    told = view.told(held, row, node)
    out.print()
    out.print(clean(_description(held, row, node, told)) or "Nothing is said about it.", width=min(out.width, 100))
    near = view.neighbours(view.graph(held, row), node.key)
    if near:
        out.print()
        out.print("Stands with: " + clean(", ".join(f"{name} ({weight:g})" for name, weight in near)), soft_wrap=True)
    items = held.catalog.items(row.id, view.places(held, row, node, 8))
    out.print()
    for item in items.values():
        out.print(f"  {place_in(item.title, item.locator)}  {item.id}", style="dim", soft_wrap=True)


def _description(held: Any, row: Any, node: Node, told: Any) -> str:
    """Return the descriptions of an entity; too long ones are put in short once and kept."""
    from ragweave.corpora.knowledge import view
    from ragweave.minds.llm.entities import summarise

    cut = view.cut(told.parts)
    if told.short or cut == " ".join(told.parts):
        return str(told.short or cut)
    try:
        short = run(summarise(node.name, list(told.parts)))
    except RagweaveError:
        short = None
    if short:
        view.keep_summary(held, row, node, told.digest, short)
    return short or cut
