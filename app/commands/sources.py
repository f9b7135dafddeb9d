"""`ragweave sources` and `ragweave show`: the files of a library and their items."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal as size

from ragweave.app.commands import common
from ragweave.app.commands.common import JsonOption, LibraryOption, YesOption, library_name, print_json, run
from ragweave.app.commands.picture import texts_of, write_contact_sheet, write_media
from ragweave.app.help import Grouped
from ragweave.app.places import clean, place, short_path
from ragweave.app.render import counted, listed
from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from ragweave.corpora.store.rows import Source
    from ragweave.corpora.types import Item, Locator

sources = typer.Typer(
    help="List, show or remove the files of a library.",
    invoke_without_command=True,
    rich_markup_mode=None,
    cls=Grouped,
)

_NAMED = 3
"""Files that a question or a message names; the rest are counted."""

SourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", help="Path, name, id, or the first letters of an id.")
]
SourcesArgument = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE...", help="Paths of files or folders, names, ids or their first letters."),
]
ItemArgument = Annotated[str, typer.Argument(help="Id as a citation or a search result shows it.")]
ToOption = Annotated[Path | None, typer.Option("--to", help="Write its clip, frame or picture to this file.")]
SheetOption = Annotated[
    Path | None, typer.Option("--sheet", help="Write a contact sheet of its seconds here.")
]
OpenOption = Annotated[bool, typer.Option("--open", help="Open its clip, frame or picture.")]


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
        print_json([asdict(source) for source in found])
        return
    if not found:
        typer.echo(common.fill_it(name))
        return
    columns = ("id", "kind", "items", "size", "source")
    common.print_table(columns, [_row(source) for source in found], right=("items", "size"))
    items = sum(source.items for source in found)
    typer.echo(f"{counted(len(found), 'source')}, {counted(items, 'item')} in library {name}.")


def _row(source: Source) -> tuple[str, str, str, str, str]:
    """Return the cells of a source in the table of sources."""
    where = short_path(source.path)
    if len(source.paths) > 1:
        where += f"\nand {counted(len(source.paths) - 1, 'more path')} with the same bytes"
    if source.status != "ok":
        reasons = "; ".join(filter(None, (source.reason, *source.warnings)))
        where += clean(f"\n{source.status}: {reasons}")
    return source.id[:8], source.kind, str(source.items), size(source.bytes, precision=0), where


@sources.command("show")
def show_source(source: SourceArgument, library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """Show everything known about one source."""
    name = library_name(library)
    found = pick(run(_all(name)), source, name)
    if as_json:
        print_json(asdict(found))
        return
    paths = found.paths or (found.path,)
    rows = {
        "id": found.id,
        "title": found.title,
        "path": "\n         ".join(map(short_path, paths)),
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
    for label, value in rows.items():
        if value:
            typer.echo(f"{label:<9}{clean(value)}")


@sources.command("remove")
def remove_sources(wanted: SourcesArgument, library: LibraryOption = None, yes: YesOption = False) -> None:
    """Forget sources and all their items; delete their uploaded files, and touch no other file."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.library import open_library
    from ragweave.corpora.store.objects import uploaded

    name = library_name(library)
    opened = run(open_library(name))
    found = _pick_all(run(opened.sources()), wanted, name)
    uploads: list[str] = []
    for source in found:
        uploads.extend(map(str, uploaded(corpora_settings().home, opened.id, source.paths)))
    forgotten = _some([source.path for source in found])
    question = f"Forget {forgotten}?"
    if uploads:
        question = f"Forget {forgotten}, and delete what was uploaded: {_some(uploads)}?"
    common.confirm(question, yes)
    run(opened.remove(*[source.id for source in found]))
    result = "the file itself is kept" if len(found) == 1 else "the files themselves are kept"
    if uploads:
        result = f"deleted what was uploaded: {_some(uploads)}"
    typer.echo(f"Forgot {forgotten}; {result}.")


