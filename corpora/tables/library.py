"""The list of files of a library as a table."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import PurePath

from sqlalchemy import func, select

from ragweave.corpora.store.library import Library
from ragweave.corpora.store.schema import in_parts, items
from ragweave.corpora.store.tables import KeptTable, Row, TableColumn, packed
from ragweave.corpora.tables.keep import MOST_ROWS

NAME = "library"
COLUMNS = tuple(
    TableColumn(name, name, kind)
    for name, kind in (
        ("file", "text"),
        ("folder", "text"),
        ("title", "text"),
        ("kind", "text"),
        ("date", "date"),
        ("added", "date"),
        ("pages", "integer"),
        ("status", "text"),
        ("source", "text"),
    )
)
"""`date` is the document's own, `added` when it was indexed (UTC), `status` is ok, partial or failed."""
_PART = 1_000


async def library_table(library: Library, within: Collection[str] = ()) -> tuple[KeptTable, list[bytes]]:
    """Return the files of a library as a table and its packed rows; `within` limits them by source id."""
    rows = await asyncio.to_thread(_rows, library, within)
    table = KeptTable(NAME, COLUMNS, "", len(rows))
    return table, [] if len(rows) > MOST_ROWS else [packed(part) for part in in_parts(rows, _PART)]


def _rows(library: Library, within: Collection[str]) -> list[Row]:
    catalog = library.held.catalog
    page = func.max(items.c.locator["page"].as_integer())
    with catalog.reading(library.id) as connection:
        found = connection.execute(select(items.c.source, page).group_by(items.c.source))
        pages: dict[str, int | None] = {row[0]: row[1] for row in found}
        known = catalog.sources(library.id)
    out: list[Row] = []
    for source in known:
        if within and source.id not in within:
            continue
        date = source.date.date().isoformat() if source.date else None
        added = source.indexed_at[:16].replace("T", " ")
        for path in source.paths or (source.path,):
            where = PurePath(path)
            about = (
                source.title,
                source.kind or None,
                date,
                added,
                pages.get(source.id),
                source.status,
                source.id,
            )
            # A server shows no paths of its machine: the name of the folder alone.
            out.append((0, 0, where.name, where.parent.name, *about))
    return out
