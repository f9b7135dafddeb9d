"""Asking the graph: match entities to the question, weigh them, go to their neighbours, and from there to the items.

The rank of an entity is part of the score of every chunk and item it leads to. (The published code sorts chunks by the
neighbours that they share with an entity and forgets how well the entity matched, so that the chunks of hubs win
whatever is asked.)
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, func, select

from ragweave.corpora.knowledge.alias import others
from ragweave.corpora.knowledge.unify import entities_of, keys_of
from ragweave.corpora.store.blobs import CORPUS, Matrix, entity_space
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.library import Library
from ragweave.corpora.store.schema import mentions, relations
from ragweave.corpora.store.stores import Stores, check_encoder
from ragweave.models.text import STOP, STOP_CJK, words

MATCHES = 20
"""Entities that vectors may bring (VideoRAG takes 20)."""
LIKE = 0.45
"""Lowest cosine of an entity that the question does not name."""
LIKENESS = 0.5
"""Weight of an entity that is only like the question, beside one that it names."""
NEIGHBOURS = 60
"""Neighbours that are weighed, those that are joined most strongly."""
LEADING = 60
"""Chunks from which an entity leads to no neighbours: somebody who speaks everywhere is joined to everything."""
READ = 400
"""Mentions that are read: of what matched and of its neighbours, the weightiest and rarest first."""
BEYOND = 0.3
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

    Entities that the text names are looked up; the statement, a declarative sentence, is compared with what is known
    of all of them. No sources means all.

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
    like: dict[str, float] = {}
    for hits in held.vectors.query(row.id, CORPUS, entity_space(row.encoder), vectors, MATCHES, sources):
        for key, cosine in hits:
            if cosine >= LIKE:
                like[key] = max(like.get(key, 0.0), LIKENESS * cosine)
    with held.catalog.reading(row.id) as connection:
        scores = _matches(connection, text, like)
        if not scores:
            return []
        chunks = select(mentions.c.chunk).distinct().subquery()
        total = int(connection.execute(select(func.count()).select_from(chunks)).scalar_one())
        spread = _spread(connection, scores)
        ranked = _weighed(scores, spread, total)
        near = _neighbours(connection, {k: v for k, v in ranked.items() if spread[k] <= LEADING})
        around = _spread(connection, near)
        chosen = within_budget(ranked, spread)
        left = READ - sum(spread[k] for k in chosen)
        beyond = within_budget(_weighed(near, around, total), around, left, least=0)
        items = _items(connection, chosen, {k: near[k] for k in beyond}, sources)
    return sorted(items.items(), key=lambda r: (-r[1], r[0]))[:k]


def _matches(connection: Connection, text: str, like: Mapping[str, float]) -> dict[str, float]:
    """Return the score of each entity that the text names or is like."""
    grams = {key: g for g in ngrams(text) for key in keys_of(g)}
    for key, entity in entities_of(connection, grams).items():
        grams[entity] = max(grams[key], grams.get(entity, ""), key=len)
    query = select(mentions.c.entity).where(mentions.c.entity.in_(list(grams)))
    scores = dict(like)
    # Of names inside each other the longer one is meant.
    for key in connection.execute(query.distinct()).scalars():
        scores[key] = 1.0 if " " in grams[key] else 0.8
    entities = select(mentions.c.entity, mentions.c.name, func.max(mentions.c.kind))
    rows = connection.execute(entities.group_by(mentions.c.entity, mentions.c.name))
    known = [(key, name, kind) for key, name, kind in rows]
    for key in others(text, dict.fromkeys(grams.values()), known):
        scores[key] = max(scores.get(key, 0.0), 0.8)
    return scores


def ngrams(text: str) -> list[str]:
    """Return the runs of up to four words of a text, without those that begin or end with a function word."""
    said = words(text)
    runs = [said[at : at + size] for size in range(1, _LONGEST + 1) for at in range(len(said) - size + 1)]
    kept = [run for run in runs if not {run[0], run[-1]} & (STOP | STOP_CJK) and len("".join(run)) > 1]
    return list(dict.fromkeys(" ".join(run) for run in kept))


def _spread(connection: Connection, keys: Iterable[str]) -> dict[str, int]:
    """Return in how many chunks each entity stands."""
    chunks = func.count(mentions.c.chunk.distinct())
    query = select(mentions.c.entity, chunks).where(mentions.c.entity.in_(list(keys))).group_by(mentions.c.entity)
    return {key: int(n) for key, n in connection.execute(query)}


def _weighed(scores: Mapping[str, float], spread: Mapping[str, int], total: int) -> dict[str, float]:
    """Weigh scores by the inverse frequency over chunks, without what stands almost everywhere."""
    return {
        key: score * math.log1p(total / spread[key])
        for key, score in scores.items()
        if 0 < spread.get(key, 0) <= max(5, _COMMON * total)
    }


def within_budget(
    scores: Mapping[str, float], spread: Mapping[str, int], budget: int = READ, least: int = 1
) -> dict[str, float]:
    """Return the best that stand in no more chunks together than the budget allows, and at least so many."""
    kept: dict[str, float] = {}
    for key in sorted(scores, key=lambda k: (-scores[k], k)):
        if len(kept) < least or spread[key] <= budget:
            kept[key] = scores[key]
            budget -= spread[key]
    return kept


def _neighbours(connection: Connection, ranked: Mapping[str, float]) -> dict[str, float]:
    """Return the score that neighbours get from the entities that matched, by the weight of what joins them."""
    edges: dict[str, dict[str, float]] = {}
    ends = (relations.c.head, relations.c.tail)
    for near_end, far_end in (ends, ends[::-1]):
        query = select(near_end, far_end, func.sum(relations.c.weight)).where(near_end.in_(list(ranked)))
        for matched, beside, weight in connection.execute(query.group_by(near_end, far_end)):
            if beside not in ranked:
                edges.setdefault(matched, {})[beside] = float(weight)
    scores: dict[str, float] = {}
    for key, out in edges.items():
        total = sum(out.values()) or 1.0
        for other, weight in out.items():
            scores[other] = scores.get(other, 0.0) + ranked[key] * weight / total
    return dict(sorted(scores.items(), key=lambda r: (-r[1], r[0]))[:NEIGHBOURS])


def _items(
    connection: Connection, ranked: Mapping[str, float], near: Mapping[str, float], sources: Sequence[str]
) -> dict[str, float]:
    """Return the score of each item: its own mentions, with a share of its chunk's, neighbours included."""
    query = select(mentions.c.entity, mentions.c.chunk, mentions.c["items"]).where(
        mentions.c.entity.in_([*ranked, *near])
    )
    if sources:
        query = query.where(mentions.c.source.in_(list(sources)))
    own: dict[str, float] = {}
    chunks: dict[str, float] = {}
    within: dict[str, str] = {}
    for entity, chunk, counted in connection.execute(query):
        score = ranked.get(entity) or BEYOND * near[entity]
        chunks[chunk] = chunks.get(chunk, 0.0) + score
        for item, n in counted:
            within[item] = chunk
            own[item] = own.get(item, 0.0) + score * (1 + math.log(max(1, n)))
    top = max(chunks.values(), default=1.0)
    best = max(own.values(), default=1.0)
    return {item: score / best + CHUNK * chunks[within[item]] / top for item, score in own.items()}
