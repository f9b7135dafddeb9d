"""Asking the graph: match entities to the question, weigh them, go to their neighbours, and from there to the items.

The rank of an entity is part of the score of every chunk and item it leads to. (The published code sorts
chunks by the neighbours that they share with an entity and forgets how well the entity matched, so that the
chunks of hubs win whatever is asked.)
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence

from ragweave.corpora.knowledge.alias import others
from ragweave.corpora.knowledge.graph import EntityGraph, entity_graph
from ragweave.corpora.knowledge.unify import keys_of
from ragweave.corpora.store.blobs import CORPUS, Matrix, entity_space
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.library import Library
from ragweave.corpora.store.stores import Stores, check_encoder
from ragweave.models.text import STOP, STOP_CJK, words

MATCHES = 20
"""Entities that vectors may bring (VideoRAG takes 20)."""
LIKE = 0.45
"""Lowest cosine of an entity that the question does not name."""
LIKENESS = 0.5
"""Weight of an entity that is only like the question, beside one that it names."""
LEADING = 60
"""Chunks from which an entity leads to no neighbours: somebody who speaks everywhere is joined to everything."""
BEYOND = 0.2
"""Weight of a neighbour beside the entity that it was reached from."""
CHUNK = 0.3
"""Weight of its chunk beside an item's own mentions."""
_LONGEST = 4
"""Words of a name that is looked up in the question."""
_COMMON = 0.2
"""Share of all chunks from which an entity is too common to lead anywhere."""


async def ask_graph(
    library: Library, text: str, statement: str, k: int = 50, sources: Sequence[str] = ()
) -> list[tuple[str, float]]:
    """Return (item id, score) of the items that the graph leads to, best first.

    Entities that the text names are looked up; the statement, a declarative sentence, is compared with what
    is known of all of them. No sources means all.

    Raises:
        LibraryError: a store cannot be read, or the library was deleted.
    """

    def ask() -> list[tuple[str, float]]:
        row = library.held.catalog.row(library.id)
        check_encoder(row, library.encoder.name)
        return search(library.held, row, text, library.encoder.queries([statement]), k, sources)

    return await asyncio.to_thread(ask)


def search(
    held: Stores, row: LibraryRow, text: str, vectors: Matrix, k: int, sources: Sequence[str] = ()
) -> list[tuple[str, float]]:
    """Return up to k (item id, score), best first.

    Names are looked up in the text; `vectors`, shape (n, dim), are of the statement. No sources means all.
    """
    graph = entity_graph(held.catalog, row.id)
    like: dict[str, float] = {}
    for hits in held.vectors.query(row.id, CORPUS, entity_space(row.encoder), vectors, MATCHES, sources):
        for key, cosine in hits:
            if cosine >= LIKE:
                like[key] = max(like.get(key, 0.0), LIKENESS * cosine)
    ranked = _weighed(graph, _matches(graph, text, like))
    items = _items(graph, ranked, _weighed(graph, _neighbours(graph, ranked)), sources)
    return sorted(items.items(), key=lambda r: (-r[1], r[0]))[:k]


def _matches(graph: EntityGraph, text: str, like: Mapping[str, float]) -> dict[str, float]:
    """Return the score of each entity that the text names or is like."""
    grams = {key: g for g in ngrams(text) for key in keys_of(g)}
    for key in grams.keys() & graph.graph["joined"].keys():
        entity = graph.graph["joined"][key]
        grams[entity] = max(grams[key], grams.get(entity, ""), key=len)
    # Of names inside each other the longer one is meant.
    scores = {**like, **{key: 1.0 if " " in gram else 0.8 for key, gram in grams.items() if key in graph}}
    rows = {(key, m.name): m.kind for key, own in graph.nodes(data="mentions") for m in own}
    known = [(key, name, kind) for (key, name), kind in rows.items()]
    for key in others(text, dict.fromkeys(grams.values()), known):
        scores[key] = max(scores.get(key, 0.0), 0.8)
    return scores


def ngrams(text: str) -> list[str]:
    """Return the runs of up to four words of a text, without those that begin or end with a function word."""
    said = words(text)
    runs = [said[at : at + size] for size in range(1, _LONGEST + 1) for at in range(len(said) - size + 1)]
    kept = [run for run in runs if not {run[0], run[-1]} & (STOP | STOP_CJK) and len("".join(run)) > 1]
    return list(dict.fromkeys(" ".join(run) for run in kept))


def _spread(graph: EntityGraph, key: str) -> int:
    """Return in how many chunks an entity stands."""
    return len({m.chunk for m in graph.nodes[key]["mentions"]})


def _weighed(graph: EntityGraph, scores: Mapping[str, float]) -> dict[str, float]:
    """Weigh scores by the inverse frequency over chunks, without what stands almost everywhere."""
    total = graph.graph["chunks"]
    spread = {key: _spread(graph, key) for key in scores if key in graph}
    most = max(5, _COMMON * total)
    return {key: scores[key] * math.log1p(total / n) for key, n in spread.items() if n <= most}


def _neighbours(graph: EntityGraph, ranked: Mapping[str, float]) -> dict[str, float]:
    """Return the score that neighbours get from the entities that matched, by the weight of what joins them."""
    scores: dict[str, float] = {}
    for key in ranked:
        if _spread(graph, key) > LEADING:
            continue
        out = {other: edge["weight"] for other, edge in graph.adj[key].items() if other not in ranked}
        total = sum(out.values()) or 1.0
        for other, weight in out.items():
            scores[other] = scores.get(other, 0.0) + ranked[key] * weight / total
    return scores


def _items(
    graph: EntityGraph, ranked: Mapping[str, float], near: Mapping[str, float], sources: Sequence[str]
) -> dict[str, float]:
    """Return the score of each item: its own mentions, with a share of its chunk's, neighbours included."""
    own: dict[str, float] = {}
    chunks: dict[str, float] = {}
    within: dict[str, str] = {}
    for key, score in [*ranked.items(), *((key, BEYOND * score) for key, score in near.items())]:
        for m in graph.nodes[key]["mentions"]:
            if sources and m.source not in sources:
                continue
            chunks[m.chunk] = chunks.get(m.chunk, 0.0) + score
            for item, n in m.items:
                within[item] = m.chunk
                own[item] = own.get(item, 0.0) + score * (1 + math.log(max(1, n)))
    top = max(chunks.values(), default=1.0)
    best = max(own.values(), default=1.0)
    return {item: score / best + CHUNK * chunks[within[item]] / top for item, score in own.items()}
