"""Search the graph: match entities to the query, add their neighbours, and score the items that mention them.

The score of an entity is part of the score of every chunk and item that mentions it. VideoRAG's published
code sorts chunks by the neighbours that they share with an entity instead. It forgets how well the entity
matched, so that chunks with many entities win for every query.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence

from ragweave.corpora.knowledge.alias import Known, others
from ragweave.corpora.knowledge.graph import EntityGraph, entity_graph
from ragweave.corpora.knowledge.unify import keys_of
from ragweave.corpora.store.blobs import CORPUS, Matrix, entity_space
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.library import Library
from ragweave.corpora.store.stores import Stores, check_encoder
from ragweave.models.text import STOP, STOP_CJK, words

MATCHES = 20
"""Entities that a search by vectors returns (20 in VideoRAG)."""
LIKE = 0.45
"""Lowest cosine of an entity that the query does not name."""
LIKENESS = 0.5
"""Weight of an entity that is similar to the query, relative to one that the query names."""
LEADING = 60
"""Most chunks of an entity whose neighbours count: somebody who speaks everywhere is joined to everything."""
BEYOND = 0.2
"""Weight of a neighbour, relative to the entity that it belongs to."""
CHUNK = 0.3
"""Weight of an item's chunk, relative to the item's own mentions."""
_PHRASE, _WORD = 1.0, 0.8
"""Scores of an entity whose name in the query has several words, and one word."""
_LONGEST = 4
"""Words of a name that is looked up in the query."""
_COMMON = 0.2
"""Share of all chunks above which an entity is too common to count."""
_FEW_CHUNKS = 5
"""Chunks of an entity that is never too common."""
_FUNCTION_WORDS = STOP | STOP_CJK


async def ask_graph(
    library: Library, text: str, statement: str, k: int = 50, sources: Sequence[str] = ()
) -> list[tuple[str, float]]:
    """Return (item id, score) of the items that the graph finds, best first.

    Args:
        library: the library to search.
        text: the query, in which names of entities are looked up.
        statement: the query as a declarative sentence, which is compared with names and descriptions.
        k: most items.
        sources: sources to search; none means all.

    Raises:
        LibraryError: a store cannot be read, or the library was deleted.
    """

    def ask() -> list[tuple[str, float]]:
        row = library.held.catalog.row(library.id)
        check_encoder(row, library.encoder.name)
        return search(library.held, row, text, library.encoder.queries([statement]), k, sources)

    return await asyncio.to_thread(ask)


async def has_graph(library: Library) -> bool:
    """Return whether a chat model found entities in the library's recordings."""

    def ask() -> bool:
        return bool(entity_graph(library.held.catalog, library.id))

    return await asyncio.to_thread(ask)


def search(
    held: Stores, row: LibraryRow, text: str, vectors: Matrix, k: int, sources: Sequence[str] = ()
) -> list[tuple[str, float]]:
    """Return up to k (item id, score), best first.

    Names are looked up in the text; `vectors`, shape (n, dim), are those of the statement. No sources means
    all.
    """
    graph = entity_graph(held.catalog, row.id)
    similar: dict[str, float] = {}
    for hits in held.vectors.query(row.id, CORPUS, entity_space(row.encoder), vectors, MATCHES, sources):
        for key, cosine in hits:
            if cosine >= LIKE:
                similar[key] = max(similar.get(key, 0.0), LIKENESS * cosine)
    ranked = _weighted(graph, _matches(graph, text, similar))
    neighbours = _weighted(graph, _neighbours(graph, ranked))
    items = _items(graph, ranked, neighbours, sources)
    return sorted(items.items(), key=lambda r: (-r[1], r[0]))[:k]


def _matches(graph: EntityGraph, text: str, similar: Mapping[str, float]) -> dict[str, float]:
    """Return the score of each entity that the text names or is similar to."""
    grams = _grams_by_key(graph, text)
    scores = dict(similar)
    for key, gram in grams.items():
        if key in graph:
            # If one name is part of another, the longer one is meant.
            scores[key] = _PHRASE if " " in gram else _WORD
    for key in others(text, dict.fromkeys(grams.values()), _known(graph)):
        scores[key] = max(scores.get(key, 0.0), _WORD)
    return scores


