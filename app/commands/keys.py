"""`ragweave keys`: create, list, change and revoke the API keys of the server."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ragweave.app.commands.common import JsonOption, print_json, print_table, run
from ragweave.app.commands.serve import keys_of_home, need
from ragweave.app.help import Grouped
from ragweave.app.places import clean
from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from ragweave.serve.access import Role
    from ragweave.serve.keys import Key, Keys

keys = typer.Typer(
    help="Make, list, change or revoke API keys of the server.",
    invoke_without_command=True,
    rich_markup_mode=None,
    cls=Grouped,
)
KeyArgument = Annotated[
    str, typer.Argument(metavar="KEY", help="Id of the key, as `ragweave keys list` shows it.")
]
LibrariesOption = Annotated[
    list[str] | None,
    typer.Option("--library", "-l", metavar="NAME", help="Library it opens; may be repeated."),
]
AllOption = Annotated[bool, typer.Option("--all", help="Open all libraries, also those that are made later.")]
RoleOption = Annotated[
    str | None,
    typer.Option("--role", help="read (ask and open), write (also add files) or own (also remove any file)."),
]


@keys.callback()
def _keys_alone(context: typer.Context, as_json: JsonOption = False) -> None:
    if context.invoked_subcommand is None:
        list_keys(as_json)


@keys.command()
def create(
    name: Annotated[str, typer.Argument(help="Who holds the key, such as a person or a chat app.")],
    library: LibrariesOption = None,
    everything: AllOption = False,
    role: RoleOption = None,
) -> None:
    """Create a key and print it once; only its hash is stored.

    Without --role, a key for some libraries gets the role `write`, and a key for all gets `own`. Once a key
    exists, every request to the server needs one.
    """
    if bool(library) == everything:
        raise InputError("a key opens some libraries or all", "give --library NAME, or --all")
    ids = None if everything else run(_ids(library or []))
    key, secret = _keys().create(name, ids, _role(role))
    typer.echo(secret)
    opens = "all libraries" if everything else "library " + ", ".join(library or [])
    typer.echo(
        f"Key {key.id} opens {opens} with the role {key.role}. It is shown only now; keep it.", err=True
    )


@keys.command("list")
def list_keys(as_json: JsonOption = False) -> None:
    """List the keys with their holders, libraries, roles and last use."""
    from ragweave.corpora.store.stores import stores

    store = _keys()
    found = store.all()
    if as_json:
        print_json([asdict(key) for key in found])
        return
    if not found:
        typer.echo("There is no key; the server answers this machine alone.")
        return
    names = {row.id: row.name for row in stores().catalog.libraries()}
    heads = ("id", "name", "role", "opens", "conversations", "browsers", "created", "last used")
    print_table(heads, [_row(key, names) for key in found])
    unowned = store.left_by_owner()
    if unowned:
        typer.echo(
            f"{unowned} conversations from before the keys belong to none: ragweave keys give owner KEY",
            err=True,
        )


def _row(key: Key, names: dict[str, str]) -> tuple[str, ...]:
    """Return the cells of a key in the table of keys; `names` gives the libraries' names by id."""
    opens = "all"
    if key.libraries is not None:
        opens = ", ".join([names.get(id, "a deleted library") for id in key.libraries])
    last_used = key.used.replace("T", " ") or "never"
    state = f"revoked {key.revoked[:10]}" if key.revoked else last_used
    counts = str(key.conversations), str(key.sessions)
    return key.id, clean(key.name), key.role, clean(opens), *counts, key.created[:10], state


@keys.command()
def edit(
    id: KeyArgument,
    name: Annotated[str | None, typer.Option("--name", help="Who holds the key.")] = None,
    library: LibrariesOption = None,
    everything: AllOption = False,
    role: RoleOption = None,
) -> None:
    """Change the holder, role or libraries of a key at once; its secret and its conversations stay."""
    if library and everything:
        raise InputError("a key opens some libraries or all", "give --library NAME, or --all")
    store, wanted = _keys(), _role(role)
    libraries: tuple[str, ...] | Literal[True] | None = None
    if everything:
        libraries = True
    elif library:
        libraries = run(_ids(library))
    store.edit(id, name, wanted, libraries)
    typer.echo(f"Key {id} is changed.")


@keys.command()
def rotate(id: KeyArgument) -> None:
    """Give a key a new secret and print it once; the old secret no longer works, conversations stay."""
    typer.echo(_keys().rotate(id))
    typer.echo(
        f"Key {id} has a new secret, and its browsers are logged out. It is shown only now; keep it.",
        err=True,
    )


@keys.command()
def revoke(id: KeyArgument) -> None:
    """Revoke a key at once, also in a running server; its conversations stay."""
    _keys().revoke(id)
    typer.echo(
        f"Key {id} no longer opens anything. `ragweave keys rotate {id}` brings it back with another secret."
    )


@keys.command()
def logout(id: KeyArgument) -> None:
    """Log out every browser that logged in with a key; the key itself stays valid."""
    typer.echo(f"{_keys().log_out_all(id)} browsers are logged out.")


@keys.command()
def give(
    id: Annotated[
        str,
        typer.Argument(
            metavar="FROM", help="Id of a key, or `owner` for conversations from before the keys."
        ),
    ],
    to: Annotated[str, typer.Argument(metavar="TO", help="Id of the key that gets the conversations.")],
) -> None:
    """Give the conversations of a key to another one."""
    typer.echo(f"{_keys().hand_over(id, to)} conversations now belong to key {to}.")


def _keys() -> Keys:
    need("fastapi", what="`ragweave keys`")
    return keys_of_home()


def _role(given: str | None) -> Role | None:
    """Return the given role, or None if none is given.

    Raises:
        InputError: there is no such role.
    """
    need("fastapi", what="`ragweave keys`")
    from ragweave.serve.access import ROLES

    for role in ROLES:
        if role == given:
            return role
    if given is not None:
        raise InputError(f"there is no role {given!r}", f"give one of: {', '.join(ROLES)}")
    return None


async def _ids(names: list[str]) -> tuple[str, ...]:
    """Return the ids of libraries, each once."""
    from ragweave.corpora.store.library import open_library

    ids: list[str] = []
    for name in dict.fromkeys(names):
        library = await open_library(name)
        ids.append(library.id)
    return tuple(ids)
