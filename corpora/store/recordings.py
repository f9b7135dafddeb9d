"""Recordings in the catalog: all of them, and the clips of one source in order."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Engine, select

from ragweave.corpora.store.catalog import paths_of
from ragweave.corpora.store.rows import unpack
from ragweave.corpora.store.schema import items
from ragweave.corpora.types import Corpus, Item


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording of a library: a source may hold several.

    Attributes:
        id: id of its item in the corpus `video`.
        source: id of its source.
        title: its title.
        end: its length in seconds.
    """

    id: str
    source: str
    title: str
    end: float


def recordings(engine: Engine, library: str) -> list[Recording]:
    """Return every recording, in the order of the titles."""
    query = select(items.c.id, items.c.source, items.c.title, items.c.locator).where(
        items.c.library == library, items.c.corpus == "video"
    )
    with engine.begin() as connection:
        rows = connection.execute(query.order_by(items.c.title, items.c.id)).all()
    return [Recording(i, source, title, float(locator.get("end", 0.0))) for i, source, title, locator in rows]


def items_of(engine: Engine, library: str, source: str, corpus: Corpus) -> list[Item]:
    """Return the items of a source in one corpus, in order."""
    query = select(items).where(items.c.library == library, items.c.source == source, items.c.corpus == corpus)
    with engine.begin() as connection:
        rows = connection.execute(query.order_by(items.c.ordinal, items.c.n)).mappings().all()
        where = paths_of(connection, library, {source}).get(source)
    return [unpack(row, where[0] if where else None) for row in rows]
