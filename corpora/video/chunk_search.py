"""Chunks of recordings, found by vectors of their own (VideoRAG, sections 3.1.1 and 3.3).

They are made of the stored clips when a process first asks for them, and remembered while the library stays
the same: only a run that searches chunks pays for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ragweave.corpora.chunks import Chunk, chunks_of
from ragweave.corpora.pieces import fill
from ragweave.corpora.store.blobs import CORPUS, Matrix
from ragweave.corpora.store.library import Library


class _Chunks(NamedTuple):
    """Chunks of a library, the vectors of their parts, shape (n, dim), and the number of the chunk of each part."""

    chunks: list[Chunk]
    rows: Matrix
    of: list[int]


async def nearest_chunks(
    library: Library, queries: Sequence[str], k: int, sources: Sequence[str] = ()
) -> list[list[tuple[Chunk, float]]]:
    """Return up to k (chunk, cosine) of each query, best first; no sources means all.

    A chunk that is longer than the encoder reads is as near as its nearest part.

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
        out = []
        for row in cosines:
            best = np.full(len(held.chunks), -1.0)
            np.maximum.at(best, held.of, row)
            order = (
                n for n in np.argsort(-best, kind="stable") if not sources or held.chunks[n].source in sources
            )
            out.append([(held.chunks[n], float(best[n])) for n, _ in zip(order, range(k), strict=False)])
        return out

    return await asyncio.to_thread(search)


def _embedded(library: Library) -> _Chunks:
    catalog = library.held.catalog
    sources = dict.fromkeys(r.source for r in catalog.recordings(library.id))
    chunks = chunks_of(item for source in sources for item in catalog.items_of(library.id, source, CORPUS))
    parts = [
        (n, c.text[a:b]) for n, c in enumerate(chunks) for a, b in fill(c.text, library.encoder.max_words)
    ]
    rows = library.encoder.texts([text for _, text in parts]) if parts else np.zeros((0, 1), np.float32)
    return _Chunks(chunks, rows, [n for n, _ in parts])
