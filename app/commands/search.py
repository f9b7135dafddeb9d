"""`ragweave search`: ranked evidence without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragweave.app import api
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
from ragweave.app.commands.options import Folder, From, Set, To, TopK, Video, build_context, read_question, scope
from ragweave.app.render import Lines, print_evidence

if TYPE_CHECKING:
    from ragweave.components.context import Context
    from ragweave.components.evidence import Evidence
    from ragweave.corpora.store.library import Library


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
        typer.echo("Nothing in this library matches." if run(_holds(context.library)) else fill_it(context.library))
    if not found:
        raise typer.Exit(EXIT_ABSTAINED)


async def _holds(library: str) -> bool:
    from ragweave.corpora.store.library import open_library

    return bool(await (await open_library(library)).counts())


async def _found(query: str, context: Context) -> tuple[list[Evidence], list[Lines]]:
    """Return what was found, and of each the lines that match; a document as the passage of it in which they stand."""
    from ragweave.components.local.quotes import best_lines
    from ragweave.corpora.store.library import open_library
    from ragweave.models.text import content_terms

    library = await open_library(context.library)
    idf = await library.idf(content_terms(query))
    deeper = context.model_copy(update={"top_k": min(2 * context.kept, 50)})  # two may become one
    found: dict[str, tuple[Evidence, Lines]] = {}
    for row in await api.asearch(query, context=deeper):
        lines = best_lines(query, row["title"], row["text"], idf.__getitem__)
        if row["corpus"] == "document" and "paragraph" in (context.corpora or ("paragraph",)):
            row = await _passage(library, row, lines)
            lines = best_lines(query, row["title"], row["text"], idf.__getitem__)
        found.setdefault(row["id"], (row, lines))
    kept = [*found.values()][: context.kept]
    return [row for row, _ in kept], [lines for _, lines in kept]


async def _passage(library: Library, row: Evidence, lines: Lines) -> Evidence:
    """Return the paragraph of a document that holds the best of its lines, as evidence; the row where none does."""
    from ragweave.components.passages import evidence_of

    text, marked = lines
    best = " ".join(text[slice(*marked or (0, 0))].removesuffix("…").split())
    if not best:
        return row
    document = (await library.items([row["id"]]))[row["id"]]
    for part in await library.items_of(document.source, "paragraph"):
        if best in " ".join("\n".join((*part.heading, part.text)).split()):
            return evidence_of(part, row["query"], row["hop"], row["score"], row["relevance"])
    return row
