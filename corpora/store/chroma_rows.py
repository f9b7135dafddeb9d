"""What a Chroma collection holds: vectors by the ids of their chunks, with text, title, source and place.

Anybody opens it with `chromadb` or `langchain_chroma`. A collection of a library's text vectors bears the name of its
corpus; what image encoders saw, and the entities of recordings, lie in collections of their own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from ragweave.corpora.store.blobs import ENTITIES, SEEN, Matrix
from ragweave.corpora.store.exact import matrix_of
from ragweave.corpora.store.prepared import chunks
from ragweave.corpora.store.schema import in_parts, items, mentions, vectors
from ragweave.corpora.types import Item
from ragweave.models.text import clip

HNSW = {"space": "cosine", "ef_construction": 100, "ef_search": 500, "max_neighbors": 32}
"""With Chroma's defaults about 1 % of the vectors of a collection are not found by themselves; with these all of 20,000
are. Twice the `ef_construction` costs a third more time and finds no more."""
BATCH = 5_000
"""CollectionRows of one call; Chroma refuses more than 5,461."""
_NUMBERS = 2**21
"""Numbers of one call; a server refuses bodies of more than 40 MB."""
_SHOWN = 2_000
"""Characters shown of an item whose vector is not of a stretch of its text."""


class CollectionRows(NamedTuple):
    """CollectionRows of a collection; `embeddings` has shape (n, dim)."""

    ids: list[str]
    embeddings: Matrix
    metadatas: list[dict[str, str]]
    documents: list[str]


@dataclass(frozen=True, slots=True)
class CollectionChange:
    """What a collection lacks of the catalog: the `new` rows of a space and corpus after one row, up to another.

    `after` is 0 where the collection is to be made. `count` rows live up to `upto`; `gone` rows of the collection do
    not, or were written anew.
    """

    space: str
    corpus: str
    after: int
    upto: int
    count: int
    new: int
    gone: int

    @property
    def collection(self) -> str:
        """Name of the collection."""
        return collection_of(self.space, self.corpus)

    def alive(self, connection: Connection) -> set[str]:
        """Return the ids of all rows that live."""
        query = select(vectors.c.item, vectors.c.part).where(*self._mine())
        return {f"{item}~{part}" for item, part in connection.execute(query)}

    def rows(self, connection: Connection, words: int) -> Iterator[CollectionRows]:
        """Read the new rows, some at a time; a chunk of their encoder has at most so many `words`."""
        query = select(vectors.c.item, vectors.c.part, vectors.c.source, vectors.c.data)
        query = query.where(*self._mine(), vectors.c.n > self.after).order_by(vectors.c.n)
        result = connection.execute(query, execution_options={"yield_per": 1_000})
        while some := result.fetchmany(BATCH):
            for few in in_parts(some, min(BATCH, max(1, 4 * _NUMBERS // len(some[0].data)))):
                yield self._rows(connection, few, words)

    def _mine(self) -> tuple[Any, ...]:
        return vectors.c.space == self.space, vectors.c.corpus == self.corpus, vectors.c.n <= self.upto

    def _rows(self, connection: Connection, some: Any, words: int) -> CollectionRows:
        shown = _entities if self.space.startswith(ENTITIES) else _items
        known = shown(connection, [(row.item, row.part) for row in some], 0 if self.space.startswith(SEEN) else words)
        ids = [f"{row.item}~{row.part}" for row in some]
        told = [known.get(id_, ("", "{}", "")) for id_ in ids]
        metadatas = [
            {"source": row.source, "title": title, "locator": where}
            for row, (title, where, _) in zip(some, told, strict=True)
        ]
        return CollectionRows(ids, matrix_of([row.data for row in some]), metadatas, [text for *_, text in told])


def collection_of(space: str, corpus: str) -> str:
    """Return the name of the collection of a space and corpus."""
    if space.startswith(ENTITIES):
        return "entities"
    return f"{corpus}-seen-{hashlib.sha256(space.encode()).hexdigest()[:8]}" if space.startswith(SEEN) else corpus


def configuration(changes: int) -> dict[str, Any]:
    """Return when a collection that gets so many changes writes its graph to the disk."""
    # All of it with the last call: what is left over, each reader would have to add again.
    return {"sync_threshold": max(2, changes), "batch_size": min(max(2, changes), BATCH)}


Shown = dict[str, tuple[str, str, str]]
"""Title, locator as JSON, and text of a chunk, by its id."""


def _items(connection: Connection, parts: list[tuple[str, str]], words: int) -> Shown:
    """Return what is shown of chunks, or of whole items where `words` is 0."""
    found: Shown = {}
    wanted: dict[str, list[str]] = {}
    for id_, part in parts:
        wanted.setdefault(id_, []).append(part)
    shown = select(*(items.c[name] for name in ("id", "corpus", "source", "title", "text", "locator", "meta")))
    for ids in in_parts(list(wanted)):
        for row in connection.execute(shown.where(items.c.id.in_(ids))).mappings():
            item = Item(**row)
            ranges = chunks(item, words) if words else []
            where = json.dumps(item.locator, ensure_ascii=False)
            for part in wanted[item.id]:
                at = int(part)
                text = item.text[slice(*ranges[at])] if at < len(ranges) else clip(item.text, _SHOWN)
                found[f"{item.id}~{part}"] = (item.title, where, text)
    return found


def _entities(connection: Connection, parts: list[tuple[str, str]], words: int) -> Shown:
    """Return what is shown of entities: the name, and what a source says of it first."""
    found: Shown = {}
    query = select(mentions.c.entity, mentions.c.source, mentions.c.name, mentions.c.description)
    for entities in in_parts([entity for entity, _ in parts]):
        for row in connection.execute(query.where(mentions.c.entity.in_(entities)).order_by(mentions.c.n)):
            found.setdefault(f"{row.entity}~{row.source}", (row.name, "{}", f"{row.name}. {row.description}".strip()))
    return found
