"""Rows of the knowledge graph in the catalog: written chunk by chunk, and gone with their source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, func, select
from sqlalchemy.dialects.sqlite import insert

from ragweave.corpora.knowledge.facts import Facts, key_of
from ragweave.corpora.store.blobs import entity_space
from ragweave.corpora.store.catalog import LibraryRow, now
from ragweave.corpora.store.schema import aliases, items, mentions, relations, stages, write
from ragweave.corpora.store.stores import Stores
from ragweave.corpora.types import Corpus
from ragweave.models.embed import Encoder
from ragweave.models.text import clip

EXTRACT, WHOLE = "extract", "graph"
"""Stages in the ledger: one chunk of a source, and the source as a whole."""
APART = "apart"
"""Reason of a pair that must not be joined."""
_MANY = 5_000


@dataclass(frozen=True, slots=True)
class Named:
    """An entity over the whole library.

    Attributes:
        key: digest of its name's normal form.
        name: the spelling that most chunks use.
        kind: the type that most chunks give, or empty.
        chunks: number of chunks that speak of it.
        sources: number of sources.
    """

    key: str
    name: str
    kind: str
    chunks: int
    sources: int


def put(engine: Engine, library: str, source: str, chunk: str, facts: Facts, params: str) -> None:
    """Store what a chunk says in place of what it said before, and that it was read; all or nothing."""
    with write(engine) as connection:
        _clear(connection, library, source, [chunk])
        rows = [
            {
                "library": library,
                "source": source,
                "chunk": chunk,
                "entity": key,
                "name": e.name,
                "kind": e.kind,
                "description": e.description,
                "items": [[item, n] for item, n in e.items],
            }
            for key, e in facts.entities.items()
        ]
        if rows:
            connection.execute(mentions.insert(), rows)
        pairs = [
            {
                "library": library,
                "source": source,
                "chunk": chunk,
                "head": head,
                "tail": tail,
                "description": r.description,
                "weight": r.weight,
            }
            for (head, tail), r in facts.relations.items()
        ]
        if pairs:
            connection.execute(relations.insert(), pairs)
        mark(connection, library, source, chunk, EXTRACT, "done", params)


def mark(
    connection: Connection, library: str, source: str, item: str, stage: str, status: str, params: str, error: str = ""
) -> None:
    """Write a row of the ledger."""
    row = {"library": library, "source": source, "item": item, "stage": stage}
    new = {"params_hash": params, "status": status, "error": error, "at": now()}
    statement = insert(stages).values({**row, **new})
    connection.execute(statement.on_conflict_do_update(index_elements=list(row), set_=new))


def marked(engine: Engine, library: str, stage: str, source: str | None = None) -> dict[tuple[str, str], str]:
    """Return the parameters under which a stage is done, by (source, item)."""
    query = select(stages.c.source, stages.c.item, stages.c.params_hash).where(
        stages.c.library == library, stages.c.stage == stage, stages.c.status == "done"
    )
    if source is not None:
        query = query.where(stages.c.source == source)
    with engine.begin() as connection:
        return {(row[0], row[1]): row[2] for row in connection.execute(query)}


def contents(engine: Engine, library: str, corpus: Corpus) -> dict[str, str]:
    """Return a digest of the items of each source in a corpus; it changes when any of them does."""
    query = (
        select(items.c.source, items.c.id)
        .where(items.c.library == library, items.c.corpus == corpus)
        .order_by(items.c.source, items.c.n)
    )
    found: dict[str, hashlib._Hash] = {}
    with engine.begin() as connection:
        for source, id_ in connection.execute(query):
            found.setdefault(source, hashlib.sha256()).update(id_.encode())
    return {source: digest.hexdigest()[:16] for source, digest in found.items()}


def forget_others(engine: Engine, library: str, source: str, chunks: Iterable[str]) -> int:
    """Remove what a source said in chunks that it has no more; return how many those were."""
    kept = set(chunks)
    query = select(mentions.c.chunk).where(mentions.c.library == library, mentions.c.source == source).distinct()
    read = select(stages.c.item).where(
        stages.c.library == library, stages.c.source == source, stages.c.stage == EXTRACT
    )
    with write(engine) as connection:
        known = {*connection.execute(query).scalars(), *connection.execute(read).scalars()}
        gone = sorted(known - kept)
        _clear(connection, library, source, gone)
        for part in _parts(gone):
            mine = (stages.c.library == library) & (stages.c.source == source) & (stages.c.stage == EXTRACT)
            connection.execute(delete(stages).where(mine, stages.c.item.in_(part)))
    return len(gone)


def _clear(connection: Connection, library: str, source: str, chunks: Sequence[str]) -> None:
    for table in (mentions, relations):
        for part in _parts(chunks):
            mine = (table.c.library == library) & (table.c.source == source)
            connection.execute(delete(table).where(mine, table.c.chunk.in_(part)))


def named(engine: Engine, library: str, keys: Sequence[str] | None = None) -> dict[str, Named]:
    """Return the entities of a library, all or some, by their digest."""
    votes: dict[str, dict[str, dict[str, int]]] = {}
    counts: dict[str, tuple[int, set[str]]] = {}
    with engine.begin() as connection:
        for part in [None] if keys is None else _parts(list(keys)):
            query = (
                select(mentions.c.entity, mentions.c.name, mentions.c.kind, mentions.c.source, func.count())
                .where(mentions.c.library == library)
                .group_by(mentions.c.entity, mentions.c.name, mentions.c.kind, mentions.c.source)
            )
            if part is not None:
                query = query.where(mentions.c.entity.in_(part))
            for key, name, kind, source, n in connection.execute(query):
                held = votes.setdefault(key, {"name": {}, "kind": {}})
                held["name"][name] = held["name"].get(name, 0) + n
                held["kind"][kind] = held["kind"].get(kind, 0) + (n if kind else 0)
                total, seen = counts.get(key, (0, set()))
                counts[key] = (total + n, seen | {source})
    return {
        key: Named(key, _most(held["name"]), _most(held["kind"]), counts[key][0], len(counts[key][1]))
        for key, held in votes.items()
    }


def _most(votes: Mapping[str, int]) -> str:
    return max(sorted(votes), key=lambda v: (votes[v], bool(v)))


def descriptions(engine: Engine, library: str, keys: Sequence[str]) -> dict[str, list[str]]:
    """Return the distinct descriptions of entities, in the order in which they were stored."""
    found: dict[str, dict[str, None]] = {}
    with engine.begin() as connection:
        for part in _parts(list(keys)):
            query = select(mentions.c.entity, mentions.c.description).where(
                mentions.c.library == library, mentions.c.entity.in_(part), mentions.c.description != ""
            )
            for key, text in connection.execute(query.order_by(mentions.c.n)):
                found.setdefault(key, {}).setdefault(text)
    return {key: list(texts) for key, texts in found.items()}


def pairs_of(engine: Engine, library: str) -> list[tuple[str, str, str]]:
    """Return every pair of names of one entity, with its reason, and the pairs that stay apart."""
    query = select(aliases.c.one, aliases.c.other, aliases.c.reason).where(aliases.c.library == library)
    with engine.begin() as connection:
        return [(row[0], row[1], row[2]) for row in connection.execute(query.order_by(aliases.c.one, aliases.c.other))]


def put_pairs(engine: Engine, library: str, pairs: Iterable[tuple[str, str, str]]) -> None:
    """Put pairs in place of those found before; pairs that were set apart stay so."""
    with write(engine) as connection:
        connection.execute(delete(aliases).where(aliases.c.library == library, aliases.c.reason != APART))
        rows = [{"library": library, "one": a, "other": b, "reason": why} for a, b, why in pairs]
        if rows:
            connection.execute(insert(aliases).on_conflict_do_nothing(), rows)


def set_apart(engine: Engine, library: str, one: str, other: str) -> None:
    """Keep two names from being one entity, now and in later runs."""
    a, b = sorted((key_of(one), key_of(other)))
    row = {"library": library, "one": a, "other": b, "reason": APART}
    statement = insert(aliases).values(row)
    with write(engine) as connection:
        keys = ["library", "one", "other"]
        connection.execute(statement.on_conflict_do_update(index_elements=keys, set_={"reason": APART}))


def _parts(values: Sequence[str]) -> list[Sequence[str]]:
    return [values[i : i + _MANY] for i in range(0, len(values), _MANY)]


CORPUS: Corpus = "clip"
"""Corpus under whose name they lie; their space tells them from the clips' own."""
_AT_ONCE = 2_000
_TEXT = 400


