"""One entity of several names, and several entities of one name, over all recordings (VideoRAG, section 3.1.1).

An entity is the digest of its name's normal form. Where a chunk speaks of another kind of thing by that name, its
mention gets a digest of its own; where two names turn out to be of one thing, the mentions of one get the digest of the
other, and the ledger notes for each of their sources how that name is to be looked up. What was said stays as it was
said, and goes with its source.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Connection, delete, select, update

from ragweave.corpora.knowledge.alias import by_rule
from ragweave.corpora.knowledge.describe import described, merged_of
from ragweave.corpora.knowledge.facts import Same, key_of
from ragweave.corpora.store import ledger
from ragweave.corpora.store.blobs import CORPUS, entity_space
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.reembed import embed_entities
from ragweave.corpora.store.schema import in_parts, mentions, relations, stages
from ragweave.corpora.store.stores import Stores
from ragweave.corpora.types import digest
from ragweave.models.embed import Encoder
from ragweave.models.errors import RagweaveError
from ragweave.models.text import clip

NAME = "name"
"""Stage in the ledger: a digest of a name that is no entity of its own any more, and the entity that it is."""
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


@dataclass(frozen=True, slots=True)
class EntityNode:
    """An entity: its names as they were said, its type, what is said of it, how often, and by a new source."""

    key: str
    names: tuple[str, ...]
    kind: str
    description: str
    spread: int
    new: bool


def keys_of(name: str) -> list[str]:
    """Return the digests that a name may have: its own, and one for each kind of thing that shares it."""
    key = key_of(name)
    return [key, *(digest(key, kind) for kind in _CLASSES)] if key else []


def class_of(kind: str) -> str:
    """Return the kind of thing that a type says, "" where none was given."""
    return _KINDS.get(kind, "thing") if kind else ""


def entities_of(connection: Connection, keys: Iterable[str]) -> dict[str, str]:
    """Return which entity each of these digests is by now, of those that were joined with another."""
    query = select(stages.c.item, stages.c.params_hash).where(stages.c.stage == NAME)
    found = (connection.execute(query.where(stages.c.item.in_(part))) for part in in_parts([*keys]))
    return {item: entity for rows in found for item, entity in rows}


def unify(held: Stores, row: LibraryRow, text_encoder: Encoder, sources: Iterable[str], same: Same | None) -> str:
    """Part the homonyms and join the names of new sources with those of all; the caller holds the writer lock.

    Candidates are the pairs that the stated rule joins, and those nearest to each other by the vectors of their names
    and descriptions, of which a model decides. Entities of another kind are never one. What was joined once is joined
    without asking.

    Returns:
        What could not be decided, in words, or "".
    """
    new = {*sources}
    with held.catalog.writing(row.id) as connection:
        known = connection.execute(select(stages.c.item, stages.c.params_hash).where(stages.c.stage == NAME)).all()
        connection.execute(delete(stages).where(stages.c.stage == NAME, stages.c.source.in_(new)))
        _part(connection)
    embed_entities(held, row, text_encoder)
    with held.catalog.reading(row.id) as connection:
        nodes = _nodes(connection, new)
    alike = _able(nodes, ((key, entity) for key, entity in known if key in nodes and entity in nodes))
    sure, unsure = by_rule([(n.key, name) for n in nodes.values() for name in n.names])
    alike += _able(nodes, sure)
    doubted = dict.fromkeys([*_able(nodes, unsure), *_able(nodes, _near(held, row, text_encoder, nodes))])
    asked = [pair for pair in doubted if pair not in {*alike}]
    told, why = asyncio.run(_asked(same, nodes, asked)) if same is not None else ([], "")
    with held.catalog.writing(row.id) as connection:
        for old, entity in _joined(nodes, [*alike, *told]).items():
            _move(connection, old, entity)
    embed_entities(held, row, text_encoder)
    return why


def _part(connection: Connection) -> None:
    """Give a name that another kind of thing had before a digest of its own."""
    first: dict[str, str] = {}
    rows = connection.execute(
        select(mentions.c.entity, mentions.c.name, mentions.c.kind, mentions.c.source, mentions.c.chunk, mentions.c.n)
        .where(mentions.c.kind != "")
        .order_by(mentions.c.n)
    ).all()
    for entity, name, kind, source, chunk, n in rows:
        here = class_of(kind)
        if entity == key_of(name) and first.setdefault(entity, here) != here:
            connection.execute(update(mentions).where(mentions.c.n == n).values(entity=digest(entity, here)))
            in_chunk = (relations.c.source == source) & (relations.c.chunk == chunk)
            _relate(connection, {entity: digest(entity, here)}, in_chunk)


def _nodes(connection: Connection, new: set[str]) -> dict[str, EntityNode]:
    columns = (mentions.c.entity, mentions.c.name, mentions.c.kind, mentions.c.source, mentions.c.description)
    rows = connection.execute(select(*columns).order_by(mentions.c.n)).all()
    told = described(((row[0], row[-1]) for row in rows), merged_of(connection))
    out: dict[str, EntityNode] = {}
    for key, name, kind, source, _ in rows:
        had = out.get(key) or EntityNode(key, (), "", told[key], 0, False)
        names = had.names if name in had.names else (*had.names, name)
        fresh = had.new or source in new
        out[key] = replace(had, names=names, kind=had.kind or kind, spread=had.spread + 1, new=fresh)
    return out


def _able(nodes: Mapping[str, EntityNode], pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs, in order, of which one is new and that are not of different kinds."""
    out: dict[Pair, None] = {}
    for one, other in pairs:
        a, b = nodes[one], nodes[other]
        kinds = {class_of(a.kind), class_of(b.kind)} - {""}
        if one != other and (a.new or b.new) and len(kinds) < 2:
            out[min(one, other), max(one, other)] = None
    return [*out]


