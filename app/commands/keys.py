"""`ragweave keys`: make, list and revoke the API keys of the server."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ragweave.app.commands.common import JsonOption, print_json, print_table, run
from ragweave.app.commands.serve import keys_of_home, need
from ragweave.app.help import Grouped
from ragweave.app.places import clean
from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from ragweave.serve.access import Keys

keys = typer.Typer(
    help="Make, list or revoke API keys of the server.",
    invoke_without_command=True,
    rich_markup_mode=None,
    cls=Grouped,
)


@keys.callback()
def _keys_alone(context: typer.Context, as_json: JsonOption = False) -> None:
    if context.invoked_subcommand is None:
        list_keys(as_json)


@keys.command()
def create(
    name: Annotated[str, typer.Argument(help="What the key is for, such as the name of a chat app.")],
    library: Annotated[
        list[str] | None, typer.Option("--library", "-l", metavar="NAME", help="Library it opens; may be repeated.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Open all libraries, and allow to make and delete them.")
    ] = False,
) -> None:
    """Make a key and print it once; only its hash is kept.

    From the first key on, every request to the server needs one.
    """
    if bool(library) == everything:
        raise InputError("a key opens some libraries or all", "give --library NAME, or --all")
    ids = None if everything else run(_ids(library or []))
    key, secret = _keys().create(name, ids)
    typer.echo(secret)
    opens = "all libraries" if everything else "library " + ", ".join(library or [])
    typer.echo(f"Key {key.id} opens {opens}. It is shown only now; keep it.", err=True)


@keys.command("list")
def list_keys(as_json: JsonOption = False) -> None:
    """List the keys: what they are for, what they open, when they were last used."""
    from ragweave.corpora.store.stores import stores

    found = _keys().all()
    if as_json:
        print_json([asdict(key) for key in found])
        return
    if not found:
        typer.echo("There is no key; the server answers this machine alone.")
        return
    names = {row.id: row.name for row in stores().catalog.libraries()}
    rows = []
    for key in found:
        opens = "all" if key.libraries is None else ", ".join(names.get(i, "a deleted library") for i in key.libraries)
        state = f"revoked {key.revoked[:10]}" if key.revoked else key.used.replace("T", " ") or "never"
        rows.append((key.id, clean(key.name), clean(opens), key.created[:10], state))
    print_table(("id", "name", "opens", "created", "last used"), rows)


@keys.command()
def revoke(
    id: Annotated[str, typer.Argument(metavar="KEY", help="Id of the key, as `ragweave keys list` shows it.")],
) -> None:
    """End a key at once, also in a server that is running."""
    _keys().revoke(id)
    typer.echo(f"Key {id} opens nothing any more.")


def _keys() -> Keys:
    need("fastapi", what="`ragweave keys`")
    return keys_of_home()


async def _ids(names: list[str]) -> tuple[str, ...]:
    from ragweave.corpora.store.library import open_library

    return tuple([(await open_library(name)).id for name in dict.fromkeys(names)])
