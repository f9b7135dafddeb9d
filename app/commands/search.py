"""`ragweave search`: ranked evidence without an answer."""

from __future__ import annotations

from typing import Annotated

import typer

from ragweave.app import api
from ragweave.app.commands.common import EXIT_ABSTAINED, JsonOption, LibraryOption, console, print_json, run
from ragweave.app.commands.options import Folder, From, Set, To, TopK, Video, build_context, read_question, scope
from ragweave.app.render import print_evidence


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
    """List ranked evidence without answering.

    Exit code 3 when nothing was found.
    """
    context = build_context(library, set_, top_k=top_k, **scope(video, folder, from_, to))
    found = run(api.asearch(read_question(query), context=context))
    if as_json:
        print_json(found)
    elif found:
        print_evidence(console(), found)
    else:
        typer.echo("Nothing in this library matches.")
    if not found:
        raise typer.Exit(EXIT_ABSTAINED)
