"""Vectors made of the stored text: those that are missing, or all of another encoder."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlalchemy import Engine, delete, func, select, update

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import locks
from ragweave.corpora.store.background import on_this_loop, stoppable
from ragweave.corpora.store.blobs import CORPUS, entity_space
from ragweave.corpora.store.catalog import LibraryRow, bump, check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.prepared import Chunks, chunked
from ragweave.corpora.store.schema import items, libraries, mentions, vectors, write
from ragweave.corpora.store.stores import Stores, stores
from ragweave.corpora.types import CORPORA, Corpus
from ragweave.models.embed import Encoder
from ragweave.models.errors import InputError, LibraryError
from ragweave.models.text import clip

_PAGE = 500
_AT_ONCE = 2_000
_TEXT = 400
"""Characters of what is embedded of an entity."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far re-embedding has come."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What `reembed` did.

    Attributes:
        library: name of the library.
        before: encoder before.
        after: encoder now.
        dim: length of a vector now.
        vectors: vectors of the library now.
        embedded: those of them that this run made; the others were there from a run that was interrupted.
        seconds: wall time.
    """

    library: str
    before: str
    after: str
    dim: int
    vectors: int
    embedded: int
    seconds: float


async def reembed(
    library: str, embed: str, *, on_progress: Callable[[Progress], None] | None = None, wait: float | None = None
) -> Reembedded:
    """Give a library the vectors of another encoder, without reading a file again.

    The library answers with its old vectors until the new ones are complete; then one transaction exchanges them. A
    run that was interrupted is continued by the next one of the same encoder.

    Raises:
        InputError: the library has that encoder already.
        LibraryNotFound: there is none of that name.
        LibraryError: it is being written, or the disk is full.
        ModelError: the encoder cannot be loaded or reached.
    """
    name, tell = check_name(library), on_this_loop(on_progress)
    return await stoppable(lambda stop: _reembed(name, embed, tell, stop, wait))


def _reembed(
    name: str, embed: str, tell: Callable[[Progress], None], stop: threading.Event, wait: float | None
) -> Reembedded:
    from ragweave.models.embed import encoder

    began = time.monotonic()
    settings, held, mind = corpora_settings(), stores(), encoder(embed)
    patience = settings.lock_wait if wait is None else wait
    found = held.catalog.library(name)
    with locks.writer(settings.home, found.id, name, patience, lambda holder: None):
        row = held.catalog.row(found.id)
        if row.encoder == mind.name:
            raise InputError(f"The library {name!r} has the encoder {mind.name!r} already", "name another one")
        Committer(held.catalog, row, "").recover()
        total, done, made = sum(held.catalog.counts(row.id).values()), 0, 0
        for corpus in CORPORA:
            for here, new in embedded(held, row.id, corpus, mind, stop):
                done, made = done + here, made + new
                tell(Progress(done, total))
        if stop.is_set():
            raise LibraryError("Re-embedding was stopped", "the same command goes on where this one ended")
        count = _exchange(held, row, mind)
        embed_entities(held, held.catalog.row(row.id), mind)
        held.vectors.tidy(row.id)
    return Reembedded(name, row.encoder, mind.name, mind.dim, count, made, time.monotonic() - began)


def embedded(
    held: Stores, library: str, corpus: Corpus, mind: Encoder, stop: threading.Event
) -> Iterator[tuple[int, int]]:
    """Make the vectors of an encoder that are missing, page by page, and remove those that belong to no chunk.

    Yields how many items were looked at, and how many vectors were made.
    """
    stale = set(held.vectors.ids(library, corpus, mind.name))
    there = frozenset(stale)
    for page in held.catalog.pages(library, corpus):
        if stop.is_set():
            return
        cut = chunked(page, mind.max_words)
        stale.difference_update(cut.ids)
        yield len(page), _add(held, library, corpus, mind, cut, there)
    held.vectors.discard(library, corpus, mind.name, sorted(stale))


def embed_missing(held: Stores, row: LibraryRow, mind: Encoder) -> int:
    """Make vectors of items that have none, such as those of an old home that could not be read; return how many."""
    with_vectors = select(vectors.c.item).where(vectors.c.library == row.id, vectors.c.space == mind.name)
    lacking = select(items.c.id, items.c.corpus).where(items.c.library == row.id, items.c.id.not_in(with_vectors))
    with held.catalog.engine(row.id).begin() as connection:
        lost = [(str(id_), corpus) for id_, corpus in connection.execute(lacking)]
    made = 0
    for corpus in CORPORA:
        ids = [id_ for id_, of in lost if of == corpus]
        for start in range(0, len(ids), _PAGE):
            page = list(held.catalog.items(row.id, ids[start : start + _PAGE]).values())
            made += _add(held, row.id, corpus, mind, chunked(page, mind.max_words), frozenset())
    return made


def _add(held: Stores, library: str, corpus: Corpus, mind: Encoder, cut: Chunks, there: frozenset[str]) -> int:
    lost = [n for n, id_ in enumerate(cut.ids) if id_ not in there]
    if not lost:
        return 0
    rows = mind.texts([cut.texts[n] for n in lost])
    ids, sources = [cut.ids[n] for n in lost], [cut.sources[n] for n in lost]
    return len(held.vectors.put(library, corpus, mind.name, ids, sources, rows))


def _exchange(held: Stores, row: LibraryRow, mind: Encoder) -> int:
    """Let the vectors of an encoder be those that count; return how many there are."""
    old = (vectors.c.library == row.id) & vectors.c.space.in_([row.encoder, entity_space(row.encoder)])
    new = (vectors.c.library == row.id) & (vectors.c.space == mind.name)
    with write(held.catalog.engine(row.id)) as connection:
        connection.execute(delete(vectors).where(old))
        connection.execute(update(libraries).values(encoder=mind.name, dim=mind.dim))
        bump(connection, row.id)
        return int(connection.execute(select(func.count()).where(new)).scalar_one())


def embed_entities(held: Stores, row: LibraryRow, mind: Encoder) -> None:
    """Make the missing vectors of the knowledge graph's entities, and remove those that nothing mentions any more.

    The caller holds the writer lock. Vectors that were lost, or never made because of a kill, come back here.
    """
    space = entity_space(row.encoder)
    wanted = _texts(held.catalog.engine(row.id), row.id)
    stored = set(held.vectors.ids(row.id, CORPUS, space))
    missing = sorted(wanted.keys() - stored)
    for start in range(0, len(missing), _AT_ONCE):
        some = missing[start : start + _AT_ONCE]
        made = mind.texts([wanted[i] for i in some])
        held.vectors.put(row.id, CORPUS, space, some, [i.partition("~")[2] for i in some], made)
    held.vectors.discard(row.id, CORPUS, space, sorted(stored - wanted.keys()))


def _texts(engine: Engine, library: str) -> dict[str, str]:
    """Return what is embedded, by `ENTITY~SOURCE`: the name, and the first thing that the source says about it."""
    query = (
        select(mentions.c.entity, mentions.c.source, mentions.c.name, mentions.c.description)
        .where(mentions.c.library == library)
        .order_by(mentions.c.n)
    )
    found: dict[str, str] = {}
    with engine.begin() as connection:
        for entity, source, name, description in connection.execute(query):
            found.setdefault(f"{entity}~{source}", clip(f"{name}. {description}".strip(), _TEXT))
    return found
