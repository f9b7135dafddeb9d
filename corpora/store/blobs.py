"""The rows of the vectors in the catalog of a library: written and removed within its transactions."""

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
"""Corpus that the knowledge graph is read from, and under whose name its entities' vectors lie, in their own space."""
SEEN, ENTITIES = "see ", "entities of "


def item_of(chunk: str) -> str:
    """Return the item that a chunk id `<item>~<n>` belongs to."""
    return chunk.rpartition("~")[0]


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
    """Write chunk vectors, shape (n, dim), within a write transaction, in place of those of the same ids.

    Rows of zeros are left to the lexical index. Returns how many were written.
    """
    norms = np.linalg.norm(rows, axis=1) if len(rows) else np.zeros(0)
    kept = [int(i) for i in np.flatnonzero(np.isfinite(norms) & (norms > 1e-6))]
    discard(connection, corpus, space, [ids[i] for i in kept])
    values = [
        {
            "space": space,
            "corpus": corpus,
            "item": item_of(ids[i]),
            "part": ids[i].rpartition("~")[2],
            "source": sources[i],
            "data": (rows[i] / norms[i]).astype("<f4").tobytes(),
        }
        for i in kept
    ]
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
    if ids:
        mine: dict[str, Any] = {"space": space, "corpus": corpus}
        parts = [i.rpartition("~")[2] for i in ids]
        if connection.dialect.name == "postgresql":
            connection.execute(_DISCARD_AT_ONCE, {**mine, "items": [item_of(i) for i in ids], "parts": parts})
        else:
            named = zip(ids, parts, strict=True)
            connection.execute(_DISCARD, [{**mine, "item": item_of(i), "part": part} for i, part in named])


def renew(connection: Connection, source: str) -> None:
    """Write the vectors of a source once more, so that the collections take over what is told beside them."""
    rows = [
        dict(row) for row in connection.execute(select(vectors).where(vectors.c.source == source)).mappings()
    ]
    connection.execute(delete(vectors).where(vectors.c.source == source))
    add(connection, vectors, [{name: value for name, value in row.items() if name != "n"} for row in rows])


def forget_texts(connection: Connection, column: str, values: Iterable[str]) -> None:
    """Remove the text vectors, of every text encoder, of sources or items (`column`), within a write transaction."""
    texts = ~(vectors.c.space.startswith(SEEN) | vectors.c.space.startswith(ENTITIES))
    for value in values:
        connection.execute(delete(vectors).where(vectors.c[column] == value, texts))


def forget_lost_items(connection: Connection, source: str) -> None:
    """Remove what image encoders saw of items that a source has no more, within a write transaction."""
    left = select(items.c.id).where(items.c.source == source)
    seen = (vectors.c.source == source) & vectors.c.space.startswith(SEEN)
    connection.execute(delete(vectors).where(seen, vectors.c.item.not_in(left)))
