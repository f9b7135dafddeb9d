"""What `ragweave doctor --repair` does."""

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
    lines = [
        f"words of {counted(one.items, 'item')} and every index made anew, {counted(one.vectors, 'vector')}"
        " made"
    ]
    lines += [f"{counted(one.stray, 'vector')} without an item removed"] if one.stray else []
    lines += [f"{counted(one.empty, 'source')} that held nothing forgotten{again}"] if one.empty else []
    lines += (
        [f"{counted(one.without_media, 'item')} whose stored picture is missing"] if one.without_media else []
    )
    for line in (*lines, *one.notes, f"free disk: {size(one.free)}"):
        out.print(f"  {clean(line)}", soft_wrap=True)
