"""Repair libraries for `ragweave doctor --repair`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.filesize import decimal as size

from ragweave.app.commands import common
from ragweave.app.places import clean
from ragweave.app.render import counted, duration
from ragweave.models.errors import RagweaveError

if TYPE_CHECKING:
    from ragweave.corpora.store.repair import Repaired


def repair_all(library: str | None, as_json: bool) -> None:
    """Repair one library, or all, and print what was rebuilt; exit with code 2 if one failed."""
    from ragweave.corpora.store.repair import repair
    from ragweave.corpora.store.stores import stores

    done: list[Repaired] = []
    failed: list[RagweaveError] = []
    names = [library] if library else []
    if not library:
        rows, broken = stores().catalog.scan()
        names = [row.name for row in rows]
        failed.extend(broken)
    for name in names:
        try:
            done.append(common.run(repair(name)))
        except RagweaveError as error:
            failed.append(error)
    if as_json:
        common.print_json([asdict(one) for one in done])
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
    """Print what the repair of a library rebuilt, removed and did not find."""
    lines = [f"words of {counted(one.items, 'item')} and every index rebuilt"]
    lines[0] += f", {counted(one.vectors, 'vector')} computed"
    if one.stray:
        lines.append(f"{counted(one.stray, 'vector')} without an item removed")
    if one.empty:
        empty = counted(one.empty, "source")
        lines.append(f"{empty} that held nothing forgotten (the next `ragweave index` reads them)")
    if one.without_media:
        lines.append(f"{counted(one.without_media, 'item')} whose stored picture is missing")
    lines += [*one.notes, f"free disk: {size(one.free)}"]
    out = common.console()
    out.print(f"Library {clean(one.library)}, in {duration(one.seconds)}", style="bold", soft_wrap=True)
    for line in lines:
        out.print(f"  {clean(line)}", soft_wrap=True)
