"""What an index of vectors lacks of the catalog, or holds that is gone from it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, Table, func, select

from ragweave.corpora.store.blobs import SEEN, entity_space
from ragweave.corpora.store.chroma import Index
from ragweave.corpora.store.chroma_rows import CollectionChange
from ragweave.corpora.store.schema import about, in_parts, vectors


def rows_of(table: Table, corpus: str, space: str) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that choose the rows of a corpus in a space."""
    return table.c.space == space, table.c.corpus == corpus


def _groups(connection: Connection) -> list[tuple[str, str, int, int]]:
    """Return space, corpus, last row and number of the vectors that questions ask for."""
    encoder = connection.execute(select(about.c.encoder)).scalar_one()
    query = select(vectors.c.space, vectors.c.corpus, func.max(vectors.c.n), func.count())
    rows = connection.execute(query.group_by(vectors.c.space, vectors.c.corpus)).all()
    asked = (encoder, entity_space(encoder))
    found: list[tuple[str, str, int, int]] = []
    for row in rows:
        if row[0] in asked or row[0].startswith(SEEN):
            found.append((row[0], row[1], int(row[2]), int(row[3])))
    return found


def changes_of(connection: Connection, rows: Sequence[Index]) -> list[CollectionChange]:
    """Return what the collections of these rows lack of the catalog; those of others lack all."""
    old = {}
    for row in rows:
        old[row["space"], row["corpus"]] = row
    changes = []
    for space, corpus, upto, count in _groups(connection):
        known = old.get((space, corpus))
        living = after = gone = 0
        if known is not None:
            living = living_of(connection, known)
            after = int(known["upto"])
            gone = known["count"] - living
        changes.append(CollectionChange(space, corpus, after, max(upto, after), count, count - living, gone))
    return changes


def living_of(connection: Connection, index: Index) -> int:
    """Return how many rows of an index are in the catalog as they were when it was made."""
    query = select(func.count()).where(
        *rows_of(vectors, index["corpus"], index["space"]), vectors.c.n <= index["upto"]
    )
    return int(connection.execute(query).scalar_one())


def alive_of(connection: Connection, index: Index, items: set[str]) -> set[str]:
    """Return the ids of chunks of items that are in the catalog as they were when the index was made."""
    found: set[str] = set()
    mine = (*rows_of(vectors, index["corpus"], index["space"]), vectors.c.n <= index["upto"])
    for part in in_parts(sorted(items)):
        query = select(vectors.c.item, vectors.c.part).where(*mine, vectors.c.item.in_(part))
        for item, number in connection.execute(query):
            found.add(f"{item}~{number}")
    return found