def vector_id(entity: str, source: str) -> str:
    """Return the id of the vector of an entity as one source speaks of it."""
    return f"{entity}~{source}"


def refresh(held: Stores, row: LibraryRow, mind: Encoder) -> int:
    """Make the vectors that are missing and remove those that nothing mentions any more; return how many were made.

    The caller holds the writer lock. Vectors that were lost, or never made because of a kill, come back here.
    """
    space = entity_space(row.encoder)
    wanted = _texts(held, row.id)
    stored = set(held.vectors.ids(row.id, CORPUS, space))
    missing = sorted(wanted.keys() - stored)
    for start in range(0, len(missing), _AT_ONCE):
        some = missing[start : start + _AT_ONCE]
        made = mind.texts([wanted[i] for i in some])
        held.vectors.put(row.id, CORPUS, space, some, [i.partition("~")[2] for i in some], made)
    held.vectors.discard(row.id, CORPUS, space, sorted(stored - wanted.keys()))
    return len(missing)


def _texts(held: Stores, library: str) -> dict[str, str]:
    """Return what is embedded, by vector id: the name, and the first thing that the source says about it."""
    query = (
        select(mentions.c.entity, mentions.c.source, mentions.c.name, mentions.c.description)
        .where(mentions.c.library == library)
        .order_by(mentions.c.n)
    )
    found: dict[str, str] = {}
    with held.catalog.engine(library).begin() as connection:
        for entity, source, name, description in connection.execute(query):
            found.setdefault(vector_id(entity, source), clip(f"{name}. {description}".strip(), _TEXT))
    return found
