"""`ragweave search`: ranked evidence without an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
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
    from ragweave.corpora.types import Item


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
    """List ranked evidence with the lines that match, without an answer.

    Exit code 3 if nothing was found.
    """
    context = build_context(library, set_, top_k=top_k, **scope(source, folder, from_, to))
    query = read_question(query)
    with waiting("Searching ..."):
        found, lines = run(passages_for(query, context))
    if as_json:
        print_json(found)
    elif found:
        print_evidence(console(), found, lines)
    elif run(_has_items(context.library)):
        typer.echo("Nothing in this library matches.")
    else:
        typer.echo(fill_it(context.library))
    if not found:
        raise typer.Exit(EXIT_ABSTAINED)


async def _has_items(name: str) -> bool:
    from ragweave.corpora.store.library import open_library

    library = await open_library(name)
    return bool(await library.counts())


async def passages_for(query: str, context: Context) -> tuple[list[Evidence], list[Lines]]:
    """Return ranked passages, each with its lines that match the query.

    First come the passages that extractive mode would quote, in its order, then the other results. A whole
    document is left out if a passage of its file is listed.
    """
    from ragweave.components.local.quotes import named_by, quotes
    from ragweave.components.local.surroundings import read_with_surroundings
    from ragweave.corpora.store.library import open_library
    from ragweave.models.text import content_terms

    library = await open_library(context.library)
    idf = await library.idf(content_terms(query))
    rows: dict[str, Evidence] = {}
    for row in await api.asearch(query, context=context):
        rows[row["id"]] = row
    read = await asyncio.to_thread(read_with_surroundings, library, list(rows.values()))
    named = await asyncio.to_thread(named_by, library, query)
    chosen = await asyncio.to_thread(quotes, query, read, idf.__getitem__, most=context.kept, named=named)
    found: dict[str, tuple[Evidence, Lines]] = {}
    for quoted in chosen:
        row = rows.get(quoted.item.id) or _neighbour(quoted.item, query, rows, context)
        found.setdefault(row["id"], (row, (quoted.text, quoted.marked)))
    quoted_files = {row["locator"].get("file") for row, _ in found.values()}
    for row in rows.values():
        if row["corpus"] != "document" or row["locator"].get("file") not in quoted_files:
            found.setdefault(row["id"], (row, ("", ())))
    kept = list(found.values())[: context.kept]
    return [row for row, _ in kept], [lines for _, lines in kept]


def _neighbour(item: Item, query: str, rows: Mapping[str, Evidence], context: Context) -> Evidence:
    """Return the evidence for an item that was not found itself, but is near a result or a part of it.

    It gets the scores of the first result of its file. If its corpus is excluded, that result is returned.
    """
    from ragweave.components.passages import evidence_of

    results = list(rows.values())
    near = results[0]
    for row in results:
        if row["locator"].get("file") == item.locator.get("file"):
            near = row
            break
    if context.corpora and item.corpus not in context.corpora:
        return near
    return evidence_of(item, query, near["hop"], near["score"], near["relevance"])
