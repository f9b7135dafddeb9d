"""Vectors of entities: name and what a source says about it, one per entity and source, so that they go with it."""

from __future__ import annotations

from sqlalchemy import select

from ragweave.corpora.store.blobs import entity_space
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.schema import mentions
from ragweave.corpora.store.stores import Stores
from ragweave.corpora.types import Corpus
from ragweave.models.embed import Encoder
from ragweave.models.text import clip

CORPUS: Corpus = "clip"
"""Corpus under whose name they lie; their space tells them from the clips' own."""
_AT_ONCE = 2_000
_TEXT = 400


def vector_id(entity: str, source: str) -> str:
    """Return the id of the vector of an entity as one source speaks of it."""
    return f"{entity}~{source}"


def refresh(held: Stores, row: LibraryRow, mind: Encoder) -> int:
    """Make the vectors that are missing and remove those that nothing mentions any more; return how many were made.

    The caller holds the writer lock. Vectors that were lost, or never made because of a kill, come back here.
    """
    space = entity_space(row.encoder)
    wanted = _texts(held, row.id)
    stored = set(held.vectors.ids(row.id, CORPUS, space))
    missing = sorted(wanted.keys() - stored)
    for start in range(0, len(missing), _AT_ONCE):
        some = missing[start : start + _AT_ONCE]
        made = mind.texts([wanted[i] for i in some])
        held.vectors.put(row.id, CORPUS, space, some, [i.partition("~")[2] for i in some], made)
    held.vectors.discard(row.id, CORPUS, space, sorted(stored - wanted.keys()))
    return len(missing)


def _texts(held: Stores, library: str) -> dict[str, str]:
    """Return what is embedded, by vector id: the name, and the first thing that the source says about it."""
    query = (
        select(mentions.c.entity, mentions.c.source, mentions.c.name, mentions.c.description)
        .where(mentions.c.library == library)
        .order_by(mentions.c.n)
    )
    found: dict[str, str] = {}
    with held.catalog.engine(library).begin() as connection:
        for entity, source, name, description in connection.execute(query):
            found.setdefault(vector_id(entity, source), clip(f"{name}. {description}".strip(), _TEXT))
    return found
