"""`ragweave search`: ranked evidence without an answer."""

from __future__ import annotations

import asyncio
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
    """Return the passages that extractive mode would quote, in its order, further ones, and what holds no words."""
    from ragweave.components.local.quotes import named_by, quotes
    from ragweave.components.local.surroundings import read_with_surroundings
    from ragweave.components.passages import evidence_of
    from ragweave.corpora.store.library import open_library
    from ragweave.models.text import content_terms

    library = await open_library(context.library)
    idf = await library.idf(content_terms(query))
    rows = {row["id"]: row for row in await api.asearch(query, context=context)}
    read = await asyncio.to_thread(read_with_surroundings, library, [*rows.values()])
    found: dict[str, tuple[Evidence, Lines]] = {}
    named = await asyncio.to_thread(named_by, library, query)
    chosen = await asyncio.to_thread(quotes, query, read, idf.__getitem__, most=context.kept, named=named)
    for quoted in chosen:
        item = quoted.item
        row = rows.get(item.id)
        if row is None:  # a neighbour of what was found, or a part of it
            here = (r for r in rows.values() if r["locator"].get("file") == item.locator.get("file"))
            row = next(here, next(iter(rows.values())))
            if not context.corpora or item.corpus in context.corpora:
                row = evidence_of(item, query, row["hop"], row["score"], row["relevance"])
        found.setdefault(row["id"], (row, (quoted.text, quoted.marked)))
    files = {row["locator"].get("file") for row, _ in found.values()}
    for row in rows.values():
        if not (row["corpus"] == "document" and row["locator"].get("file") in files):
            found.setdefault(row["id"], (row, ("", ())))
    kept = [*found.values()][: context.kept]
    return [row for row, _ in kept], [lines for _, lines in kept]
