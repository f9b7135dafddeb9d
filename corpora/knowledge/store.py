"""Rows of the knowledge graph in the catalog: written chunk by chunk, and gone with their source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict

from sqlalchemy import Connection, delete, select

from ragweave.corpora.knowledge.facts import Facts
from ragweave.corpora.store import ledger
from ragweave.corpora.store.blobs import CORPUS
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.schema import add, bump, items, mentions, relations, stages

EXTRACT, WHOLE = "extract", "graph"
"""Stages in the ledger: one chunk of a source, and the source as a whole."""
NAME = "name"
"""Stage in the ledger: a digest of a name that is no entity of its own any more, and the entity that it is."""


@contextmanager
def changing(catalog: Catalog, library: str) -> Iterator[Connection]:
    """Begin a transaction that changes the graph; readers see it as another generation."""
    with catalog.writing(library) as connection:
        yield connection
        bump(connection)


def put(catalog: Catalog, library: str, source: str, chunk: str, facts: Facts, params: str) -> None:
    """Store what a chunk says in place of what it said before, and that it was read; all or nothing."""
    common = {"source": source, "chunk": chunk}
    said = [{**common, "entity": key, **asdict(e)} for key, e in facts.entities.items()]
    joined = [
        {**common, **asdict(r), "head": head, "tail": tail} for (head, tail), r in facts.relations.items()
    ]
    with changing(catalog, library) as connection:
        _clear(connection, source, [chunk])
        for table, rows in ((mentions, said), (relations, joined)):
            add(connection, table, rows)
        ledger.mark(connection, source, EXTRACT, params, chunk)


def _clear(connection: Connection, source: str, chunks: Sequence[str]) -> None:
    ledger.forget_merged(connection, source)
    for table in (mentions, relations):
        connection.execute(delete(table).where(table.c.source == source, table.c.chunk.in_(chunks)))


def marked(catalog: Catalog, library: str, stage: str) -> dict[tuple[str, str], str]:
    """Return the parameters under which a stage is done, by (source, item)."""
    query = select(stages.c.source, stages.c.item, stages.c.params_hash).where(stages.c.stage == stage)
    with catalog.reading(library) as connection:
        return {(row[0], row[1]): row[2] for row in connection.execute(query)}


def contents(catalog: Catalog, library: str) -> dict[str, str]:
    """Return a digest of the clips of each source; it changes when any of them does."""
    query = select(items.c.source, items.c.id).where(items.c.corpus == CORPUS).order_by(items.c.n)
    found: dict[str, hashlib._Hash] = {}
    with catalog.reading(library) as connection:
        for source, id_ in connection.execute(query):
            found.setdefault(source, hashlib.sha256()).update(id_.encode())
    return {source: digest.hexdigest()[:16] for source, digest in found.items()}


def forget_others(catalog: Catalog, library: str, source: str, chunks: Iterable[str]) -> None:
    """Remove what a source said in chunks that it has no more."""
    said = select(mentions.c.chunk).where(mentions.c.source == source)
    mine = (stages.c.source == source) & (stages.c.stage == EXTRACT)
    with changing(catalog, library) as connection:
        known = connection.execute(said.union(select(stages.c.item).where(mine))).scalars()
        gone = sorted(set(known) - set(chunks))
        _clear(connection, source, gone)
        connection.execute(delete(stages).where(mine, stages.c.item.in_(gone)))
