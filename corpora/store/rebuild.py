"""All vectors of a library written anew, beside those in use, verified, and put in their place in one step.

Another encoder needs that (`reembed`), and so does a disk that is to forget deleted vectors (`renew`): Chroma keeps
them in its index file, which finds less the more of them there are. The collections in use go on serving until the
catalog names the new ones, in the transaction that begins the next generation. What a killed run has written is used
by the next one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import select, update

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import ledger, locks
from ragweave.corpora.store.background import on_this_loop, stoppable
from ragweave.corpora.store.catalog import LibraryRow, bump, check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.prepared import chunk_id, chunk_texts, chunks
from ragweave.corpora.store.schema import libraries, write
from ragweave.corpora.store.spaces import entity_space
from ragweave.corpora.store.stores import Stores, stores
from ragweave.corpora.store.vectors import Matrix, item_of, visual_space
from ragweave.corpora.types import CORPORA, Corpus, Item
from ragweave.models.embed import Encoder
from ragweave.models.errors import InputError, LibraryError

_COPIED = 1_000
"""Vectors copied at a time."""
_TRIED = 50
"""New vectors of a corpus that must be found by themselves before the new collection counts."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far re-embedding has come.

    Attributes:
        done: items whose vectors are there.
        total: all items.
    """

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


@dataclass(frozen=True, slots=True)
class Chunks:
    """Chunks of items with what they belong to, and their texts."""

    ids: list[str]
    sources: list[str]
    texts: list[str]


def chunked(items: Sequence[Item], max_words: int) -> Chunks:
    """Cut items into the chunks that an encoder reads."""
    found = Chunks([], [], [])
    for item in items:
        ranges = chunks(item, max_words)
        found.ids.extend(chunk_id(item.id, n) for n in range(len(ranges)))
        found.sources.extend([item.source] * len(ranges))
        found.texts.extend(chunk_texts(item, ranges))
    return found


async def reembed(
    library: str, embed: str, *, on_progress: Callable[[Progress], None] | None = None, wait: float | None = None
) -> Reembedded:
    """Give a library the vectors of another encoder, without reading a file again.

    The library answers with its old vectors until the new ones are complete and verified. A run that was interrupted
    is continued by the next one of the same encoder.

    Args:
        library: name of the library.
        embed: encoder, as RAGWEAVE_EMBED names it.
        on_progress: told on the event loop of the caller.
        wait: seconds to wait while another process writes the library; None takes the setting.

    Raises:
        InputError: the library has that encoder already.
        LibraryNotFound: there is none of that name.
        LibraryError: it is being written, or the new vectors cannot be verified.
        ModelError: the encoder cannot be loaded or reached.
    """
    name, tell = check_name(library), on_this_loop(on_progress)
    return await stoppable(lambda stop: _reembed(name, embed, tell, stop, wait))


def _reembed(
    name: str, embed: str, tell: Callable[[Progress], None], stop: threading.Event, wait: float | None
) -> Reembedded:
    from ragweave.corpora.knowledge.vectors import refresh
    from ragweave.models.embed import encoder

    began = time.monotonic()
    settings, held, mind = corpora_settings(), stores(), encoder(embed)
    patience = settings.lock_wait if wait is None else wait
    found = held.catalog.library(name)
    with locks.writer(settings.home, found.id, name, patience, lambda holder: None):
        row = held.catalog.row(found.id)
        if row.encoder == mind.name:
            raise InputError(f"The library {name!r} has the encoder {mind.name!r} already", "name another one")
        recover(held, row, None)
        row = held.catalog.row(found.id)
        new = replace(row, encoder=mind.name, dim=mind.dim, epoch=row.epoch + 1)
        made = _embedded(held, new, mind, tell, stop)
        _copy_seen(held, row, new, stop)
        if stop.is_set():
            raise LibraryError("Re-embedding was stopped", "the same command goes on where this one ended")
        count = _swap(held, row, new, made)
        refresh(held, held.catalog.row(row.id), mind)
    return Reembedded(name, row.encoder, mind.name, mind.dim, count, made.embedded, time.monotonic() - began)


@dataclass(slots=True)
class _Made:
    """What the new collections should hold."""

    ids: dict[Corpus, set[str]]
    embedded: int = 0


def _embedded(
    held: Stores, new: LibraryRow, mind: Encoder, tell: Callable[[Progress], None], stop: threading.Event
) -> _Made:
    made = _Made({corpus: set() for corpus in CORPORA})
    total = sum(held.catalog.counts(new.id).values())
    done = 0
    for corpus in CORPORA:
        there = set(held.vectors.ids(new.id, corpus, new.space, new.generation))
        for page in held.catalog.pages(new.id, corpus):
            if stop.is_set():
                return made
            cut = chunked(page, mind.max_words)
            missing = [n for n, id_ in enumerate(cut.ids) if id_ not in there]
            made.ids[corpus].update(id_ for id_ in cut.ids if id_ in there)
            if missing:
                vectors = mind.texts([cut.texts[n] for n in missing])
                ids, sources = [cut.ids[n] for n in missing], [cut.sources[n] for n in missing]
                made.ids[corpus].update(put(held, new, corpus, ids, sources, vectors))
                made.embedded += len(missing)
            done += len(page)
            tell(Progress(done, total))
    return made


def recover(held: Stores, row: LibraryRow, mind: Encoder | None) -> None:
    """Finish what a killed run left; the caller holds the writer lock.

    Args:
        held: the stores.
        row: the library.
        mind: its encoder, or None where another one is set; lost vectors are then left to the next run that has it.
    """
    held.vectors.mend(partial(note_lost, held))
    with held.catalog.engine.begin() as connection:
        lost = ledger.lost(connection, row.id)
    if lost and mind is not None:
        for corpus in CORPORA:
            for ids, sources, texts in missing(held, row, corpus, mind):
                put(held, row, corpus, ids, sources, mind.texts(texts))
        with held.vectors.changing(row.id, row.generation):
            with write(held.catalog.engine) as connection:
                ledger.forget(connection, row.id, [""])
                generation = bump(connection, row.id)
            held.vectors.reached(row.id, generation)
    Committer(held.catalog, held.vectors, held.catalog.row(row.id), "").recover()


def note_lost(held: Stores, library: str) -> None:
    """Note that vectors of a library, where it still exists, are about to be removed."""
    with write(held.catalog.engine) as connection:
        if connection.execute(select(libraries.c.id).where(libraries.c.id == library)).first():
            ledger.mark_lost(connection, library)
            bump(connection, library)


def missing(
    held: Stores, row: LibraryRow, corpus: Corpus, mind: Encoder
) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Yield the chunks that have no vector although the encoder gives them one: ids, sources, texts."""
    stored = set(held.vectors.ids(row.id, corpus, row.space, row.generation))
    for page in held.catalog.pages(row.id, corpus):
        cut = chunked(page, mind.max_words)
        lost = [n for n, id_ in enumerate(cut.ids) if id_ not in stored]
        if lost:
            # A text without words has no vector, and none is missing.
            made = mind.texts([cut.texts[n] for n in lost])
            lost = [n for n, vector in zip(lost, made, strict=True) if vector.any()]
            yield [cut.ids[n] for n in lost], [cut.sources[n] for n in lost], [cut.texts[n] for n in lost]