def _near(held: Stores, row: LibraryRow, text_encoder: Encoder, nodes: Mapping[str, EntityNode]) -> list[Pair]:
    new = [n for n in nodes.values() if n.new]
    if not new:
        return []
    asked = text_encoder.texts([_told(n) for n in new])
    hits = held.vectors.query(row.id, CORPUS, entity_space(row.encoder), asked, NEAREST + 1)
    near = [(cosine, n.key, key) for n, found in zip(new, hits, strict=True) for key, cosine in found if key in nodes]
    return [(one, other) for cosine, one, other in sorted(near, reverse=True) if cosine >= ALIKE]


def _told(n: EntityNode) -> str:
    kind = f" ({n.kind})" if n.kind else ""
    return f"{' / '.join(n.names[:3])}{kind}: {clip(n.description, _TOLD)}".rstrip(": ")


async def _asked(same: Same, nodes: Mapping[str, EntityNode], pairs: Sequence[Pair]) -> tuple[list[Pair], str]:
    """Ask a model about pairs, all batches side by side."""
    failed: list[str] = []

    async def some(part: Sequence[Pair]) -> list[Pair]:
        try:
            found = await same([(_told(nodes[a]), _told(nodes[b])) for a, b in part])
        except RagweaveError as error:
            failed.append(str(error))
            return []
        return [pair for n, pair in enumerate(part) if n in found]

    parts = in_parts(pairs, AT_ONCE)
    out = [pair for found in await asyncio.gather(*map(some, parts)) for pair in found]
    return out, f"{len(failed)} of {len(parts)} lists of names were not compared: {failed[0]}" if failed else ""


def _joined(nodes: Mapping[str, EntityNode], pairs: Iterable[Pair]) -> dict[str, str]:
    """Return the entity that each joined one becomes: of a group the one that was there before and is named most."""
    groups = {key: {key} for pair in pairs for key in pair}
    for one, other in pairs:
        if groups[one] is not groups[other]:
            kinds = {class_of(nodes[k].kind) for k in groups[one] | groups[other]} - {""}
            if len(kinds) < 2:  # a name of no kind must not join two of different kinds
                groups[one] |= groups[other]
                groups.update(dict.fromkeys(groups[other], groups[one]))
    best = {id(g): min(g, key=lambda k: (nodes[k].new, -nodes[k].spread, k)) for g in groups.values()}
    return {key: best[id(group)] for key, group in groups.items() if best[id(group)] != key}


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
    for n, *pair in connection.execute(select(relations.c.n, relations.c.head, relations.c.tail).where(ends, *where)):
        head, tail = sorted(moved.get(end, end) for end in pair)
        mine = relations.c.n == n
        change = delete(relations) if head == tail else update(relations).values(head=head, tail=tail)
        connection.execute(change.where(mine))