def show(
    id: ItemArgument,
    library: LibraryOption = None,
    as_json: JsonOption = False,
    to: ToOption = None,
    sheet: SheetOption = None,
    launch: OpenOption = False,
) -> None:
    """Print the cited text with its place and its picture; write or open its clip, frame or picture."""
    name = library_name(library)
    key, _, part = id.partition("#")
    item, library_id = run(_find(name, key))
    if item is None:
        raise InputError(
            f"library {name!r} holds nothing with the id {id!r}", "copy the id as `ragweave search` prints it"
        )
    locator = _locate(item, part)
    if sheet is not None:
        write_contact_sheet(locator, sheet.expanduser().absolute())
    elif to is not None or launch:
        write_media(item, locator, library_id, to and to.expanduser().absolute(), launch)
    elif as_json:
        print_json(asdict(item))
    else:
        _print_item(item, locator, library_id)


async def _find(library: str, key: str) -> tuple[Item | None, str]:
    """Return the item with an id, or None, and the id of the library."""
    from ragweave.corpora.store.library import open_library

    opened = await open_library(library)
    items = await opened.items([key])
    return items.get(key), opened.id


def _locate(item: Item, part: str) -> Locator:
    """Return the place of a part of an item, written START-END in characters; else that of the item."""
    start, dash, end = part.partition("-")
    if dash and start.isdigit() and end.isdigit():
        return item.locate(int(start), int(end))
    return item.locator


def _print_item(item: Item, locator: Locator, library_id: str) -> None:
    from ragweave.corpora.store.media import Media

    out = common.console()
    out.print(place(locator), style="bold", soft_wrap=True)
    out.print(clean(f"{item.title} · {item.corpus} · {item.id}"), style="dim", soft_wrap=True)
    out.print()
    for heading, text in texts_of(item):
        if heading:
            out.print(clean(heading), style="dim", soft_wrap=True)
        out.print(clean(text), soft_wrap=False, width=min(out.width, 100))
    if "image" in locator:
        out.print(f"\npicture: {Media.of(library_id).path(locator['image'])}", style="dim", soft_wrap=True)


def _some(paths: list[str]) -> str:
    """Name the first of some files, and count the others."""
    names = [clean(short_path(path)) for path in paths[:_NAMED]]
    if len(paths) > _NAMED:
        names.append(f"{len(paths) - _NAMED} more")
    return listed(names)


def _pick_all(found: list[Source], wanted: list[str], library: str) -> list[Source]:
    """Return each source that the words name, once; a folder names all sources below it."""
    picked: dict[str, Source] = {}
    for words in wanted:
        for source in _below(found, words) or [pick(found, words, library)]:
            picked[source.id] = source
    return list(picked.values())


def _below(found: list[Source], folder: str) -> list[Source]:
    """Return the sources of which every path lies in a folder."""
    path = Path(folder).expanduser().absolute()
    inside: list[Source] = []
    for source in found:
        if source.paths and all(path in Path(p).parents for p in source.paths):
            inside.append(source)
    return inside


def pick(found: list[Source], wanted: str, library: str) -> Source:
    """Return the one source with this path, id, beginning of an id or file name.

    An exact path or id comes before the beginning of an id, and that before a file name.

    Raises:
        InputError: no source matches, or several do.
    """
    path = str(Path(wanted).expanduser().absolute())
    exact: list[Source] = []
    by_id: list[Source] = []
    by_name: list[Source] = []
    for source in found:
        paths = (source.path, *source.paths)
        if wanted == source.id or path in paths:
            exact.append(source)
        if wanted and source.id.startswith(wanted):
            by_id.append(source)
        if wanted in [Path(p).name for p in paths]:
            by_name.append(source)
    matches = exact or by_id or by_name
    return common.one_of(matches, wanted, f"source of library {library!r}", "ragweave sources")


async def _all(name: str) -> list[Source]:
    from ragweave.corpora.store.library import open_library

    library = await open_library(name)
    return await library.sources()