def _grams_by_key(graph: EntityGraph, text: str) -> dict[str, str]:
    """Return the run of words in the text that names each entity, of several names the longest."""
    grams = {}
    for gram in ngrams(text):
        for key in keys_of(gram):
            grams[key] = gram
    joined = graph.graph["joined"]
    for key in grams.keys() & joined.keys():
        entity = joined[key]
        grams[entity] = max(grams[key], grams.get(entity, ""), key=len)
    return grams


def _known(graph: EntityGraph) -> list[Known]:
    """Return (key, name, type) of all names of all entities."""
    kinds: dict[tuple[str, str], str] = {}
    for key, own in graph.nodes(data="mentions"):
        for mention in own:
            kinds[key, mention.name] = mention.kind
    return [(key, name, kind) for (key, name), kind in kinds.items()]


def ngrams(text: str) -> list[str]:
    """Return the runs of up to four words of a text, without those that begin or end with a function word."""
    said = words(text)
    found: dict[str, None] = {}
    for size in range(1, _LONGEST + 1):
        for start in range(len(said) - size + 1):
            run = said[start : start + size]
            if run[0] in _FUNCTION_WORDS or run[-1] in _FUNCTION_WORDS:
                continue
            if len("".join(run)) > 1:
                found[" ".join(run)] = None
    return list(found)


def _chunk_count(graph: EntityGraph, key: str) -> int:
    """Return the number of chunks that mention an entity."""
    chunks = {mention.chunk for mention in graph.nodes[key]["mentions"]}
    return len(chunks)


def _weighted(graph: EntityGraph, scores: Mapping[str, float]) -> dict[str, float]:
    """Multiply scores by the inverse chunk frequency; leave out entities that are too common."""
    total = graph.graph["chunks"]
    most = max(_FEW_CHUNKS, _COMMON * total)
    weighted = {}
    for key, score in scores.items():
        if key not in graph:
            continue
        count = _chunk_count(graph, key)
        if count <= most:
            weighted[key] = score * math.log1p(total / count)
    return weighted


def _neighbours(graph: EntityGraph, ranked: Mapping[str, float]) -> dict[str, float]:
    """Return the scores of neighbours: an entity distributes its score by the weights of its edges."""
    scores: dict[str, float] = {}
    for key, score in ranked.items():
        if _chunk_count(graph, key) > LEADING:
            continue
        weights = {}
        for other, edge in graph.adj[key].items():
            if other not in ranked:
                weights[other] = edge["weight"]
        total = sum(weights.values()) or 1.0
        for other, weight in weights.items():
            scores[other] = scores.get(other, 0.0) + score * weight / total
    return scores


def _items(
    graph: EntityGraph, ranked: Mapping[str, float], neighbours: Mapping[str, float], sources: Sequence[str]
) -> dict[str, float]:
    """Return the score of each item: its own mentions plus a share of its chunk's."""
    by_item: dict[str, float] = {}
    by_chunk: dict[str, float] = {}
    chunk_of: dict[str, str] = {}
    for key, score in _entity_scores(ranked, neighbours):
        for mention in graph.nodes[key]["mentions"]:
            chunk = mention.chunk
            if sources and mention.source not in sources:
                continue
            by_chunk[chunk] = by_chunk.get(chunk, 0.0) + score
            for item, times in mention.items:
                chunk_of[item] = chunk
                by_item[item] = by_item.get(item, 0.0) + score * (1 + math.log(max(1, times)))
    best_chunk = max(by_chunk.values(), default=1.0)
    best_item = max(by_item.values(), default=1.0)
    out = {}
    for item, score in by_item.items():
        out[item] = score / best_item + CHUNK * by_chunk[chunk_of[item]] / best_chunk
    return out


def _entity_scores(
    ranked: Mapping[str, float], neighbours: Mapping[str, float]
) -> Iterable[tuple[str, float]]:
    """Yield the matched entities with their scores, then their neighbours with reduced scores."""
    yield from ranked.items()
    for key, score in neighbours.items():
        yield key, BEYOND * score