def put(
    held: Stores, library: LibraryRow, corpus: Corpus, ids: Sequence[str], sources: Sequence[str], vectors: Matrix
) -> list[str]:
    """Write vectors into a space of a library; return the ids of those that can be stored, which zeros cannot."""
    with held.vectors.changing(library.id, library.generation):
        return held.vectors.upsert(library.id, corpus, library.space, ids, sources, vectors)


def renew(held: Stores, row: LibraryRow, stop: threading.Event | None = None) -> LibraryRow:
    """Copy the vectors of a library into new collections, which leaves out everything that was deleted.

    The caller holds the writer lock. Returns the library as it is then: as before where `stop` was set on the way; the
    next run goes on with what this one has copied.
    """
    new = replace(row, epoch=row.epoch + 1)
    made = _Made({corpus: _copy(held, row, corpus, row.space, new.space, stop) for corpus in CORPORA})
    _copy_seen(held, row, new, stop)
    _copy_entities(held, row, new)
    if stop is not None and stop.is_set():
        return row
    _swap(held, row, new, made)
    return held.catalog.row(row.id)


def _copy(held: Stores, row: LibraryRow, corpus: Corpus, space: str, to: str, stop: threading.Event | None) -> set[str]:
    """Copy the vectors of items that the catalog holds from one space to another; return their ids."""
    stored = held.vectors.ids(row.id, corpus, space, row.generation)
    known = held.catalog.known(row.id, sorted({item_of(i) for i in stored}))[1]
    current = {i for i in stored if item_of(i) in known}
    copied = current & set(held.vectors.ids(row.id, corpus, to, row.generation))
    missing = sorted(current - copied)
    for start in range(0, len(missing), _COPIED):
        if stop is not None and stop.is_set():
            break
        ids, sources, vectors = held.vectors.fetch(
            row.id, corpus, space, row.generation, missing[start : start + _COPIED]
        )
        with held.vectors.changing(row.id, row.generation):
            copied.update(held.vectors.upsert(row.id, corpus, to, ids, sources, vectors))
    return copied


