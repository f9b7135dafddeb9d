"""Write one description of each entity that several passages describe (VideoRAG, section 3.1).

Without a model, `facts.together` joins the descriptions. A text that a model merged is derived data: it is
removed with any one of its sources, and the next run has it written again from the sources that remain.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, select

from ragweave.corpora.knowledge.facts import DESCRIPTION, Merge, ask_all, together
from ragweave.corpora.knowledge.graph import EntityGraph, Mention, entity_graph
from ragweave.corpora.knowledge.store import changing
from ragweave.corpora.store import ledger
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.ledger import MERGED
from ragweave.corpora.store.schema import in_parts, stages
from ragweave.corpora.store.stores import Stores
from ragweave.models.text import clip

AT_ONCE = 8
"""Entities whose descriptions a model merges in one call."""
MOST, LONGEST = 24, 250
"""Descriptions of one entity that the model reads, spread evenly over all of them, and characters of each."""


def describe(held: Stores, row: LibraryRow, merge: Merge) -> str:
    """Have a model merge the descriptions of each entity; the caller holds the writer lock.

    Entities with the most descriptions come first. A merged text is kept as long as the descriptions stay the
    same, else it is removed. The ledger notes for each entity a digest of its descriptions, a space, and the
    merged text.

    Returns:
        A sentence about what could not be merged, or "".
    """
    graph = entity_graph(held.catalog, row.id)
    described = _described(graph)
    kept = _keep_current(held, row, described)
    wanted = sorted(described.keys() - kept, key=lambda key: (-len(_texts(described[key])), key))

    async def ask(part: Sequence[str]) -> Mapping[int, str]:
        requests = []
        for key in part:
            own = described[key]
            name = " / ".join(_names(own)[:3])
            requests.append((name, _sample(_texts(own))))
        return await merge(requests)

    replies, why = asyncio.run(ask_all(ask, wanted, AT_ONCE, "descriptions were not merged"))
    with changing(held.catalog, row.id) as connection:
        for part, found in replies:
            for n, key in enumerate(part):
                text = clip(" ".join(found.get(n, "").split()), DESCRIPTION)
                if not text:
                    text = together(_texts(described[key]))
                _store(connection, key, described[key], text)
    return why


def _described(graph: EntityGraph) -> dict[str, list[Mention]]:
    """Return the mentions with a description of each entity that has several descriptions."""
    described = {}
    for key, mentions in graph.nodes(data="mentions"):
        own = []
        for m in mentions:
            if m.description:
                own.append(m)
        if len(_texts(own)) > 1:
            described[key] = own
    return described


def _keep_current(held: Stores, row: LibraryRow, described: Mapping[str, Sequence[Mention]]) -> set[str]:
    """Remove merged texts whose descriptions have changed; return the entities whose text is kept."""
    query = select(stages.c.item, stages.c.params_hash).where(
        stages.c.stage == MERGED, stages.c.params_hash != ""
    )
    kept = set()
    stale = set()
    with held.catalog.reading(row.id) as connection:
        for key, note in connection.execute(query):
            state, _, _ = note.partition(" ")
            if key in described and _state(described[key]) == state:
                kept.add(key)
            else:
                stale.add(key)
    if stale:
        with changing(held.catalog, row.id) as connection:
            for part in in_parts(list(stale)):
                connection.execute(delete(stages).where(stages.c.stage == MERGED, stages.c.item.in_(part)))
    return kept


def _names(own: Sequence[Mention]) -> list[str]:
    names = [mention.name for mention in own]
    return list(dict.fromkeys(names))


def _texts(own: Sequence[Mention]) -> list[str]:
    texts = [mention.description for mention in own]
    return list(dict.fromkeys(texts))


def _state(own: Sequence[Mention]) -> str:
    """Return a digest of the names and descriptions from which a text is merged."""
    parts = [*_names(own), "", *_texts(own)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _sample(texts: Sequence[str]) -> list[str]:
    """Return at most `MOST` descriptions, at equal steps, each cut to `LONGEST` characters."""
    count = min(MOST, len(texts))
    return [clip(texts[n * len(texts) // count], LONGEST) for n in range(count)]


def _store(connection: Connection, key: str, own: Sequence[Mention], text: str) -> None:
    """Note the merged text with its first source, and an empty note with each further source.

    By these notes the text is removed with any of its sources.
    """
    connection.execute(delete(stages).where(stages.c.stage == MERGED, stages.c.item == key))
    note = f"{_state(own)} {text}"
    sources = [mention.source for mention in own]
    for source in dict.fromkeys(sources):
        ledger.mark(connection, source, MERGED, note, key)
        note = ""
