"""`ragweave graph entities`: what the recordings speak of, listed, drawn, and taken apart where names were joined."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ragweave.app.commands.common import console, run

if TYPE_CHECKING:
    from ragweave.corpora.knowledge.view import Node

LISTED = 40
DRAWN = 120


def entities(library: str, html: Path | None, about: str | None, apart: str | None) -> None:
    """List the entities of a library, tell about one, draw them, or keep two names apart."""
    from ragweave.corpora.knowledge import store, view
    from ragweave.corpora.store.stores import stores
    from ragweave.models.errors import InputError

    held = stores()
    row = held.catalog.library(library)
    if apart is not None:
        one, equals, other = apart.partition("=")
        if not equals or not one.strip() or not other.strip():
            told = f"`--apart {apart}` is not of the form NAME=NAME"
            raise InputError(told, "write, say, --apart 'Chris=Chris Benson'")
        store.set_apart(held.catalog.engine(row.id), row.id, one, other)
        typer.echo(f"“{one.strip()}” and “{other.strip()}” are two from now on.")
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
        return
    if html is not None:
        from ragweave.app.entity_drawing import page

        drawn = view.graph(held, row, DRAWN)
        try:
            html.write_text(page(f"Entities of {library}", drawn), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{html} cannot be written ({error.strerror})", "choose another file") from None
        typer.echo(f"Wrote {html}: {len(drawn)} of {len(found)} entities.")
        return
    _list(found)


def _list(found: list[Node]) -> None:
    from rich.table import Table

    from ragweave.app.render import clean, counted

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("entity", "type", "chunks", "sources", "also called"):
        table.add_column(name, justify="right" if name in ("chunks", "sources") else "left")
    for n in found[:LISTED]:
        table.add_row(clean(n.name), n.kind, str(n.chunks), str(n.sources), clean(", ".join(n.names[:4])))
    out = console()
    out.print(table)
    more = f", {len(found) - LISTED:,} not shown" if len(found) > LISTED else ""
    out.print(f"{counted(len(found), 'entity').replace('entitys', 'entities')}{more}.")
    out.print("One of them: ragweave graph entities --about NAME. Draw them: --html FILE.", style="dim")


def _tell(held: Any, row: Any, node: Node) -> None:
    from ragweave.app.render import clean, place_in
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
    from ragweave.models.errors import RagweaveError

    if not told.too_long:
        return " ".join(told.parts)
    if told.short:
        return str(told.short)
    try:
        short = run(summarise(node.name, list(told.parts)))
    except RagweaveError:
        short = None
    if short:
        view.keep_summary(held, row, node, told.digest, short)
    return short or str(told.cut())
