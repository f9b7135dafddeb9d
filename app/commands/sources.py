"""`ragweave sources`, `ragweave show` and `ragweave library`: what a library holds."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal as size

from ragweave.app.commands import common
from ragweave.app.commands.common import JsonOption, LibraryOption, library_name, print_json, run
from ragweave.app.commands.picture import hand_out, hand_out_sheet, told_of
from ragweave.app.help import Grouped
from ragweave.app.places import clean, place, short_path
from ragweave.app.render import counted, listed
from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from ragweave.corpora.store.rows import Source
    from ragweave.corpora.types import Item

sources = typer.Typer(
    help="List, show or remove the files of a library.",
    invoke_without_command=True,
    rich_markup_mode=None,
    cls=Grouped,
)
library = typer.Typer(
    help="List, create, rename, set up or delete libraries.",
    invoke_without_command=True,
    rich_markup_mode=None,
    cls=Grouped,
)

SourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", help="Path, name, id, or the first letters of an id.")
]
_NAMED = 3
"""Files that a question or a message names."""

SourcesArgument = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE...", help="Paths of files or folders, names, ids or their first letters."),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@sources.callback()
def _sources(context: typer.Context, library: LibraryOption = None, as_json: JsonOption = False) -> None:
    if context.invoked_subcommand is None:
        list_sources(library, as_json)


@sources.command("list")
def list_sources(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """List every source with its kind, its items, and why it failed if it did."""
    name = library_name(library)
    found = run(_all(name))
    if as_json:
        print_json([asdict(s) for s in found])
        return
    rows = []
    for s in found:
        same = (
            f"\nand {counted(len(s.paths) - 1, 'more path')} with the same bytes" if len(s.paths) > 1 else ""
        )
        note = f"\n{s.status}: {'; '.join(filter(None, (s.reason, *s.warnings)))}" if s.status != "ok" else ""
        rows.append(
            (
                s.id[:8],
                s.kind,
                str(s.items),
                size(s.bytes, precision=0),
                short_path(s.path) + same + clean(note),
            )
        )
    if rows:
        common.print_table(("id", "kind", "items", "size", "source"), rows, right=("items", "size"))
    if not found:
        typer.echo(common.fill_it(name))
        return
    items = sum(s.items for s in found)
    typer.echo(f"{counted(len(found), 'source')}, {counted(items, 'item')} in library {name}.")


@sources.command("show")
def show_source(source: SourceArgument, library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """Show everything known about one source."""
    name = library_name(library)
    found = pick(run(_all(name)), source, name)
    if as_json:
        print_json(asdict(found))
        return
    rows = {
        "id": found.id,
        "title": found.title,
        "path": "\n         ".join(short_path(p) for p in found.paths or (found.path,)),
        "kind": f"{found.kind}, {size(found.bytes, precision=0)}",
        "items": str(found.items),
        "status": " - ".join(filter(None, (found.status, found.reason))),
        "warnings": "; ".join(found.warnings),
        "author": found.author,
        "date": found.date.date().isoformat() if found.date else "",
        "language": found.language,
        "indexed": found.indexed_at,
        "sha256": found.sha256,
    }
    for name, value in rows.items():
        if value:
            typer.echo(f"{name:<9}{clean(value)}")


@sources.command("remove")
def remove_sources(wanted: SourcesArgument, library: LibraryOption = None, yes: YesOption = False) -> None:
    """Forget sources and all their items; what was uploaded is deleted, and no file is touched elsewhere."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.library import open_library
    from ragweave.corpora.store.objects import uploaded

    name = library_name(library)
    opened = run(open_library(name))
    held = run(opened.sources())
    found = list(
        {s.id: s for each in wanted for s in _below(held, each) or [pick(held, each, name)]}.values()
    )
    paths = _some([s.path for s in found])
    home = corpora_settings().home
    sent = _some([str(p) for s in found for p in uploaded(home, opened.id, s.paths)])
    common.confirm(f"Forget {paths}{f', and delete what was uploaded: {sent}' if sent else ''}?", yes)
    run(opened.remove(*(s.id for s in found)))
    kept = "the file is where it was" if len(found) == 1 else "the files are where they were"
    typer.echo(f"Forgot {paths}; {f'deleted what was uploaded: {sent}' if sent else kept}.")


