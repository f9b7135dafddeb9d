"""`ragweave search`: ranked evidence without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragweave.app.commands.common import (
    EXIT_ABSTAINED,
    JsonOption,
    LibraryOption,
    console,
    fill_it,
    print_json,
    run,
    waiting,
)
from ragweave.app.commands.options import (
    Folder,
    From,
    Set,
    Source,
    To,
    TopK,
    build_context,
    read_question,
    scope,
)
from ragweave.app.render import Lines, print_evidence
from ragweave.graphs.run import alist

if TYPE_CHECKING:
    from ragweave.components.context import Context
    from ragweave.components.evidence import Evidence


def search(
    query: Annotated[str, typer.Argument(help="What to look for; `-` reads it from standard input.")],
    library: LibraryOption = None,
    top_k: TopK = None,
    source: Source = None,
    folder: Folder = None,
    from_: From = None,
    to: To = None,
    set_: Set = None,
    as_json: JsonOption = False,
) -> None:
    """List ranked evidence with the lines that match, without answering.

    Exit code 3 when nothing was found.
    """
    context = build_context(library, set_, top_k=top_k, **scope(source, folder, from_, to))
    asked = read_question(query)
    with waiting("Searching ..."):
        found, lines = run(passages_for(asked, context))
    if as_json:
        print_json(found)
    elif found:
        print_evidence(console(), found, lines)
    else:
        typer.echo(
            "Nothing in this library matches." if run(_holds(context.library)) else fill_it(context.library)
        )
    if not found:
        raise typer.Exit(EXIT_ABSTAINED)


async def _holds(library: str) -> bool:
    from ragweave.corpora.store.library import open_library

    return bool(await (await open_library(library)).counts())


async def passages_for(query: str, context: Context) -> tuple[list[Evidence], list[Lines]]:
    """Return what a search found, best first, and of each the lines that match."""
    entries = await alist(query, context)
    return [entry.row for entry in entries], [(entry.text, entry.marked) for entry in entries]
