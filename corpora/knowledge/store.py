"""Store the rows of the knowledge graph in the catalog: written chunk by chunk, removed with their source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, delete, select

from ragweave.corpora.knowledge.facts import Facts
from ragweave.corpora.store import ledger
from ragweave.corpora.store.blobs import CORPUS
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.schema import add, bump, items, mentions, relations, stages

EXTRACT, WHOLE = "extract", "graph"
"""Stages in the ledger: one chunk of a source, and the source as a whole."""
NAME = "name"
"""Stage in the ledger: the digest of a name that is no longer its own entity, and the new entity."""


@contextmanager
def changing(catalog: Catalog, library: str) -> Iterator[Connection]:
    """Begin a transaction that changes the graph and starts a new generation for readers."""
    with catalog.writing(library) as connection:
        yield connection
        bump(connection)


def put(catalog: Catalog, library: str, source: str, chunk: str, facts: Facts, params: str) -> None:
    """Replace what a chunk says and mark it as read, in one transaction."""
    common: dict[str, Any] = {"source": source, "chunk": chunk}
    mention_rows = []
    for key, entity in facts.entities.items():
        mention_rows.append({**common, "entity": key, **asdict(entity)})
    relation_rows = []
    for (head, tail), relation in facts.relations.items():
        relation_rows.append({**common, **asdict(relation), "head": head, "tail": tail})
    with changing(catalog, library) as connection:
        _clear(connection, source, [chunk])
        add(connection, mentions, mention_rows)
        add(connection, relations, relation_rows)
        ledger.mark(connection, source, EXTRACT, params, chunk)


def _clear(connection: Connection, source: str, chunks: Sequence[str]) -> None:
    """Remove the rows of chunks, and the merged descriptions that depend on their source."""
    ledger.forget_merged(connection, source)
    for table in (mentions, relations):
        connection.execute(delete(table).where(table.c.source == source, table.c.chunk.in_(chunks)))


def marked(catalog: Catalog, library: str, stage: str) -> dict[tuple[str, str], str]:
    """Return the parameters under which a stage is done, by (source, item)."""
    query = select(stages.c.source, stages.c.item, stages.c.params_hash).where(stages.c.stage == stage)
    with catalog.reading(library) as connection:
        found = {}
        for source, item, params in connection.execute(query):
            found[source, item] = params
        return found


def contents(catalog: Catalog, library: str) -> dict[str, str]:
    """Return a digest of the clips of each source; it changes if any of them changes."""
    query = select(items.c.source, items.c.id).where(items.c.corpus == CORPUS).order_by(items.c.n)
    found: dict[str, hashlib._Hash] = {}
    with catalog.reading(library) as connection:
        for source, item in connection.execute(query):
            found.setdefault(source, hashlib.sha256()).update(item.encode())
    result: dict[str, str] = {}
    for source, digest in found.items():
        result[source] = digest.hexdigest()[:16]
    return result


def forget_others(catalog: Catalog, library: str, source: str, chunks: Iterable[str]) -> None:
    """Remove the rows of a source's chunks that no longer exist."""
    mentioned = select(mentions.c.chunk).where(mentions.c.source == source)
    extracted = (stages.c.source == source) & (stages.c.stage == EXTRACT)
    with changing(catalog, library) as connection:
        query = mentioned.union(select(stages.c.item).where(extracted))
        known = set(connection.execute(query).scalars())
        gone = sorted(known - set(chunks))
        _clear(connection, source, gone)
        connection.execute(delete(stages).where(extracted, stages.c.item.in_(gone)))