def show(
    id: Annotated[str, typer.Argument(help="Id that stands beside a citation or a search result.")],
    library: LibraryOption = None,
    as_json: JsonOption = False,
    to: Annotated[
        Path | None, typer.Option("--to", help="Write its clip, frame or picture to this file.")
    ] = None,
    sheet: Annotated[
        Path | None, typer.Option("--sheet", help="Write a contact sheet of its seconds here.")
    ] = None,
    launch: Annotated[bool, typer.Option("--open", help="Open its clip, frame or picture.")] = False,
) -> None:
    """Print the cited text with its place and its picture; write or open its clip, frame or picture."""
    from ragweave.corpora.store.library import open_library
    from ragweave.corpora.store.media import Media

    name = library_name(library)
    key, _, part = id.partition("#")

    async def find() -> tuple[Item | None, str]:
        opened = await open_library(name)
        return (await opened.items([key])).get(key), opened.id

    item, library_id = run(find())
    if item is None:
        raise InputError(
            f"library {name!r} holds nothing with the id {id!r}", "copy the id as `ragweave search` prints it"
        )
    start, dash, end = part.partition("-")
    locator = (
        item.locate(int(start), int(end)) if dash and start.isdigit() and end.isdigit() else item.locator
    )
    if sheet is not None:
        hand_out_sheet(locator, sheet.expanduser().absolute())
        return
    if to is not None or launch:
        hand_out(item, locator, library_id, to and to.expanduser().absolute(), launch)
        return
    if as_json:
        print_json(asdict(item))
        return
    out = common.console()
    out.print(place(locator), style="bold", soft_wrap=True)
    out.print(clean(f"{item.title} · {item.corpus} · {item.id}"), style="dim", soft_wrap=True)
    out.print()
    for heading, text in told_of(item):
        if heading:
            out.print(clean(heading), style="dim", soft_wrap=True)
        out.print(clean(text), soft_wrap=False, width=min(out.width, 100))
    if "image" in locator:
        out.print(f"\npicture: {Media.of(library_id).path(locator['image'])}", style="dim", soft_wrap=True)


@library.callback()
def _library(context: typer.Context, as_json: JsonOption = False) -> None:
    if context.invoked_subcommand is None:
        list_all(as_json)


@library.command("list")
def list_all(as_json: JsonOption = False) -> None:
    """List the libraries of this home; exit code 2 if one cannot be opened, and why."""
    from ragweave.corpora.store.stores import stores

    rows, failed = stores().catalog.scan()
    names = [row.name for row in rows]
    if as_json:
        print_json(names)
    elif names:
        typer.echo("\n".join(names))
    elif not failed:
        typer.echo("There is no library yet; `ragweave index FOLDER` makes one.")
    for problem in {str(error): error for error in failed}.values():  # a disk says the same of each
        common.complain(problem)
    if failed:
        raise typer.Exit(common.EXIT_ERROR)


@library.command("create")
def create(name: str) -> None:
    """Make an empty library; `ragweave index` makes one by itself."""
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
            metavar="auto|on|off", help="Prefer newer documents where a question asks for it, always, never."
        ),
    ] = None,
    half_life: Annotated[
        float | None,
        typer.Option(metavar="DAYS", help="Days after which a document counts half as new; 0 forgets them."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say how the documents of a library age; without an option, show it."""
    from ragweave.corpora.store.stores import stores

    row = stores().catalog.set_ageing(name, recency, half_life)
    if as_json:
        print_json({"library": row.name, "recency": row.recency, "half_life": row.half_life})
        return
    when = {"auto": "where a question asks for them", "on": "always", "off": "never"}[row.recency]
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
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in the place of an earlier copy.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Copy a library between this home and a database, with its ids and vectors.

    Media, uploads and conversations stay where they are. RAGWEAVE_DATABASE_URL says which one is used from
    then on.
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
    """Delete a library with its conversations in the page and what was uploaded to it.

    Other files are not touched, and conversations of `ragweave chat` stay.
    """
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.objects import uploads
    from ragweave.corpora.store.stores import stores

    sent = len(uploads(corpora_settings().home, stores().catalog.library(name).id))
    also = f"{counted(sent, 'uploaded file')}, " if sent else ""
    goes = f"everything in it, {also}and its conversations in the page"
    common.confirm(f"Delete library {name} with {goes} (conversations of `ragweave chat` stay)?", yes)
    run(_delete(name))
    if sent:
        typer.echo(
            f"Deleted library {name} with {counted(sent, 'uploaded file')}; other files are where they were."
        )
    else:
        typer.echo(f"Deleted library {name}; the files it was made from are where they were.")


def _some(paths: list[str]) -> str:
    """Name the first of some files, and count the others."""
    more = len(paths) - _NAMED
    return listed([*(clean(short_path(p)) for p in paths[:_NAMED]), *([f"{more} more"] if more > 0 else [])])


def _below(found: list[Source], folder: str) -> list[Source]:
    """Return the sources all of whose paths lie in a folder."""
    path = Path(folder).expanduser().absolute()
    return [s for s in found if s.paths and all(path in Path(p).parents for p in s.paths)]


def pick(found: list[Source], wanted: str, library: str) -> Source:
    """Return the source that a path, an id, the beginning of an id or the name of a file names."""
    path = str(Path(wanted).expanduser().absolute())
    matches = [s for s in found if wanted == s.id or path == s.path or path in s.paths]
    matches = matches or [s for s in found if wanted and s.id.startswith(wanted)]
    matches = matches or [s for s in found if wanted in {Path(p).name for p in (s.path, *s.paths)}]
    return common.one_of(matches, wanted, f"source of library {library!r}", "ragweave sources")


async def _all(name: str) -> list[Source]:
    from ragweave.corpora.store.library import open_library

    return await (await open_library(name)).sources()


async def _delete(name: str) -> None:
    """Delete a library, and what servers keep of it, where there has been one."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.library import delete_library
    from ragweave.serve.conversations import forget_library
    from ragweave.serve.database import Database

    path = corpora_settings().home / "serve.sqlite"
    # Opened first: tables that cannot be used keep the library as well, for later nobody would find its
    # conversations.
    tables = Database(path) if corpora_settings().database or path.exists() else None
    id = await delete_library(name)
    if tables is not None:
        await forget_library(tables, id)
        tables.close()
