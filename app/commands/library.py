"""`ragweave library`: list, create, rename, set up, copy and delete libraries."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ragweave.app.commands import common
from ragweave.app.commands.common import JsonOption, YesOption, print_json, run
from ragweave.app.help import Grouped
from ragweave.app.render import counted

library = typer.Typer(
    help="List, create, rename, set up or delete libraries.",
    invoke_without_command=True,
    rich_markup_mode=None,
    cls=Grouped,
)


@library.callback()
def _library(context: typer.Context, as_json: JsonOption = False) -> None:
    if context.invoked_subcommand is None:
        list_all(as_json)


@library.command("list")
def list_all(as_json: JsonOption = False) -> None:
    """List the libraries of this home; exit with code 2 and the reason if one cannot be opened."""
    from ragweave.corpora.store.stores import stores

    rows, failed = stores().catalog.scan()
    names = [row.name for row in rows]
    if as_json:
        print_json(names)
    elif names:
        typer.echo("\n".join(names))
    elif not failed:
        typer.echo("There is no library yet; `ragweave index FOLDER` makes one.")
    # A broken disk gives the same error for every library; one line is enough.
    complained: set[str] = set()
    for error in failed:
        if str(error) not in complained:
            common.complain(error)
            complained.add(str(error))
    if failed:
        raise typer.Exit(common.EXIT_ERROR)


@library.command("create")
def create(name: str) -> None:
    """Create an empty library; `ragweave index` creates one if needed."""
    from ragweave.corpora.store.library import create_library

    run(create_library(name))
    typer.echo(f"Made library {name}.")


@library.command("rename")
def rename(old: str, new: str) -> None:
    """Give a library another name."""
    from ragweave.corpora.store.stores import stores

    stores().catalog.rename(old, new)
    typer.echo(f"Library {old} is now called {new}.")


@library.command("set")
def set_library(
    name: str,
    recency: Annotated[
        str | None,
        typer.Option(
            metavar="auto|on|off", help="Prefer newer documents: if a question asks for them, always, never."
        ),
    ] = None,
    half_life: Annotated[
        float | None,
        typer.Option(metavar="DAYS", help="Days after which a document counts half as new; 0: default."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Set how the documents of a library age; without an option, show it."""
    from ragweave.corpora.store.stores import stores

    row = stores().catalog.set_ageing(name, recency, half_life)
    if as_json:
        print_json({"library": row.name, "recency": row.recency, "half_life": row.half_life})
        return
    when = {"auto": "if a question asks for them", "on": "always", "off": "never"}[row.recency]
    days = f"half-life {row.half_life:g} days" if row.half_life else "no half-life of its own"
    typer.echo(f"Library {row.name}: newer documents are preferred {when}; {days}.")


@library.command("copy")
def copy(
    name: str,
    to: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            envvar="RAGWEAVE_COPY_TO",
            help="postgresql://USER:PASSWORD@HOST/NAME, or sqlite for the files of this home.",
        ),
    ],
    replace: Annotated[bool, typer.Option("--replace", help="Replace an earlier copy.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Copy a library between this home and a database, with its ids and vectors.

    Media, uploads and conversations stay where they are. RAGWEAVE_DATABASE_URL selects the one in use.
    """
    from ragweave.corpora.store.transfer import FILES, copy_library

    copied = run(copy_library(name, to, replace))
    if as_json:
        print_json(asdict(copied))
        return
    counts = f"{counted(copied.sources, 'source')}, {counted(copied.items, 'item')}, {copied.vectors} vectors"
    typer.echo(f"Copied library {name} ({counts}); the one here is as it was.")
    setting = "unset RAGWEAVE_DATABASE_URL" if to == FILES else "set RAGWEAVE_DATABASE_URL to that address"
    typer.echo(f"To use the copy, {setting}, and run `ragweave index`, which makes its index of vectors.")
    typer.echo("Both use the media of this home: deleting either library deletes them.")


@library.command("delete")
def delete(name: str, yes: YesOption = False) -> None:
    """Delete a library with its uploaded files and its conversations in the page.

    Other files are not touched, and conversations of `ragweave chat` stay.
    """
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.objects import uploads
    from ragweave.corpora.store.stores import stores

    count = len(uploads(corpora_settings().home, stores().catalog.library(name).id))
    uploaded = counted(count, "uploaded file")
    also = f"{uploaded}, " if count else ""
    parts = f"everything in it, {also}and its conversations in the page"
    common.confirm(f"Delete library {name} with {parts} (conversations of `ragweave chat` stay)?", yes)
    run(_delete(name))
    if count:
        typer.echo(f"Deleted library {name} with {uploaded}; other files are kept.")
    else:
        typer.echo(f"Deleted library {name}; the files it was made from are kept.")


async def _delete(name: str) -> None:
    """Delete a library, and its conversations on the server if this home has any."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.library import delete_library
    from ragweave.serve.conversations import forget_library
    from ragweave.serve.database import Database

    path = corpora_settings().home / "serve.sqlite"
    # Open the tables first. If they cannot be opened, the library must stay: without it, its conversations
    # could never be found and deleted.
    has_tables = bool(corpora_settings().database) or path.exists()
    tables = Database(path) if has_tables else None
    id = await delete_library(name)
    if tables is not None:
        await forget_library(tables, id)
        tables.close()
