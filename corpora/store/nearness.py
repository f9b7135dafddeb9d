"""Score the similarity of items to a query by the vectors in the catalog."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np
from sqlalchemy import Connection, func, select

from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.exact import matrix_of
from ragweave.corpora.store.schema import in_parts, vectors
from ragweave.corpora.store.stores import Stores
from ragweave.models.embed import Encoder
from ragweave.models.errors import LibraryError, RagweaveError
from ragweave.models.relevance_features import deviations

logger = logging.getLogger(__name__)

SAMPLE = 500
"""Number of vectors that are sampled from a library."""


def of_items(
    held: Stores,
    library: str,
    encoder: Encoder,
    query: str,
    ids: Collection[str],
    others: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, float]:
    """Score the cosines of items against those of a library, in standard deviations, by item id.

    The nearest chunk of an item counts. `others` are cosines of items that the catalog does not hold. Items
    without a vector are left out. If the encoder fails, the result is empty, and callers score by words
    alone.
    """
    if not ids:
        return {}
    try:
        asked = encoder.queries([query])[0]
    except LibraryError:
        raise
    except RagweaveError as error:
        logger.info("passages are scored by their words alone: %s", error)
        return {}
    with held.catalog.reading(library) as connection:
        memory, key = held.catalog.memory(library), f"sample {encoder.name}"
        if key not in memory:
            memory[key] = _sample(connection, encoder.name)
        sample: Matrix = memory[key]
        cosines = _cosines(connection, encoder.name, asked, ids)
    for id_, cosine in others.items():
        if id_ in ids:
            cosines[id_] = cosine
    if not cosines or not len(sample):
        return {}
    found = deviations(np.array([*cosines.values()]), (sample @ asked).astype(np.float64))
    return dict(zip(cosines, found.tolist(), strict=True))


def _cosines(connection: Connection, space: str, asked: Matrix, ids: Collection[str]) -> dict[str, float]:
    """Return the cosine of the nearest chunk of each item, by item id."""
    best: dict[str, float] = {}
    for some in in_parts(sorted(ids)):
        query = select(vectors.c.item, vectors.c.data)
        rows = connection.execute(query.where(vectors.c.item.in_(some), vectors.c.space == space)).all()
        if rows:
            every = matrix_of([data for _, data in rows]) @ asked
            for (item, _), cosine in zip(rows, every.tolist(), strict=True):
                best[item] = max(best.get(item, -1.0), cosine)
    return best


def _sample(connection: Connection, space: str) -> Matrix:
    """Return vectors from all over a library, the same ones as long as it does not change."""
    low, high = connection.execute(
        select(func.min(vectors.c.n), func.max(vectors.c.n)).where(vectors.c.space == space)
    ).one()
    if low is None:
        return matrix_of([])
    step = max(1, (high - low + 1) // SAMPLE)
    query = select(vectors.c.data).where(vectors.c.space == space, vectors.c.n % step == low % step)
    return matrix_of([*connection.execute(query.order_by(vectors.c.n).limit(SAMPLE)).scalars()])
