"""One description of each entity that several passages speak of (VideoRAG, section 3.1: semantic synthesis).

Without a model what passages say is put together as `facts.together` states. Where a model merges it, its text is
derived data: it goes as soon as one of its sources does, and the next run has it written anew from those that stay.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, delete, select

from ragweave.corpora.knowledge.facts import DESCRIPTION, Merge, together
from ragweave.corpora.store import ledger
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.ledger import MERGED
from ragweave.corpora.store.schema import in_parts, mentions, stages
from ragweave.corpora.store.stores import Stores
from ragweave.models.errors import RagweaveError
from ragweave.models.text import clip

AT_ONCE = 8
"""Entities whose descriptions a model merges in one call."""
_MERGED = select(stages.c.item, stages.c.params_hash).where(stages.c.stage == MERGED, stages.c.params_hash != "")
"""By entity: the digest of what its description was merged from, and after a space the text."""
MOST, LONGEST = 24, 250
"""Descriptions of one entity that it reads, spread evenly over all of them, and characters of each."""


@dataclass(slots=True)
class EntityDescriptions:
    """What passages say of one entity, each once and in order, with its names and the sources."""

    names: dict[str, None] = field(default_factory=dict)
    told: dict[str, None] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """Digest of what a merged description is made of."""
        return hashlib.sha256("\0".join([*self.names, "", *self.told]).encode()).hexdigest()[:16]


def merged_of(connection: Connection, keys: Sequence[str] | None = None) -> dict[str, str]:
    """Return the descriptions that a model merged, by entity; of all entities where no keys are given."""
    queries = [_MERGED] if keys is None else [_MERGED.where(stages.c.item.in_(part)) for part in in_parts(keys)]
    rows = (row for q in queries for row in connection.execute(q))
    return {key: text for key, held in rows if (text := held.partition(" ")[2])}


def describe(held: Stores, row: LibraryRow, merge: Merge) -> str:
    """Have a model merge what is said of entities, those first of which most is said; the caller holds the writer lock.

    What was merged from the same descriptions before is kept, and what was merged from others is removed.

    Returns:
        What could not be merged, in words, or "".
    """
    with held.catalog.reading(row.id) as connection:
        said = _said(connection)
        states = {key: text.partition(" ")[0] for key, text in connection.execute(_MERGED)}
    stale = [key for key, state in states.items() if key not in said or said[key].state != state]
    if stale:
        with held.catalog.writing(row.id) as connection:
            for part in in_parts(stale):
                connection.execute(delete(stages).where(stages.c.stage == MERGED, stages.c.item.in_(part)))
    wanted = [key for key in said if key not in states or key in stale]
    wanted.sort(key=lambda key: -len(said[key].told))
    made, why = asyncio.run(_asked(merge, said, wanted)) if wanted else ({}, "")
    if made:
        with held.catalog.writing(row.id) as connection:
            for key, text in made.items():
                _keep(connection, key, said[key], text)
    return why


def _said(connection: Connection) -> dict[str, EntityDescriptions]:
    """Return what is said of the entities of which more than one thing is."""
    columns = (mentions.c.entity, mentions.c.name, mentions.c.description, mentions.c.source)
    query = select(*columns).where(mentions.c.description != "").order_by(mentions.c.n)
    out: dict[str, EntityDescriptions] = {}
    for key, name, description, source in connection.execute(query):
        one = out.setdefault(key, EntityDescriptions())
        one.names[name] = one.told[description] = one.sources[source] = None
    return {key: one for key, one in out.items() if len(one.told) > 1}


async def _asked(
    merge: Merge, said: Mapping[str, EntityDescriptions], wanted: Sequence[str]
) -> tuple[dict[str, str], str]:
    """Ask for all lists side by side; what a reply leaves out is put together by the rule."""
    failed: list[str] = []

    async def some(part: Sequence[str]) -> dict[str, str]:
        try:
            found = await merge([(" / ".join([*said[key].names][:3]), _spread([*said[key].told])) for key in part])
        except RagweaveError as error:
            failed.append(str(error))
            return {}
        texts = {key: clip(" ".join(found.get(n, "").split()), DESCRIPTION) for n, key in enumerate(part)}
        return {key: text or together(said[key].told) for key, text in texts.items()}

    parts = in_parts(wanted, AT_ONCE)
    out = {key: text for found in await asyncio.gather(*map(some, parts)) for key, text in found.items()}
    return out, f"{len(failed)} of {len(parts)} lists of descriptions were not merged: {failed[0]}" if failed else ""


def _spread(told: Sequence[str]) -> list[str]:
    many = min(MOST, len(told))
    return [clip(told[n * len(told) // many], LONGEST) for n in range(many)]


def _keep(connection: Connection, key: str, said: EntityDescriptions, text: str) -> None:
    """Note the text with the first of its sources, and with each of the others that it is made of them as well."""
    connection.execute(delete(stages).where(stages.c.stage == MERGED, stages.c.item == key))
    for n, source in enumerate(said.sources):
        ledger.mark(connection, source, MERGED, "" if n else f"{said.state} {text}", key)


def described(rows: Iterable[tuple[str, str]], merged: Mapping[str, str]) -> dict[str, str]:
    """Return the description of each entity: the merged one, or by the rule of what is said, (entity, description)."""
    told: dict[str, list[str]] = {}
    for key, description in rows:
        told.setdefault(key, []).append(description)
    return {key: merged.get(key) or together(own) for key, own in told.items()}
