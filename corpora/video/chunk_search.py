"""Search chunks of recordings by vectors of their own (VideoRAG, sections 3.1.1 and 3.3).

A process builds them from the stored clips at the first search, and keeps them in memory as long as the
library stays the same. So only a run that searches chunks pays for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragweave.corpora.chunks import Chunk, chunks_of
from ragweave.corpora.pieces import fill
from ragweave.corpora.store.blobs import CORPUS, Matrix
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item


class _Chunks(NamedTuple):
    """Chunks of a library, vectors of their parts, shape (n, dim), and the number of each part's chunk."""

    chunks: list[Chunk]
    rows: Matrix
    of: list[int]


async def nearest_chunks(
    library: Library, queries: Sequence[str], k: int, sources: Sequence[str] = ()
) -> list[list[tuple[Chunk, float]]]:
    """Return up to k (chunk, cosine) for each query, best first; no sources means all.

    If a chunk is longer than the encoder's limit, its nearest part counts.

    Raises:
        ModelError: the encoder cannot be reached.
    """

    def search() -> list[list[tuple[Chunk, float]]]:
        memory = library.memory()
        if "chunks" not in memory:
            memory["chunks"] = _embedded(library)
        held: _Chunks = memory["chunks"]
        if not held.chunks:
            return [[] for _ in queries]
        cosines = library.encoder.queries(list(queries)) @ held.rows.T
        return [_best_chunks(held, row, k, sources) for row in cosines]

    return await asyncio.to_thread(search)


def _best_chunks(
    held: _Chunks, cosines: NDArray[np.floating], k: int, sources: Sequence[str]
) -> list[tuple[Chunk, float]]:
    """Return up to k (chunk, cosine) of a query, whose cosines with all parts have shape (n,)."""
    best = np.full(len(held.chunks), -1.0)
    np.maximum.at(best, held.of, cosines)
    out: list[tuple[Chunk, float]] = []
    for n in np.argsort(-best, kind="stable"):
        if len(out) >= k:
            break
        chunk = held.chunks[n]
        if not sources or chunk.source in sources:
            out.append((chunk, float(best[n])))
    return out


def _embedded(library: Library) -> _Chunks:
    """Return the chunks of all recordings of a library with their vectors."""
    catalog = library.held.catalog
    sources: dict[str, None] = {}
    for recording in catalog.recordings(library.id):
        sources[recording.source] = None
    items: list[Item] = []
    for source in sources:
        items += catalog.items_of(library.id, source, CORPUS)
    chunks = chunks_of(items)
    texts = []
    numbers = []
    for n, chunk in enumerate(chunks):
        for start, end in fill(chunk.text, library.encoder.max_words):
            texts.append(chunk.text[start:end])
            numbers.append(n)
    rows = library.encoder.texts(texts) if texts else np.zeros((0, 1), np.float32)
    return _Chunks(chunks, rows, numbers)
