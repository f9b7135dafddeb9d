"""Join the names of one entity, and separate entities of one name, over all recordings.

This is section 3.1.1 of VideoRAG. An entity is the digest of its name's normal form. If a chunk uses that
name for another kind of thing, its mention gets another digest. If two names mean one thing, the mentions of
one get the digest of the other, and the ledger notes for each of their sources which entity the name became.
A mention keeps its own words, and is removed with its source.
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
"""Entities that are compared with a new one, and their lowest cosine."""
AT_ONCE = 20
"""Pairs in one call of the model."""
_DESCRIPTION = 400
"""Characters of a description that are embedded and that the model reads."""
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
"""Extracted types that separate homonyms; models vary in all other types, so these count as things."""
_CLASSES = ("thing", *dict.fromkeys(_KINDS.values()))

Pair = tuple[str, str]
"""Digests of two entities."""


def keys_of(name: str) -> list[str]:
    """Return the digests that a name may have: its own, and one for each kind of thing that shares it."""
    key = key_of(name)
    if not key:
        return []
    own = [digest(key, kind) for kind in _CLASSES]
    return [key, *own]


def class_of(kind: str) -> str:
    """Return the kind of thing that a type means, "" if the type is empty."""
    if not kind:
        return ""
    return _KINDS.get(kind, "thing")


def unify(
    held: Stores, row: LibraryRow, text_encoder: Encoder, sources: Iterable[str], same: Same | None
) -> str:
    """Separate homonyms and join the names of new sources with those of all sources.

    The caller holds the writer lock. Candidates are the pairs that the fixed rule joins, and the pairs whose
    names and descriptions have the nearest vectors. A model decides about the latter. Entities of different
    kinds are never joined. Pairs that an earlier run joined are joined again without a model.

    Returns:
        A sentence about what could not be decided, or "".
    """
    new = set(sources)
    joined_before = _reset(held, row, new)
    embed_entities(held, row, text_encoder)
    graph = entity_graph(held.catalog, row.id)
    fresh = _entities_of(graph, new)
    sure, unsure = by_rule(_names(graph))
    alike = _candidates(graph, fresh, joined_before) + _candidates(graph, fresh, sure)
    near = _near(held, row, text_encoder, graph, fresh)
    decided = set(alike)
    doubted = []
    for pair in _candidates(graph, fresh, [*unsure, *near]):
        if pair not in decided:
            doubted.append(pair)
    why = ""
    if same is not None:
        confirmed, why = _confirmed(graph, same, doubted)
        alike += confirmed
    with changing(held.catalog, row.id) as connection:
        for old, entity in _joined(graph, fresh, alike).items():
            _move(connection, old, entity)
    embed_entities(held, row, text_encoder)
    return why


def _reset(held: Stores, row: LibraryRow, new: set[str]) -> list[Pair]:
    """Forget the joined names of new sources and separate homonyms; return the former joined pairs."""
    with changing(held.catalog, row.id) as connection:
        query = select(stages.c.item, stages.c.params_hash).where(stages.c.stage == NAME)
        joined = []
        for key, entity in connection.execute(query):
            joined.append((key, entity))
        connection.execute(delete(stages).where(stages.c.stage == NAME, stages.c.source.in_(new)))
        _separate(connection)
    return joined


def _separate(connection: Connection) -> None:
    """Give a mention a digest of its own if an earlier mention has its name but another kind."""
    first_class: dict[str, str] = {}
    columns = (
        mentions.c.entity,
        mentions.c.name,
        mentions.c.kind,
        mentions.c.source,
        mentions.c.chunk,
        mentions.c.n,
    )
    rows = connection.execute(select(*columns).where(mentions.c.kind != "").order_by(mentions.c.n)).all()
    for entity, name, kind, source, chunk, n in rows:
        if entity != key_of(name):
            continue
        own_class = class_of(kind)
        if first_class.setdefault(entity, own_class) == own_class:
            continue
        separate = digest(entity, own_class)
        connection.execute(update(mentions).where(mentions.c.n == n).values(entity=separate))
        in_chunk = (relations.c.source == source) & (relations.c.chunk == chunk)
        _relate(connection, {entity: separate}, in_chunk)


def _entities_of(graph: EntityGraph, sources: set[str]) -> set[str]:
    """Return the entities that one of the sources mentions."""
    found = set()
    for key, own in graph.nodes(data="mentions"):
        for mention in own:
            if mention.source in sources:
                found.add(key)
                break
    return found


def _names(graph: EntityGraph) -> list[tuple[str, str]]:
    """Return (entity, name) of all mentions."""
    names = []
    for key, own in graph.nodes(data="mentions"):
        for mention in own:
            names.append((key, mention.name))
    return names


def _classes(graph: EntityGraph, keys: Iterable[str]) -> set[str]:
    """Return the known kinds of thing among entities."""
    classes = set()
    for key in keys:
        found = class_of(graph.nodes[key]["kind"])
        if found:
            classes.add(found)
    return classes


def _candidates(graph: EntityGraph, fresh: set[str], pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs of entities of the graph that may be joined, in order.

    At least one of a pair is new, and the two are not of different kinds.
    """
    out: dict[Pair, None] = {}
    for one, other in pairs:
        if one == other or one not in graph or other not in graph:
            continue
        if one not in fresh and other not in fresh:
            continue
        if len(_classes(graph, (one, other))) < 2:
            out[min(one, other), max(one, other)] = None
    return list(out)


