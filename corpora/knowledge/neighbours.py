"""What the graph holds beside one entity, for who looks at it: its neighbours, what joins them, and where it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, desc, func, select, union_all

from ragweave.corpora.knowledge.describe import described, merged_of
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.schema import mentions, relations

SHOWN = 10
"""Entities of a drawing beside the one in its middle; more cannot be read."""
_READ = 2_000
"""Mentions of one entity that are read: a host of a show is named in every chunk."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity by its digest, its most common name and type, and what chunks say of it.

    Of a neighbour, the description and the weight are those of what joins it to the entity in the middle.
    """

    key: str
    name: str
    kind: str
    description: str = ""
    weight: float = 0.0


def most_joined(catalog: Catalog, library: str) -> list[GraphNode]:
    """Return the `SHOWN` entities that are joined to the most others, with that number as their weight."""
    ends = union_all(
        select(relations.c.head.label("one"), relations.c.tail.label("other")),
        select(relations.c.tail, relations.c.head),
    ).subquery()
    many = func.count(ends.c.other.distinct()).label("many")
    with catalog.reading(library) as connection:
        rows = connection.execute(
            select(ends.c.one, many).group_by(ends.c.one).order_by(desc(many), ends.c.one).limit(SHOWN)
        )
        found = {key: float(n) for key, n in rows}
        named = _named(connection, [*found])
    return [GraphNode(key, *named[key][:2], weight=n) for key, n in found.items() if key in named]


def around(
    catalog: Catalog, library: str, key: str, k: int = SHOWN
) -> tuple[GraphNode, list[GraphNode], list[str]] | None:
    """Return an entity, its neighbours, the most strongly joined first, and the ids of the items that name it."""
    with catalog.reading(library) as connection:
        joined: dict[str, tuple[float, str]] = {}
        ends = (relations.c.head, relations.c.tail)
        for near, far in (ends, ends[::-1]):
            for other, weight, told in connection.execute(
                select(far, relations.c.weight, relations.c.description).where(near == key)
            ):
                before = joined.get(other, (0.0, ""))
                joined[other] = (before[0] + weight, before[1] or told)
        best = sorted(joined, key=lambda other: (-joined[other][0], other))[:k]
        named = _named(connection, [key, *best])
        if key not in named:
            return None
        rows = connection.execute(select(mentions.c["items"]).where(mentions.c.entity == key).limit(_READ))
        items = Counter({str(item): int(n) for (counted,) in rows for item, n in counted})
    beside = [GraphNode(o, *named[o][:2], description=joined[o][1], weight=joined[o][0]) for o in best if o in named]
    return GraphNode(key, *named[key]), beside, [item for item, _ in items.most_common()]


def _named(connection: Connection, keys: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Return the most common name, the most common type and the description of entities."""
    found, merged = {}, merged_of(connection, keys)
    for key in keys:
        query = select(mentions.c.name, mentions.c.kind, mentions.c.description).where(mentions.c.entity == key)
        if rows := connection.execute(query.order_by(mentions.c.n).limit(_READ)).all():
            names, kinds = Counter(row[0] for row in rows), Counter(row[1] for row in rows if row[1])
            kind = kinds.most_common(1)[0][0] if kinds else ""
            told = described(((key, row[2]) for row in rows), merged)
            found[key] = (names.most_common(1)[0][0], kind, told[key])
    return found
