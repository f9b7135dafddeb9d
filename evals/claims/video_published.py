"""The published sort of chunks by the entity graph (VideoRAG, section 3.2), to compare it with ours.

The twenty entities that are nearest to the question name chunks. A chunk counts the neighbours of the entity
that brought it which it names as well. All clips of the two best chunks are the result, in the order of time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from ragweave.corpora.chunks import Chunk, chunks_of
from ragweave.corpora.knowledge.graph import EntityGraph, entity_graph
from ragweave.corpora.knowledge.search import MATCHES
from ragweave.corpora.store.blobs import CORPUS, entity_space
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item

NEAREST = 0.2
"""Lowest cosine of an entity."""
CHUNKS = 2
"""Chunks that are kept."""
Clip = tuple[str, float, float]


async def published_clips(library: Library, questions: Sequence[str]) -> list[list[Clip]]:
    """Return for each question the clips that the published sort finds."""

    def search() -> list[list[Clip]]:
        graph = entity_graph(library.held.catalog, library.id)
        row = library.held.catalog.row(library.id)
        space = entity_space(row.encoder)
        vectors = library.encoder.queries(list(questions))
        found = library.held.vectors.query(library.id, CORPUS, space, vectors, MATCHES, ())
        items = _clips(library)
        chunks = {}
        for chunk in chunks_of(items.values()):
            chunks[chunk.id] = chunk
        out = []
        for hits in found:
            near = []
            for key, cosine in hits:
                if cosine >= NEAREST and key in graph:
                    near.append(key)
            out.append(_places(best_chunks(graph, near), chunks, items))
        return out

    return await asyncio.to_thread(search)


def best_chunks(graph: EntityGraph, near: Sequence[str]) -> list[str]:
    """Return the chunks that name the most neighbours of the entity that brought them."""
    scores: dict[str, int] = {}
    for key in near:
        for mention in graph.nodes[key]["mentions"]:
            if mention.chunk not in scores:
                scores[mention.chunk] = _neighbours_in(graph, key, mention.chunk)
    return sorted(scores, key=lambda chunk: -scores[chunk])[:CHUNKS]


def _neighbours_in(graph: EntityGraph, key: str, chunk: str) -> int:
    count = 0
    for other in graph.adj[key]:
        named_in = {mention.chunk for mention in graph.nodes[other]["mentions"]}
        count += chunk in named_in
    return count


def _clips(library: Library) -> dict[str, Item]:
    """Return all clips of a library by id."""
    catalog = library.held.catalog
    out: dict[str, Item] = {}
    for recording in catalog.recordings(library.id):
        for item in catalog.items_of(library.id, recording.source, CORPUS):
            out[item.id] = item
    return out


def _places(best: Sequence[str], chunks: Mapping[str, Chunk], items: Mapping[str, Item]) -> list[Clip]:
    """Return file, first and last second of the clips of chunks."""
    out = []
    for chunk in best:
        for id in chunks[chunk].clips:
            at = items[id].locator
            out.append((Path(str(at["file"])).stem, round(at["start"], 1), round(at["end"], 1)))
    return out
