"""`ragweave export` and `import`, and what `doctor --repair` does: the care of libraries."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal as size

from ragweave.app.commands import common
from ragweave.app.places import clean
from ragweave.app.render import counted, duration
from ragweave.models.errors import RagweaveError

if TYPE_CHECKING:
    from ragweave.corpora.store.bundle import Bundle
    from ragweave.corpora.store.repair import Repaired


def export_library(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write, for example notes.ragweave.")],
    library: common.LibraryOption = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite the file.")] = False,
    as_json: common.JsonOption = False,
) -> None:
    """Write a library into one file that another machine opens without embedding anything."""
    from ragweave.corpora.store.bundle import export_library

    _tell("Wrote", common.run(export_library(common.library_name(library), file, overwrite=force)), as_json)


def import_library(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File that `ragweave export` wrote.")],
    library: Annotated[
        str, typer.Option("--library", "-l", metavar="NAME", help="Name of the new library; default: the one it had.")
    ] = "",
    files: Annotated[
        Path | None, typer.Option("--files", metavar="FOLDER", help="Where the files lie on this machine, if they do.")
    ] = None,
    as_json: common.JsonOption = False,
) -> None:
    """Make a library of a file that `ragweave export` wrote.

    The file is checked before anything is written. Take one only from where you trust: its digest shows that it is
    whole, not who wrote it.
    """
    from ragweave.corpora.store.bundle import import_library

    _tell("Opened", common.run(import_library(file, library, files=files)), as_json)


def repair_all(library: str | None, as_json: bool) -> None:
    """Repair one library, or all, and print what was made anew; exit code 2 where one could not be repaired."""
    from ragweave.corpora.store.repair import repair
    from ragweave.corpora.store.stores import stores

    done: list[Repaired] = []
    rows, broken = ([], []) if library else stores().catalog.scan()
    failed: list[RagweaveError] = [*broken]
    for name in [library] if library else [row.name for row in rows]:
        try:
            done.append(common.run(repair(name)))
        except RagweaveError as error:
            failed.append(error)
    if as_json:
        common.print_json([asdict(d) for d in done])
    else:
        for one in done:
            _print_repaired(one)
        if not done and not failed:
            typer.echo("There is no library yet, and nothing to repair.")
    for problem in failed:
        common.complain(problem)
    if failed:
        raise typer.Exit(common.EXIT_ERROR)


def _print_repaired(one: Repaired) -> None:
    out, again = common.console(), " (the next `ragweave index` reads them)"
    out.print(f"Library {clean(one.library)}, in {duration(one.seconds)}", style="bold", soft_wrap=True)
    lines = [f"words of {counted(one.items, 'item')} and every index made anew, {counted(one.vectors, 'vector')} made"]
    lines += [f"{counted(one.stray, 'vector')} without an item removed"] if one.stray else []
    lines += [f"{counted(one.empty, 'source')} that held nothing forgotten{again}"] if one.empty else []
    lines += [f"{counted(one.without_media, 'item')} whose stored picture is missing"] if one.without_media else []
    for line in (*lines, *one.notes, f"free disk: {size(one.free)}"):
        out.print(f"  {clean(line)}", soft_wrap=True)


def _tell(verb: str, bundle: Bundle, as_json: bool) -> None:
    if as_json:
        common.print_json(asdict(bundle))
        return
    held = f"{counted(bundle.sources, 'source')}, {counted(bundle.items, 'item')}, {counted(bundle.vectors, 'vector')}"
    out = common.console()
    out.print(f"{verb} library {clean(bundle.library)}: {held} of {clean(bundle.encoder)}.", soft_wrap=True)
    out.print(f"{clean(str(bundle.path))}\nsha256 of its manifest: {bundle.sha256}", soft_wrap=True)
