"""`ragweave models`: weights that can be downloaded, each pinned by its sha256."""

from __future__ import annotations

from typing import Annotated

import typer

from ragweave.app.commands.common import EXIT_ERROR, JsonOption, call, print_json, print_table
from ragweave.app.render import clean, size

models = typer.Typer(help="List, pin, fetch or verify weights.", invoke_without_command=True, rich_markup_mode=None)

NameArgument = Annotated[str, typer.Argument(help="Name of the entry.")]


@models.callback()
def _models(context: typer.Context, as_json: JsonOption = False) -> None:
    if context.invoked_subcommand is None:
        list_weights(as_json)


@models.command("list")
def list_weights(as_json: JsonOption = False) -> None:
    """List the weights that are pinned, and whether they are here."""
    from ragweave.models import weights

    entries = [(w, weights.status(w)) for w in weights.table()]
    if as_json:
        print_json([{**w.model_dump(), "state": s.state, "note": s.note} for w, s in entries])
        return
    if not entries:
        typer.echo("Nothing is pinned, and nothing is needed: the models that Ragweave uses come with its packages.")
        typer.echo("Pin a file of the hub: ragweave models add NAME OWNER/REPO FILE")
        return
    rows = [(w.name, clean(f"{s.state} {s.note}").strip(), size(w.size), clean(w.licence), w.repo) for w, s in entries]
    print_table(("name", "state", "size", "licence", "from"), rows, right=("size",))


@models.command("add")
def add(
    name: NameArgument,
    repo: Annotated[str, typer.Argument(metavar="OWNER/REPO", help="Repository of the hub.")],
    path: Annotated[str, typer.Argument(metavar="FILE", help="Path of the file inside it.")],
    revision: Annotated[str, typer.Option("--revision", help="Branch, tag or commit to pin.")] = "main",
    licence: Annotated[str, typer.Option("--licence", help="Licence, for the list.")] = "",
) -> None:
    """Pin one file of the hub: its commit, its size and its sha256; nothing is downloaded yet."""
    from ragweave.models import weights

    entry = call(weights.add, name, repo, path, revision, licence)
    typer.echo(f"Pinned {entry.name}: {size(entry.size)} at revision {entry.revision[:12]}.")


@models.command("fetch")
def fetch(name: NameArgument) -> None:
    """Download what is missing; an interrupted download goes on where it ended."""
    from ragweave.models import weights

    typer.echo(str(call(weights.fetch, name)))


@models.command("verify")
def verify(name: NameArgument) -> None:
    """Compare every file with its sha256; exit code 2 if one is missing or differs."""
    from ragweave.models import weights

    found = weights.status(call(weights.find, name), full=True)
    typer.echo(f"{name}: {found.state}" + (f" ({found.note})" if found.note else ""))
    if found.state != "ready":
        raise typer.Exit(EXIT_ERROR)
