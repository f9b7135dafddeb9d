"""Do the stores of a library agree, and what can be done where they do not.

Everything that can be found lies in the catalog; vectors and words are made of it again. What an index run leaves
when it is killed needs none of this: the next run finishes it.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Connection, select, update

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import ledger, lexical, locks
from ragweave.corpora.store.catalog import LibraryRow, bump, check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.compact import compact
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import terms_of
from ragweave.corpora.store.rebuild import missing, note_lost, put, recover
from ragweave.corpora.store.schema import items, libraries, sources, write
from ragweave.corpora.store.seeing import SEEN, catch_up, pictures_of
from ragweave.corpora.store.spaces import entity_space
from ragweave.corpora.store.stores import Stores, stores
from ragweave.corpora.store.vectors import item_of, name_of, visual_space
from ragweave.corpora.types import CORPORA, Corpus
from ragweave.models.embed import Encoder
from ragweave.models.errors import LibraryError


@dataclass(frozen=True, slots=True)
class Health:
    """How well the stores of a library agree; every number but the last is 0 in a sound one.

    Attributes:
        vectors_without_item: vectors whose item the catalog does not hold.
        items_without_vectors: items of which a vector is missing that the encoder can make.
        words_without_item: rows of the lexical index without an item.
        items_without_words: items without a row in the lexical index.
        sources_without_items: sources that count as read and hold nothing.
        unfinished: sources that an interrupted run left.
        wrong_dimension: corpora whose vectors have another length than those of the encoder.
        media_without_source: sources that the catalog does not hold and whose pictures or clips lie on the disk.
        items_without_media: items whose stored picture or clip is missing.
        stray_collections: collections of no library, of another encoder, or of an interrupted re-embedding.
        damage: what SQLite says about its file, one line each.
        unchecked: why the vectors could not be checked, or empty.
        free: free bytes of the disk.
    """

    vectors_without_item: int = 0
    items_without_vectors: int = 0
    words_without_item: int = 0
    items_without_words: int = 0
    sources_without_items: int = 0
    unfinished: int = 0
    wrong_dimension: int = 0
    media_without_source: int = 0
    items_without_media: int = 0
    stray_collections: int = 0
    damage: tuple[str, ...] = ()
    unchecked: str = ""
    free: int = 0

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return replace(self, free=0, unchecked="") == Health()


@dataclass(frozen=True, slots=True)
class Repaired:
    """What `repair` found and left.

    Attributes:
        library: name of the library.
        before: its state before.
        after: its state afterwards.
        seconds: wall time.
    """

    library: str
    before: Health
    after: Health
    seconds: float


async def repair(library: str = "default", *, wait: float | None = None) -> Repaired:
    """Make the stores of a library agree again, and compact them.

    Raises:
        LibraryNotFound: there is none of that name.
        LibraryError: it is being written, or a store cannot be opened or has no room.
    """
    return await asyncio.to_thread(_repair, check_name(library), wait)


def _repair(name: str, wait: float | None) -> Repaired:
    from ragweave.models.embed import encoder

    began = time.monotonic()
    settings, held = corpora_settings(), stores()
    patience = settings.lock_wait if wait is None else wait
    found, mind = held.catalog.library(name), encoder()
    with locks.writer(settings.home, found.id, name, patience, lambda holder: None):
        row = held.catalog.row(found.id)
        usable = mind if mind.name == row.encoder else None
        held.vectors.mend(partial(note_lost, held))
        before = _examine(held, row, usable)
        if before.damage:
            raise LibraryError(
                f"The catalog is damaged ({before.damage[0]})",
                "bring back catalog.sqlite from a backup, or move it away and index the files again",
            )
        recover(held, held.catalog.row(row.id), usable)
        _mend_catalog(held, row)
        _mend_vectors(held, held.catalog.row(row.id), usable)
        _drop_strays(held)
        media = Media.of(row.id)
        media.drop(_stray_media(held, row))
        if usable:
            catch_up(held, held.catalog.row(row.id), media, threading.Event())
        compact(settings, held, held.catalog.row(row.id), all_sizes=True)
        after = _examine(held, held.catalog.row(row.id), usable)
    return Repaired(name, before, after, time.monotonic() - began)


def _examine(held: Stores, row: LibraryRow, mind: Encoder | None) -> Health:
    words = {corpus: _words(held, row, corpus) for corpus in CORPORA}
    with held.catalog.engine.begin() as connection:
        damage = [r[0] for r in connection.exec_driver_sql("PRAGMA quick_check(5)") if r[0] != "ok"]
        lost = connection.exec_driver_sql("PRAGMA foreign_key_check")
        damage += [f"a row of {r[0]} has lost its {r[2]}" for r in lost]
        empty = len(_empty(connection, row.id))
        unfinished = len(ledger.unfinished(connection, row.id))
    extra = without = 0
    wrong = _wrong(held, row, mind)
    for corpus in CORPORA:
        extra += len(_orphans(held, row, corpus))
        if mind is not None:
            lost_ids = (i for ids, _, _ in missing(held, row, corpus, mind) for i in ids)
            without += len({item_of(i) for i in lost_ids})
    why = "" if mind else f"its encoder is {row.encoder!r}, and another one is set"
    return Health(
        vectors_without_item=extra,
        items_without_vectors=without,
        words_without_item=sum(len(w[0]) for w in words.values()),
        items_without_words=sum(len(w[1]) for w in words.values()),
        sources_without_items=empty,
        unfinished=unfinished,
        wrong_dimension=len(wrong),
        media_without_source=len(_stray_media(held, row)),
        items_without_media=_without_media(held, row),
        stray_collections=len(_strays(held)),
        damage=tuple(damage),
        unchecked=why,
        free=shutil.disk_usage(corpora_settings().home).free,
    )


def _words(held: Stores, row: LibraryRow, corpus: Corpus) -> tuple[set[int], set[int]]:
    """Return the rows of the lexical index without an item, and the items without a row."""
    query = select(items.c.n).where(items.c.library == row.id, items.c.corpus == corpus)
    with held.catalog.engine.begin() as connection:
        wanted = set(connection.execute(query).scalars())
        there: set[int] = set()
        if lexical.exists(connection, row.id, corpus):
            name = lexical.table(row.id, corpus)
            there = set(connection.exec_driver_sql(f"SELECT rowid FROM {name}").scalars())
    return there - wanted, wanted - there


def _empty(connection: Connection, library: str) -> list[str]:
    held = select(items.c.source).where(items.c.library == library, items.c.source == sources.c.id).exists()
    query = select(sources.c.id).where(sources.c.library == library, sources.c.status != "failed", ~held)
    return list(connection.execute(query).scalars())


def _wrong(held: Stores, row: LibraryRow, mind: Encoder | None) -> list[Corpus]:
    """Return the corpora whose vectors are not as long as those of the encoder."""
    dim = mind.dim if mind else row.dim
    wrong: list[Corpus] = []
    for corpus in CORPORA:
        some = held.vectors.ids(row.id, corpus, row.space, row.generation)[:1]
        vectors = held.vectors.fetch(row.id, corpus, row.space, row.generation, some)[2]
        if len(vectors) and vectors.shape[1] != dim:
            wrong.append(corpus)
    return wrong


def _orphans(held: Stores, row: LibraryRow, corpus: Corpus) -> list[str]:
    stored = held.vectors.ids(row.id, corpus, row.space, row.generation)
    known = held.catalog.known(row.id, sorted({item_of(i) for i in stored}))[1]
    return [i for i in stored if item_of(i) not in known]


def _mend_catalog(held: Stores, row: LibraryRow) -> None:
    committer = Committer(held.catalog, held.vectors, row, "")
    with held.catalog.engine.begin() as connection:
        empty = _empty(connection, row.id)
    for source in empty:  # the next run reads it anew
        committer.remove_source(source)
    for corpus in CORPORA:
        extra, missing = _words(held, row, corpus)
        with write(held.catalog.engine) as connection:
            if lexical.exists(connection, row.id, corpus):
                name = lexical.table(row.id, corpus)
                for n in extra:
                    connection.exec_driver_sql(f"DELETE FROM {name} WHERE rowid = ?", (n,))
                connection.exec_driver_sql(f"INSERT INTO {name}({name}) VALUES ('rebuild')")
        if missing:
            for page in held.catalog.pages(row.id, corpus):
                with write(held.catalog.engine) as connection:
                    mine = (items.c.library == row.id) & items.c.id.in_([i.id for i in page])
                    found = connection.execute(select(items.c.id, items.c.n).where(mine))
                    numbers = {r.id: r.n for r in found if r.n in missing}
                    lost = [i for i in page if i.id in numbers]
                    rows = [(numbers[i.id], *t) for i, t in zip(lost, terms_of(lost), strict=True)]
                    if rows:
                        lexical.insert(connection, row.id, corpus, rows)


def _mend_vectors(held: Stores, row: LibraryRow, mind: Encoder | None) -> None:
    for corpus in _wrong(held, row, mind) if mind else []:
        with held.vectors.changing(row.id, row.generation) as client:
            client.delete_collection(name_of(row.id, corpus, row.space))
    for corpus in CORPORA:
        orphans = _orphans(held, row, corpus)
        if orphans:
            with held.vectors.changing(row.id, row.generation):
                held.vectors.discard(row.id, corpus, row.space, orphans)
        for ids, belongs, texts in missing(held, row, corpus, mind) if mind else ():
            assert mind is not None
            put(held, row, corpus, ids, belongs, mind.texts(texts))
    with held.vectors.changing(row.id, row.generation):
        with write(held.catalog.engine) as connection:
            dim = mind.dim if mind else row.dim
            connection.execute(update(libraries).where(libraries.c.id == row.id).values(dim=dim))
            generation = bump(connection, row.id)
        held.vectors.reached(row.id, generation)


def _stray_media(held: Stores, row: LibraryRow) -> list[str]:
    return Media.of(row.id).orphans(s.id for s in held.catalog.sources(row.id))


def _without_media(held: Stores, row: LibraryRow) -> int:
    media = Media.of(row.id)
    held_files = {name for source in media.sizes() for name in media.files(source)}
    return sum(
        any(picture not in held_files for picture in pictures_of(item))
        for corpus in SEEN
        for page in held.catalog.pages(row.id, corpus)
        for item in page
    )


def _strays(held: Stores) -> list[str]:
    """Return the collections that count for no library."""
    counted = set()
    for r in held.catalog.libraries():
        seen = held.vectors.image_encoders(r.id, r.space, r.generation)
        for space in (r.space, *(visual_space(e, r.space) for e in seen), entity_space(r.space)):
            counted |= {name_of(r.id, corpus, space) for corpus in CORPORA}
    return [name for name in held.vectors.names() if name not in counted]


def _drop_strays(held: Stores) -> None:
    """Drop stray collections, but of a library that is being written: they may be the next ones that count."""
    home = corpora_settings().home
    spaces: dict[str, str | None] = {r.id: r.space for r in held.catalog.libraries()}
    for library in dict.fromkeys(name.partition("-")[0] for name in _strays(held)):
        try:
            with locks.writer(home, library, library, 0, lambda holder: None), locks.gate(home):
                held.vectors.keep_only({library: spaces.get(library)})
        except LibraryError:
            continue
