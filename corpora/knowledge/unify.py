"""One entity of several names, and several entities of one name, over all recordings (VideoRAG, section 3.1.1).

An entity is the digest of its name's normal form. Where a chunk speaks of another kind of thing by that name,
its mention gets a digest of its own; where two names turn out to be of one thing, the mentions of one get the
digest of the other, and the ledger notes for each of their sources how that name is to be looked up. What was
said stays as it was said, and goes with its source.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, delete, select, update

from ragweave.corpora.knowledge.alias import by_rule
from ragweave.corpora.knowledge.facts import Same, ask_all, key_of
from ragweave.corpora.knowledge.graph import EntityGraph, entity_graph
from ragweave.corpora.knowledge.store import NAME, changing
from ragweave.corpora.store import ledger
from ragweave.corpora.store.blobs import CORPUS, entity_space
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.reembed import embed_entities
from ragweave.corpora.store.schema import mentions, relations, stages
from ragweave.corpora.store.stores import Stores
from ragweave.corpora.types import digest
from ragweave.models.embed import Encoder
from ragweave.models.text import clip

NEAREST, ALIKE = 5, 0.5
"""Entities that are compared with a new one, and their least cosine."""
AT_ONCE = 20
"""Pairs that a model is asked about in one call."""
_TOLD = 400
"""Characters of a description that it is shown, and that is compared."""
_KINDS = {
    "person": "person",
    "organisation": "organisation",
    "organization": "organisation",
    "company": "organisation",
    "place": "place",
    "location": "place",
    "geo": "place",
    "city": "place",
    "country": "place",
    "event": "event",
}
"""Types of extraction that tell homonyms apart; all others are things, which models do not type alike twice."""
_CLASSES = ("thing", *dict.fromkeys(_KINDS.values()))

Pair = tuple[str, str]
"""Digests of two entities."""


def keys_of(name: str) -> list[str]:
    """Return the digests that a name may have: its own, and one for each kind of thing that shares it."""
    key = key_of(name)
    return [key, *(digest(key, kind) for kind in _CLASSES)] if key else []


def class_of(kind: str) -> str:
    """Return the kind of thing that a type says, "" where none was given."""
    return _KINDS.get(kind, "thing") if kind else ""


def unify(
    held: Stores, row: LibraryRow, text_encoder: Encoder, sources: Iterable[str], same: Same | None
) -> str:
    """Part the homonyms and join the names of new sources with those of all; the caller holds the writer lock.

    Candidates are the pairs that the stated rule joins, and those nearest to each other by the vectors of
    their names and descriptions, of which a model decides. Entities of another kind are never one. What was
    joined once is joined without asking.

    Returns:
        What could not be decided, in words, or "".
    """
    new = {*sources}
    with changing(held.catalog, row.id) as connection:
        known = connection.execute(
            select(stages.c.item, stages.c.params_hash).where(stages.c.stage == NAME)
        ).all()
        connection.execute(delete(stages).where(stages.c.stage == NAME, stages.c.source.in_(new)))
        _part(connection)
    embed_entities(held, row, text_encoder)
    graph = entity_graph(held.catalog, row.id)
    fresh = {key for key, own in graph.nodes(data="mentions") if any(m.source in new for m in own)}
    alike = _able(graph, fresh, ((key, entity) for key, entity in known if key in graph and entity in graph))
    sure, unsure = by_rule([(key, m.name) for key, own in graph.nodes(data="mentions") for m in own])
    alike += _able(graph, fresh, sure)
    near = _near(held, row, text_encoder, graph, fresh)
    doubted = [pair for pair in _able(graph, fresh, [*unsure, *near]) if pair not in {*alike}]
    replies: list[tuple[Sequence[Pair], set[int]]] = []
    why = ""
    if same is not None:

        async def ask(part: Sequence[Pair]) -> set[int]:
            return await same([(_told(graph, a), _told(graph, b)) for a, b in part])

        replies, why = asyncio.run(ask_all(ask, doubted, AT_ONCE, "names were not compared"))
    alike += [part[n] for part, found in replies for n in sorted(found) if n < len(part)]
    with changing(held.catalog, row.id) as connection:
        for old, entity in _joined(graph, fresh, alike).items():
            _move(connection, old, entity)
    embed_entities(held, row, text_encoder)
    return why


def _part(connection: Connection) -> None:
    """Give a name that another kind of thing had before a digest of its own."""
    first: dict[str, str] = {}
    rows = connection.execute(
        select(
            mentions.c.entity,
            mentions.c.name,
            mentions.c.kind,
            mentions.c.source,
            mentions.c.chunk,
            mentions.c.n,
        )
        .where(mentions.c.kind != "")
        .order_by(mentions.c.n)
    ).all()
    for entity, name, kind, source, chunk, n in rows:
        here = class_of(kind)
        if entity == key_of(name) and first.setdefault(entity, here) != here:
            connection.execute(update(mentions).where(mentions.c.n == n).values(entity=digest(entity, here)))
            in_chunk = (relations.c.source == source) & (relations.c.chunk == chunk)
            _relate(connection, {entity: digest(entity, here)}, in_chunk)


def _classes(graph: EntityGraph, keys: Iterable[str]) -> set[str]:
    """Return the kinds of thing that entities are, as far as they are known."""
    return {class_of(graph.nodes[key]["kind"]) for key in keys} - {""}


def _able(graph: EntityGraph, fresh: set[str], pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs, in order, of which one is new and that are not of different kinds."""
    out: dict[Pair, None] = {}
    for one, other in pairs:
        if one != other and fresh & {one, other} and len(_classes(graph, (one, other))) < 2:
            out[min(one, other), max(one, other)] = None
    return [*out]


