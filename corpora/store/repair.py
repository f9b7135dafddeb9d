"""Does what a library holds agree, and what can be done where it does not.

Items are what counts; words and vectors are made of them again, and the indexes of the vectors.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from dataclasses import dataclass, replace

from sqlalchemy import select, text

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import lexical, locks
from ragweave.corpora.store.blobs import item_of
from ragweave.corpora.store.catalog import LibraryRow, bump, check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import chunked, terms_of
from ragweave.corpora.store.reembed import embedded
from ragweave.corpora.store.schema import items, write
from ragweave.corpora.store.seeing import SEEN, catch_up, pictures_of
from ragweave.corpora.store.stores import Stores, stores
from ragweave.corpora.types import CORPORA, Corpus
from ragweave.models.embed import Encoder
from ragweave.models.errors import LibraryError


@dataclass(frozen=True, slots=True)
class Health:
    """How well what a library holds agrees; every number but the last is 0 in a sound one.

    Attributes:
        vectors_without_item: vectors whose item the catalog does not hold.
        items_without_vectors: items of which a vector is missing that the encoder can make.
        words_without_item: rows of the lexical index without an item.
        items_without_words: items without a row in the lexical index.
        sources_without_items: sources that count as read and hold nothing.
        wrong_dimension: vectors that have another length than those of the encoder.
        media_without_source: sources that the catalog does not hold and whose pictures or clips lie on the disk.
        items_without_media: items whose stored picture or clip is missing.
        damage: what SQLite says about its file, one line each.
        unchecked: why missing vectors could not be looked for, or empty.
        free: free bytes of the disk.
    """

    vectors_without_item: int = 0
    items_without_vectors: int = 0
    words_without_item: int = 0
    items_without_words: int = 0
    sources_without_items: int = 0
    wrong_dimension: int = 0
    media_without_source: int = 0
    items_without_media: int = 0
    damage: tuple[str, ...] = ()
    unchecked: str = ""
    free: int = 0

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return replace(self, free=0, unchecked="") == Health()


@dataclass(frozen=True, slots=True)
class Repaired:
    """What `repair` found and left."""

    library: str
    before: Health
    after: Health
    seconds: float
    note: str = ""


async def repair(library: str = "default", *, wait: float | None = None) -> Repaired:
    """Make a library agree with itself again, write its catalog anew, and make its indexes anew.

    Raises:
        LibraryNotFound: there is none of that name.
        LibraryError: it is being written, or cannot be opened or has no room.
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
        before = _examine(held, row, usable)
        if before.damage:
            raise LibraryError(
                f"The catalog is damaged ({before.damage[0]})",
                "bring back its catalog.sqlite from a backup, or delete the library and index the files again",
            )
        committer = Committer(held.catalog, row, "")
        for source in _empty(held, row):  # the next run reads it anew
            committer.remove_source(source)
        committer.recover()
        for corpus in CORPORA:
            if any(_words(held, row, corpus)):
                _index_words(held, row, corpus)
        with write(held.catalog.engine(row.id)) as connection:
            for where in (_STRAY, _WRONG):
                connection.execute(text(f"DELETE {where}"), _bound(row))
            bump(connection, row.id)
        for corpus in CORPORA if usable else ():
            for _ in embedded(held, row.id, corpus, mind, threading.Event()):
                pass
        if usable:
            catch_up(held, row, Media.of(row.id), threading.Event())
        held.catalog.compact(row.id)
        note = held.vectors.tidy(row.id, anew=True)
        after = _examine(held, held.catalog.row(row.id), usable)
    return Repaired(name, before, after, time.monotonic() - began, note)


_STRAY = """FROM vectors WHERE library = :library AND space = :encoder
    AND item NOT IN (SELECT id FROM items WHERE library = :library)"""
_WRONG = "FROM vectors WHERE library = :library AND space = :encoder AND length(data) != :bytes"


def _bound(row: LibraryRow) -> dict[str, object]:
    return {"library": row.id, "encoder": row.encoder, "bytes": 4 * row.dim}