def _near(
    held: Stores, row: LibraryRow, text_encoder: Encoder, graph: EntityGraph, fresh: Collection[str]
) -> list[Pair]:
    """Return the pairs of a new entity and one with a near vector, the nearest first."""
    new = []
    labels = []
    for key in graph:
        if key in fresh:
            new.append(key)
            labels.append(_label(graph, key))
    if not new:
        return []
    vectors = text_encoder.texts(labels)
    hits = held.vectors.query(row.id, CORPUS, entity_space(row.encoder), vectors, NEAREST + 1)
    near = []
    for one, found in zip(new, hits, strict=True):
        for key, cosine in found:
            if key in graph and cosine >= ALIKE:
                near.append((cosine, one, key))
    near.sort(reverse=True)
    return [(one, other) for _, one, other in near]


def _confirmed(graph: EntityGraph, same: Same, pairs: Sequence[Pair]) -> tuple[list[Pair], str]:
    """Return the pairs that a model takes for one entity, and a sentence about pairs left undecided."""

    async def ask(part: Sequence[Pair]) -> set[int]:
        return await same([(_label(graph, one), _label(graph, other)) for one, other in part])

    replies, why = asyncio.run(ask_all(ask, pairs, AT_ONCE, "names were not compared"))
    confirmed = []
    for part, numbers in replies:
        for n in sorted(numbers):
            if n < len(part):
                confirmed.append(part[n])
    return confirmed, why


def _label(graph: EntityGraph, key: str) -> str:
    """Return the names, the type and the description of an entity, as a model reads them."""
    node = graph.nodes[key]
    mentioned = [mention.name for mention in node["mentions"]]
    names = list(dict.fromkeys(mentioned))
    kind = f" ({node['kind']})" if node["kind"] else ""
    return f"{' / '.join(names[:3])}{kind}: {clip(node['description'], _DESCRIPTION)}".rstrip(": ")


def _joined(graph: EntityGraph, fresh: set[str], pairs: Iterable[Pair]) -> dict[str, str]:
    """Return the entity that each joined entity becomes.

    Of a group, that is an entity that existed before, with the most mentions.
    """
    groups: dict[str, set[str]] = {}
    for pair in pairs:
        for key in pair:
            groups[key] = {key}
    for one, other in pairs:
        both = groups[one] | groups[other]
        if len(_classes(graph, both)) < 2:  # An entity of no kind must not join two of different kinds.
            groups.update(dict.fromkeys(both, both))

    def rank(key: str) -> tuple[bool, int, str]:
        return key in fresh, -len(graph.nodes[key]["mentions"]), key

    moves = {}
    for key, group in groups.items():
        entity = min(group, key=rank)
        if entity != key:
            moves[key] = entity
    return moves


def _move(connection: Connection, old: str, entity: str) -> None:
    """Give the mentions and relations of one entity to another, and note that for each of its sources."""
    query = select(mentions.c.source).where(mentions.c.entity == old).distinct()
    for source in connection.execute(query).scalars().all():
        ledger.mark(connection, source, NAME, entity, old)
    before = (stages.c.stage == NAME) & (stages.c.params_hash == old)
    connection.execute(update(stages).where(before).values(params_hash=entity))
    connection.execute(update(mentions).where(mentions.c.entity == old).values(entity=entity))
    _relate(connection, {old: entity})


def _relate(connection: Connection, moved: Mapping[str, str], *where: ColumnElement[bool]) -> None:
    """Give relations the new digests of their ends, in order; remove relations of an entity to itself."""
    ends = relations.c.head.in_(moved) | relations.c.tail.in_(moved)
    query = select(relations.c.n, relations.c.head, relations.c.tail).where(ends, *where)
    for n, *pair in connection.execute(query):
        head, tail = sorted([moved.get(pair[0], pair[0]), moved.get(pair[1], pair[1])])
        this = relations.c.n == n
        if head == tail:
            connection.execute(delete(relations).where(this))
        else:
            connection.execute(update(relations).where(this).values(head=head, tail=tail))
