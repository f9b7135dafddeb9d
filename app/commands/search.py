"""`ragweave search`: ranked evidence without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragweave.app import api
from ragweave.app.commands.common import EXIT_ABSTAINED, JsonOption, LibraryOption, console, print_json, run, waiting
from ragweave.app.commands.options import Folder, From, Set, To, TopK, Video, build_context, read_question, scope
from ragweave.app.render import Lines, print_evidence

if TYPE_CHECKING:
    from ragweave.components.context import Context
    from ragweave.components.evidence import Evidence


def search(
    query: Annotated[str, typer.Argument(help="What to look for; `-` reads it from standard input.")],
    library: LibraryOption = None,
    top_k: TopK = None,
    video: Video = None,
    folder: Folder = None,
    from_: From = None,
    to: To = None,
    set_: Set = None,
    as_json: JsonOption = False,
) -> None:
    """List ranked evidence with the lines that match, without answering.

    Exit code 3 when nothing was found.
    """
    context = build_context(library, set_, top_k=top_k, **scope(video, folder, from_, to))
    asked = read_question(query)
    with waiting("Searching ..."):
        found, lines = run(_found(asked, context))
    if as_json:
        print_json(found)
    elif found:
        print_evidence(console(), found, lines)
    else:
        typer.echo("Nothing in this library matches.")
    if not found:
        raise typer.Exit(EXIT_ABSTAINED)


async def _found(query: str, context: Context) -> tuple[list[Evidence], list[Lines]]:
    """Return what was found, and of each the lines that match."""
    from ragweave.components.local.quotes import best_lines
    from ragweave.corpora.store.library import open_library
    from ragweave.models.text import content_terms

    found = await api.asearch(query, context=context)
    idf = await (await open_library(context.library)).idf(content_terms(query))
    lines = [best_lines(query, e["title"], e["text"], idf.__getitem__) for e in found]
    return found, list(lines)