def _examine(held: Stores, row: LibraryRow, mind: Encoder | None) -> Health:
    words = [_words(held, row, corpus) for corpus in CORPORA]
    with held.catalog.engine(row.id).begin() as connection:
        damage = [r[0] for r in connection.exec_driver_sql("PRAGMA quick_check(5)") if r[0] != "ok"]
        lost = connection.exec_driver_sql("PRAGMA foreign_key_check")
        damage += [f"a row of {r[0]} has lost its {r[2]}" for r in lost]
        stray, wrong = (
            int(connection.execute(text(f"SELECT count(*) {w}"), _bound(row)).scalar_one()) for w in (_STRAY, _WRONG)
        )
    media = Media.of(row.id)
    return Health(
        vectors_without_item=stray,
        items_without_vectors=_without_vectors(held, row, mind) if mind else 0,
        words_without_item=sum(extra for extra, _ in words),
        items_without_words=sum(missing for _, missing in words),
        sources_without_items=len(_empty(held, row)),
        wrong_dimension=wrong,
        media_without_source=len(media.orphans(s.id for s in held.catalog.sources(row.id))),
        items_without_media=_without_media(held, row, media),
        damage=tuple(damage),
        unchecked="" if mind else f"its encoder is {row.encoder!r}, and another one is set",
        free=shutil.disk_usage(corpora_settings().home).free,
    )


def _words(held: Stores, row: LibraryRow, corpus: Corpus) -> tuple[int, int]:
    """Return how many rows of the lexical index have no item, and how many items have no row."""
    mine, name = f"SELECT n FROM items WHERE corpus = '{corpus}'", lexical.table(row.id, corpus)
    with held.catalog.engine(row.id).begin() as connection:
        there = f"SELECT rowid FROM {name}" if lexical.exists(connection, row.id, corpus) else "SELECT 1 WHERE 0"
        extra, missing = (
            int(connection.exec_driver_sql(f"SELECT count(*) FROM ({a} EXCEPT {b})").scalar_one())
            for a, b in ((there, mine), (mine, there))
        )
    return extra, missing


def _empty(held: Stores, row: LibraryRow) -> list[str]:
    """Return the sources that count as read and hold nothing."""
    return [s.id for s in held.catalog.sources(row.id) if s.status != "failed" and not s.items]


def _without_vectors(held: Stores, row: LibraryRow, mind: Encoder) -> int:
    """Return how many items lack a vector that the encoder gives them; a text without words has none."""
    count = 0
    for corpus in CORPORA:
        there = set(held.vectors.ids(row.id, corpus, row.encoder))
        for page in held.catalog.pages(row.id, corpus):
            cut = chunked(page, mind.max_words)
            lost = [n for n, id_ in enumerate(cut.ids) if id_ not in there]
            made = mind.texts([cut.texts[n] for n in lost])
            count += len({item_of(cut.ids[n]) for n, vector in zip(lost, made, strict=True) if vector.any()})
    return count


def _without_media(held: Stores, row: LibraryRow, media: Media) -> int:
    there = {name for source in media.orphans(()) for name in media.files(source)}
    return sum(
        any(picture not in there for picture in pictures_of(item))
        for corpus in SEEN
        for page in held.catalog.pages(row.id, corpus)
        for item in page
    )


def _index_words(held: Stores, row: LibraryRow, corpus: Corpus) -> None:
    """Make the lexical index of a corpus anew of its items."""
    query = select(items.c.id, items.c.n).where(items.c.library == row.id, items.c.corpus == corpus)
    with write(held.catalog.engine(row.id)) as connection:
        lexical.drop(connection, row.id, [corpus])
        numbers = {str(id_): int(n) for id_, n in connection.execute(query)}
        for page in held.catalog.pages(row.id, corpus):
            words = zip(page, terms_of(page), strict=True)
            lexical.insert(connection, row.id, corpus, [(numbers[i.id], *t) for i, t in words])
        bump(connection, row.id)