def _near(
    held: Stores, row: LibraryRow, text_encoder: Encoder, graph: EntityGraph, fresh: Collection[str]
) -> list[Pair]:
    new = [key for key in graph if key in fresh]
    if not new:
        return []
    asked = text_encoder.texts([_told(graph, key) for key in new])
    hits = held.vectors.query(row.id, CORPUS, entity_space(row.encoder), asked, NEAREST + 1)
    near = [
        (cosine, one, key)
        for one, found in zip(new, hits, strict=True)
        for key, cosine in found
        if key in graph
    ]
    return [(one, other) for cosine, one, other in sorted(near, reverse=True) if cosine >= ALIKE]


def _told(graph: EntityGraph, key: str) -> str:
    node = graph.nodes[key]
    names = list(dict.fromkeys(m.name for m in node["mentions"]))
    kind = f" ({node['kind']})" if node["kind"] else ""
    return f"{' / '.join(names[:3])}{kind}: {clip(node['description'], _TOLD)}".rstrip(": ")


def _joined(graph: EntityGraph, fresh: set[str], pairs: Iterable[Pair]) -> dict[str, str]:
    """Return the entity that each joined one becomes: of a group the one that was there before and is named most."""
    groups = {key: {key} for pair in pairs for key in pair}
    for one, other in pairs:
        both = groups[one] | groups[other]
        if len(_classes(graph, both)) < 2:  # a name of no kind must not join two of different kinds
            groups.update(dict.fromkeys(both, both))

    def rank(key: str) -> tuple[bool, int, str]:
        return key in fresh, -len(graph.nodes[key]["mentions"]), key

    best = {key: min(group, key=rank) for key, group in groups.items()}
    return {key: entity for key, entity in best.items() if key != entity}


def _move(connection: Connection, old: str, entity: str) -> None:
    """Make the mentions and relations of one entity those of another, and note it for each of its sources."""
    said = select(mentions.c.source).where(mentions.c.entity == old).distinct()
    for source in connection.execute(said).scalars().all():
        ledger.mark(connection, source, NAME, entity, old)
    before = (stages.c.stage == NAME) & (stages.c.params_hash == old)
    connection.execute(update(stages).where(before).values(params_hash=entity))
    connection.execute(update(mentions).where(mentions.c.entity == old).values(entity=entity))
    _relate(connection, {old: entity})


def _relate(connection: Connection, moved: Mapping[str, str], *where: ColumnElement[bool]) -> None:
    """Give relations the new digests of their ends, which stay in order; an entity has none with itself."""
    ends = relations.c.head.in_(moved) | relations.c.tail.in_(moved)
    for n, *pair in connection.execute(
        select(relations.c.n, relations.c.head, relations.c.tail).where(ends, *where)
    ):
        head, tail = sorted(moved.get(end, end) for end in pair)
        mine = relations.c.n == n
        change = delete(relations) if head == tail else update(relations).values(head=head, tail=tail)
        connection.execute(change.where(mine))
