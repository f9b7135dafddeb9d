"""One description of each entity that several passages speak of (VideoRAG, section 3.1: semantic synthesis).

Without a model what passages say is put together as `facts.together` states. Where a model merges it, its
text is
derived data: it goes as soon as one of its sources does, and the next run has it written anew from those that
stay.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, select

from ragweave.corpora.knowledge.facts import DESCRIPTION, Merge, ask_all, together
from ragweave.corpora.knowledge.graph import Mention, entity_graph
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
"""Descriptions of one entity that it reads, spread evenly over all of them, and characters of each."""


def describe(held: Stores, row: LibraryRow, merge: Merge) -> str:
    """Have a model merge what is said of entities, those first of which most is said; the caller holds the writer lock.

    What was merged from the same descriptions before is kept, and what was merged from others is removed. The
    ledger notes by entity the digest of what its description was merged from, and after a space the text.

    Returns:
        What could not be merged, in words, or "".
    """
    graph = entity_graph(held.catalog, row.id)
    telling = {key: [m for m in own if m.description] for key, own in graph.nodes(data="mentions")}
    said = {key: own for key, own in telling.items() if len(_texts(own)) > 1}
    query = select(stages.c.item, stages.c.params_hash).where(
        stages.c.stage == MERGED, stages.c.params_hash != ""
    )
    with held.catalog.reading(row.id) as connection:
        states = {key: note.partition(" ")[0] for key, note in connection.execute(query)}
    kept = {key for key, state in states.items() if key in said and _state(said[key]) == state}
    if stale := [*states.keys() - kept]:
        with changing(held.catalog, row.id) as connection:
            for part in in_parts(stale):
                connection.execute(delete(stages).where(stages.c.stage == MERGED, stages.c.item.in_(part)))
    wanted = sorted(said.keys() - kept, key=lambda key: (-len(_texts(said[key])), key))

    async def ask(part: Sequence[str]) -> Mapping[int, str]:
        return await merge([(" / ".join(_names(said[key])[:3]), _spread(_texts(said[key]))) for key in part])

    replies, why = asyncio.run(ask_all(ask, wanted, AT_ONCE, "descriptions were not merged"))
    with changing(held.catalog, row.id) as connection:
        for part, found in replies:
            for n, key in enumerate(part):
                text = clip(" ".join(found.get(n, "").split()), DESCRIPTION)
                _keep(connection, key, said[key], text or together(_texts(said[key])))
    return why


def _names(said: Sequence[Mention]) -> list[str]:
    return list(dict.fromkeys(m.name for m in said))


def _texts(said: Sequence[Mention]) -> list[str]:
    return list(dict.fromkeys(m.description for m in said))


def _state(said: Sequence[Mention]) -> str:
    """Return the digest of what a merged description is made of."""
    return hashlib.sha256("\0".join([*_names(said), "", *_texts(said)]).encode()).hexdigest()[:16]


def _spread(told: Sequence[str]) -> list[str]:
    many = min(MOST, len(told))
    return [clip(told[n * len(told) // many], LONGEST) for n in range(many)]


def _keep(connection: Connection, key: str, said: Sequence[Mention], text: str) -> None:
    """Note the text with the first of its sources, and with each of the others that it is made of them as well."""
    connection.execute(delete(stages).where(stages.c.stage == MERGED, stages.c.item == key))
    for n, source in enumerate(dict.fromkeys(m.source for m in said)):
        ledger.mark(connection, source, MERGED, "" if n else f"{_state(said)} {text}", key)
