"""Reading the graph: its entities, with the names of one joined, and what is said about each."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.dialects.sqlite import insert

from ragweave.corpora.knowledge import store
from ragweave.corpora.knowledge.facts import key_of
from ragweave.corpora.knowledge.links import groups
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.schema import mentions, relations, summaries, write
from ragweave.corpora.store.stores import Stores
from ragweave.models.chat_reply import tokens_of
from ragweave.models.text import sentences

SUMMARY_TOKENS = 500
"""Tokens of joined descriptions from which they are put in short (as in the published code)."""


@dataclass(frozen=True, slots=True)
class Node:
    """One entity: its fullest common name, its other names, and how many chunks and sources speak of it."""

    key: str
    name: str
    names: tuple[str, ...]
    kind: str
    chunks: int
    sources: int


def nodes(held: Stores, row: LibraryRow) -> list[Node]:
    """Return every entity, the most spoken of first."""
    engine = held.catalog.engine(row.id)
    root = groups(store.pairs_of(engine, row.id))
    gathered: dict[str, list[store.Named]] = {}
    for e in store.named(engine, row.id):
        gathered.setdefault(root.get(e.key, e.key), []).append(e)
    out = []
    for key, rows in gathered.items():
        rows.sort(key=lambda e: (-e.chunks, -len(e.name), e.name))
        best = next((e for e in rows if " " in e.name and e.chunks * 3 >= rows[0].chunks), rows[0])
        kind = next((e.kind for e in rows if e.kind), "")
        others = tuple(e.name for e in rows if e is not best)
        out.append(Node(key, best.name, others, kind, sum(e.chunks for e in rows), max(e.sources for e in rows)))
    return sorted(out, key=lambda n: (-n.chunks, n.name))


def graph(held: Stores, row: LibraryRow, most: int | None = None) -> Any:
    """Return the graph of the entities, or of the `most` most spoken of, as a `networkx.Graph` with weighted edges."""
    import networkx

    drawn = networkx.Graph()
    for n in nodes(held, row)[:most]:
        drawn.add_node(n.key, name=n.name, names=n.names, kind=n.kind, chunks=n.chunks, sources=n.sources)
    engine = held.catalog.engine(row.id)
    root = groups(store.pairs_of(engine, row.id))
    query = (
        select(relations.c.head, relations.c.tail, func.sum(relations.c.weight))
        .where(relations.c.library == row.id)
        .group_by(relations.c.head, relations.c.tail)
    )
    with engine.begin() as connection:
        for head, tail, weight in connection.execute(query):
            one, other = root.get(head, head), root.get(tail, tail)
            if one != other and one in drawn and other in drawn:
                before = drawn.get_edge_data(one, other, {"weight": 0.0})["weight"]
                drawn.add_edge(one, other, weight=before + float(weight))
    return drawn


def neighbours(drawn: Any, key: str, most: int = 10) -> Sequence[tuple[str, float]]:
    """Return (name, weight) of what stands with an entity most often."""
    rows = [(drawn.nodes[other]["name"], data["weight"]) for other, data in drawn[key].items()]
    return sorted(rows, key=lambda r: (-r[1], r[0]))[:most]


def find(held: Stores, row: LibraryRow, name: str) -> Node | None:
    """Return the entity of a name, by any of its names."""
    key = key_of(name)
    return next((n for n in nodes(held, row) if key in keys_of(n)), None)


def keys_of(node: Node) -> list[str]:
    """Return the digests of all names of an entity."""
    return list(dict.fromkeys([node.key, *(key_of(n) for n in (node.name, *node.names))]))


def places(held: Stores, row: LibraryRow, node: Node, most: int = 50) -> list[str]:
    """Return the ids of the items that name an entity most often."""
    counted: Counter[str] = Counter()
    query = select(mentions.c["items"]).where(mentions.c.library == row.id, mentions.c.entity.in_(keys_of(node)))
    with held.catalog.engine(row.id).begin() as connection:
        for rows in connection.execute(query).scalars():
            counted.update(dict(rows))
    return sorted(counted, key=lambda i: (-counted[i], i))[:most]


@dataclass(frozen=True, slots=True)
class Told:
    """What is said about an entity: distinct descriptions, their digest, and what was put in short before, or ""."""

    parts: tuple[str, ...]
    digest: str
    short: str


def cut(parts: Sequence[str]) -> str:
    """Return descriptions as one text; of what is too long the first sentence of each part that fits."""
    whole, text = " ".join(parts), ""
    if tokens_of(whole) < SUMMARY_TOKENS:
        return whole
    for part in parts:
        a, b = next(iter(sentences(part)), (0, len(part)))
        if tokens_of(text + part[a:b]) >= SUMMARY_TOKENS:
            break
        text = f"{text} {part[a:b]}".strip()
    return text


def told(held: Stores, row: LibraryRow, node: Node) -> Told:
    """Return what is said about an entity over all sources."""
    said = select(mentions.c.description).where(
        mentions.c.library == row.id, mentions.c.entity.in_(keys_of(node)), mentions.c.description != ""
    )
    with held.catalog.engine(row.id).begin() as connection:
        parts = tuple(dict.fromkeys(connection.execute(said.order_by(mentions.c.n)).scalars()))
        digest = hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:24]
        mine = (summaries.c.library == row.id) & (summaries.c.entity == node.key) & (summaries.c.digest == digest)
        short = connection.execute(select(summaries.c.text).where(mine)).scalar()
    return Told(parts, digest, short or "")


def keep_summary(held: Stores, row: LibraryRow, node: Node, digest: str, text: str) -> None:
    """Keep what was put in short, for as long as the descriptions are the same."""
    new = {"digest": digest, "text": text}
    statement = insert(summaries).values({"library": row.id, "entity": node.key, **new})
    with write(held.catalog.engine(row.id)) as connection:
        connection.execute(statement.on_conflict_do_update(index_elements=["library", "entity"], set_=new))
