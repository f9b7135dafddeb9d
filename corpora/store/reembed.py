"""Vectors made of the stored text: those that are missing, or all of another encoder."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sqlalchemy import delete, func, select, update

from ragweave.corpora.store.blobs import CORPUS, entity_space
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.prepared import chunked, chunks
from ragweave.corpora.store.schema import about, bump, in_parts, items, mentions, vectors
from ragweave.corpora.store.stores import Stores
from ragweave.corpora.types import CORPORA
from ragweave.models.embed import Encoder
from ragweave.models.errors import LibraryError
from ragweave.models.text import clip

_PAGE = 500
_AT_ONCE = 2_000
_TEXT = 400
"""Characters of what is embedded of an entity."""


def exchange(
    held: Stores,
    row: LibraryRow,
    text_encoder: Encoder,
    tell: Callable[[int, int], None],
    stop: threading.Event,
) -> int:
    """Give a library the vectors of another encoder, of its stored text; return how many there are.

    The library answers with its old vectors until the new ones are complete; then one transaction exchanges
    them. What was interrupted is continued. The caller holds the writer lock.

    Raises:
        LibraryError: it was stopped, or the disk is full.
        ModelError: the encoder cannot be reached.
    """
    embed_missing(held, row, text_encoder, tell, stop)
    if stop.is_set():
        raise LibraryError("Re-embedding was stopped", "the same command goes on where this one ended")
    old = vectors.c.space.in_([row.encoder, entity_space(row.encoder)])
    with held.catalog.writing(row.id) as connection:
        connection.execute(delete(vectors).where(old))
        connection.execute(update(about).values(encoder=text_encoder.name, dim=text_encoder.dim))
        bump(connection)
        new = select(func.count()).where(vectors.c.space == text_encoder.name)
        count = int(connection.execute(new).scalar_one())
    embed_entities(held, held.catalog.row(row.id), text_encoder)
    return count


def embed_missing(
    held: Stores,
    row: LibraryRow,
    text_encoder: Encoder,
    tell: Callable[[int, int], None] = lambda done, of: None,
    stop: threading.Event | None = None,
) -> int:
    """Make the vectors of items that have none by an encoder; return how many were made.

    All vectors of an item are written in one transaction, so that one that has any has all.
    """
    with_vectors = select(vectors.c.item).where(vectors.c.space == text_encoder.name)
    lacking = select(items.c.id, items.c.corpus).where(items.c.id.not_in(with_vectors)).order_by(items.c.n)
    with held.catalog.reading(row.id) as connection:
        lost = [(str(id_), corpus) for id_, corpus in connection.execute(lacking)]
    made = done = 0
    for corpus in CORPORA:
        lost_here = []
        for id_, of in lost:
            if of == corpus:
                lost_here.append(id_)
        for ids in in_parts(lost_here, _PAGE):
            if stop is not None and stop.is_set():
                return made
            page = list(held.catalog.items(row.id, ids).values())
            cut = chunked(page, [chunks(item, text_encoder.max_words) for item in page])
            if cut.ids:
                made += held.vectors.put(
                    row.id, corpus, text_encoder.name, cut.ids, cut.sources, text_encoder.texts(cut.texts)
                )
            done += len(ids)
            tell(done, len(lost))
    return made


def embed_entities(held: Stores, row: LibraryRow, text_encoder: Encoder) -> None:
    """Make the missing vectors of the knowledge graph's entities, and remove those of unmentioned ones.

    What is embedded is the name, and the first thing that a source says about it, by `ENTITY~SOURCE`. The
    caller holds the writer lock. Vectors that were lost, or never made because of a kill, come back here.
    """
    space, wanted = entity_space(row.encoder), dict[str, str]()
    query = select(mentions.c.entity, mentions.c.source, mentions.c.name, mentions.c.description)
    with held.catalog.reading(row.id) as connection:
        for entity, source, name, description in connection.execute(query.order_by(mentions.c.n)):
            wanted.setdefault(f"{entity}~{source}", clip(f"{name}. {description}".strip(), _TEXT))
    stored = set(held.vectors.ids(row.id, CORPUS, space))
    for some in in_parts(sorted(wanted.keys() - stored), _AT_ONCE):
        made = text_encoder.texts([wanted[i] for i in some])
        held.vectors.put(row.id, CORPUS, space, some, [i.partition("~")[2] for i in some], made)
    held.vectors.discard(row.id, CORPUS, space, sorted(stored - wanted.keys()))
