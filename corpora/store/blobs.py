"""Write and remove the vectors in the catalog of a library, within its transactions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, select, text

from ragweave.corpora.store.schema import add, items, vectors
from ragweave.corpora.types import Corpus

Matrix = NDArray[np.float32]
CORPUS: Corpus = "clip"
"""Corpus of the knowledge graph, and of the vectors of its entities, which have their own space."""
SEEN, ENTITIES = "see ", "entities of "


def item_of(chunk: str) -> str:
    """Return the item that a chunk id `<item>~<n>` belongs to."""
    return chunk.rpartition("~")[0]


def _part_of(chunk: str) -> str:
    """Return the number of a chunk in its item, from its id."""
    return chunk.rpartition("~")[2]


def visual_space(encoder: str) -> str:
    """Return the space of an image encoder's vectors."""
    return f"{SEEN}{encoder}"


def entity_space(encoder: str) -> str:
    """Return the space of the knowledge graph's entities, by the text encoder."""
    return f"{ENTITIES}{encoder}"


def put(
    connection: Connection,
    corpus: Corpus,
    space: str,
    ids: Sequence[str],
    sources: Sequence[str],
    rows: Matrix,
) -> int:
    """Write chunk vectors, shape (n, dim), within a write transaction, over those of the same ids.

    Rows of zeros are left out: the lexical index finds these chunks. Returns the number written.
    """
    norms = np.linalg.norm(rows, axis=1) if len(rows) else np.zeros(0)
    kept = np.flatnonzero(np.isfinite(norms) & (norms > 1e-6)).tolist()
    discard(connection, corpus, space, [ids[i] for i in kept])
    values = []
    for i in kept:
        value = {
            "space": space,
            "corpus": corpus,
            "item": item_of(ids[i]),
            "part": _part_of(ids[i]),
            "source": sources[i],
            "data": (rows[i] / norms[i]).astype("<f4").tobytes(),
        }
        values.append(value)
    add(connection, vectors, values)
    return len(kept)


_DISCARD = text(
    "DELETE FROM vectors WHERE space = :space AND corpus = :corpus AND item = :item AND part = :part"
)
_DISCARD_AT_ONCE = text("""DELETE FROM vectors v
    USING unnest(CAST(:items AS text[]), CAST(:parts AS text[])) AS u(item, part)
    WHERE v.space = :space AND v.corpus = :corpus AND v.item = u.item AND v.part = u.part""")


def discard(connection: Connection, corpus: Corpus, space: str, ids: Sequence[str]) -> None:
    """Remove chunks by id, within a write transaction."""
    if not ids:
        return
    mine: dict[str, Any] = {"space": space, "corpus": corpus}
    if connection.dialect.name == "postgresql":
        chunks = {"items": list(map(item_of, ids)), "parts": list(map(_part_of, ids))}
        connection.execute(_DISCARD_AT_ONCE, {**mine, **chunks})
    else:
        rows = [{**mine, "item": item_of(id_), "part": _part_of(id_)} for id_ in ids]
        connection.execute(_DISCARD, rows)


def renew(connection: Connection, source: str) -> None:
    """Rewrite the vectors of a source, so that the collections copy its changed metadata."""
    rows = []
    for found in connection.execute(select(vectors).where(vectors.c.source == source)).mappings():
        row = dict(found)
        # The database gives a new number, which is larger than that of the index.
        del row["n"]
        rows.append(row)
    connection.execute(delete(vectors).where(vectors.c.source == source))
    add(connection, vectors, rows)


def forget_texts(connection: Connection, column: str, values: Iterable[str]) -> None:
    """Remove the text vectors of sources or items, as `column` says, within a write transaction."""
    texts = ~(vectors.c.space.startswith(SEEN) | vectors.c.space.startswith(ENTITIES))
    for value in values:
        connection.execute(delete(vectors).where(vectors.c[column] == value, texts))


def forget_lost_items(connection: Connection, source: str) -> None:
    """Remove the picture vectors of items that a source no longer has, within a write transaction."""
    left = select(items.c.id).where(items.c.source == source)
    seen = (vectors.c.source == source) & vectors.c.space.startswith(SEEN)
    connection.execute(delete(vectors).where(seen, vectors.c.item.not_in(left)))