def _copy_seen(held: Stores, row: LibraryRow, new: LibraryRow, stop: threading.Event | None) -> None:
    """Copy what image encoders saw: it depends on no text encoder, but stands beside its vectors."""
    for encoder in held.vectors.image_encoders(row.id, row.space, row.generation):
        for corpus in CORPORA:
            _copy(held, row, corpus, visual_space(encoder, row.space), visual_space(encoder, new.space), stop)


def _copy_entities(held: Stores, row: LibraryRow, new: LibraryRow) -> None:
    """Copy the entities of the knowledge graph; what was deleted is not among their rows any more."""
    space, to = entity_space(row.space), entity_space(new.space)
    stored = held.vectors.ids(row.id, "clip", space, row.generation)
    for start in range(0, len(stored), _COPIED):
        got = held.vectors.fetch(row.id, "clip", space, row.generation, stored[start : start + _COPIED])
        with held.vectors.changing(row.id, row.generation):
            held.vectors.upsert(row.id, "clip", to, *got)


def _swap(held: Stores, row: LibraryRow, new: LibraryRow, made: _Made) -> int:
    """Verify the new collections and let the catalog name them; return how many vectors they hold."""
    for corpus in CORPORA:
        stored = set(held.vectors.ids(new.id, corpus, new.space, new.generation))
        extra = sorted(i for i in stored - made.ids[corpus])
        if extra:  # of items that have left the library since the run that wrote them
            with held.vectors.changing(new.id, new.generation):
                held.vectors.discard(new.id, corpus, new.space, extra)
        _verify(held, new, corpus, made.ids[corpus])
    with held.vectors.changing(new.id, row.generation):
        with write(held.catalog.engine) as connection:
            values = {"encoder": new.encoder, "dim": new.dim, "epoch": new.epoch}
            connection.execute(update(libraries).where(libraries.c.id == new.id).values(values))
            if new.encoder != row.encoder:  # every vector was made anew, lost ones as well
                ledger.forget(connection, new.id, [""])
            generation = bump(connection, new.id)
        held.vectors.keep_only({new.id: new.space})
        held.vectors.reached(new.id, generation)
    return sum(map(len, made.ids.values()))


def _verify(held: Stores, new: LibraryRow, corpus: Corpus, wanted: set[str]) -> None:
    stored = set(held.vectors.ids(new.id, corpus, new.space, new.generation))
    tried = sorted(wanted)[:: max(1, len(wanted) // _TRIED)][:_TRIED]
    ids, _, vectors = held.vectors.fetch(new.id, corpus, new.space, new.generation, tried)
    found = held.vectors.query(new.id, corpus, new.space, new.generation, vectors, 3) if ids else []
    sound = all(hits and hits[0][1] > 1 - 1e-3 for hits in found) and (not ids or vectors.shape[1] == new.dim)
    if stored != wanted or len(ids) != len(tried) or not sound:
        raise LibraryError(
            f"The new vectors of corpus {corpus!r} cannot be verified ({len(stored)} of {len(wanted)} are there)",
            "the old ones stay in use; run the same command again",
        )
