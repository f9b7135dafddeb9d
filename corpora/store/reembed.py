"""Vectors made of the stored text: those that are missing, or all of another encoder."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import delete, func, select, update

from ragweave.corpora.store import locks
from ragweave.corpora.store.background import on_this_loop, stoppable
from ragweave.corpora.store.blobs import CORPUS, entity_space
from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.prepared import chunked, chunks
from ragweave.corpora.store.schema import about, bump, in_parts, items, mentions, vectors
from ragweave.corpora.store.stores import Stores, stores
from ragweave.corpora.types import CORPORA
from ragweave.models import embed
from ragweave.models.embed import Encoder
from ragweave.models.errors import InputError, LibraryError
from ragweave.models.text import clip

_PAGE = 500
_AT_ONCE = 2_000
_TEXT = 400
"""Characters of what is embedded of an entity."""


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What `reembed` did.

    `embedded` are the vectors that this run made; the others were there from a run that was interrupted.
    """

    library: str
    before: str
    after: str
    dim: int
    vectors: int
    embedded: int
    seconds: float


async def reembed(library: str, encoder: str, *, on_progress: Callable[[int], None] | None = None) -> Reembedded:
    """Give a library the vectors of another encoder, without reading a file again.

    The library answers with its old vectors until the new ones are complete; then one transaction exchanges them. A run
    that was interrupted is continued by the next one of the same encoder, which is named as RAGWEAVE_EMBED names it.

    Raises:
        InputError: the library has that encoder already.
        LibraryNotFound: there is none of that name.
        LibraryError: it is being written, or the disk is full.
        ModelError: the encoder cannot be loaded or reached.
    """
    name, tell = check_name(library), on_this_loop(on_progress)
    return await stoppable(lambda stop: _reembed(name, encoder, tell, stop))


def _reembed(name: str, wanted: str, tell: Callable[[int], None], stop: threading.Event) -> Reembedded:
    began = time.monotonic()
    held, text_encoder = stores(), embed.encoder(wanted)
    found = held.catalog.library(name)
    with locks.writer(found.id, name):
        row = held.catalog.row(found.id)
        if row.encoder == text_encoder.name:
            raise InputError(f"The library {name!r} has the encoder {text_encoder.name!r} already", "name another one")
        Committer(held.catalog, row).recover()
        made = embed_missing(held, row, text_encoder, tell, stop)
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
        held.vectors.tidy(row.id, words=text_encoder.max_words)
    return Reembedded(name, row.encoder, text_encoder.name, text_encoder.dim, count, made, time.monotonic() - began)


def embed_missing(
    held: Stores,
    row: LibraryRow,
    text_encoder: Encoder,
    tell: Callable[[int], None] = lambda made: None,
    stop: threading.Event | None = None,
) -> int:
    """Make the vectors of items that have none by an encoder; return how many were made.

    All vectors of an item are written in one transaction, so that one that has any has all.
    """
    with_vectors = select(vectors.c.item).where(vectors.c.space == text_encoder.name)
    lacking = select(items.c.id, items.c.corpus).where(items.c.id.not_in(with_vectors)).order_by(items.c.n)
    with held.catalog.reading(row.id) as connection:
        lost = [(str(id_), corpus) for id_, corpus in connection.execute(lacking)]
    made = 0
    for corpus in CORPORA:
        for ids in in_parts([id_ for id_, of in lost if of == corpus], _PAGE):
            if stop is not None and stop.is_set():
                return made
            page = list(held.catalog.items(row.id, ids).values())
            cut = chunked(page, [chunks(item, text_encoder.max_words) for item in page])
            if cut.ids:
                made += held.vectors.put(
                    row.id, corpus, text_encoder.name, cut.ids, cut.sources, text_encoder.texts(cut.texts)
                )
            tell(made)
    return made


def embed_entities(held: Stores, row: LibraryRow, text_encoder: Encoder) -> None:
    """Make the missing vectors of the knowledge graph's entities, and remove those that nothing mentions any more.

    What is embedded is the name, and the first thing that a source says about it, by `ENTITY~SOURCE`. The caller holds
    the writer lock. Vectors that were lost, or never made because of a kill, come back here.
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
