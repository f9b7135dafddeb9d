"""Rebuild what is derived from the items of a library: terms, missing vectors and indexes."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from dataclasses import dataclass

from sqlalchemy import Connection, select, text

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import lexical, locks
from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import terms_of
from ragweave.corpora.store.reembed import embed_missing
from ragweave.corpora.store.rows import unpack
from ragweave.corpora.store.schema import bump, items
from ragweave.corpora.store.stores import Stores, stores
from ragweave.corpora.store.visual_search import SEEN, catch_up, pictures_of
from ragweave.corpora.store.words import Row
from ragweave.corpora.types import Corpus
from ragweave.models import embed
from ragweave.models.errors import LibraryError

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Repaired:
    """What `repair` did.

    `vectors` counts vectors that were missing or had a wrong length, `stray` those without an item. `empty`
    counts sources without items that were recorded as read; the next run of index reads them. Items
    `without_media` lack their stored picture or clip: remove the source and index it again to restore it.
    `free` is in bytes.
    """

    library: str
    items: int
    vectors: int
    stray: int
    empty: int
    without_media: int
    notes: tuple[str, ...]
    free: int
    seconds: float

    @property
    def sound(self) -> bool:
        """Whether nothing was missing or superfluous."""
        return not (self.vectors or self.stray or self.empty or self.without_media)


async def repair(library: str = "default") -> Repaired:
    """Rebuild everything that is derived from the items of a library; no file is read.

    The catalog and the indexes are rewritten as well.

    Raises:
        LibraryNotFound: there is none of that name.
        LibraryError: it is being written, its catalog is damaged, or there is no room.
    """
    return await asyncio.to_thread(_repair, check_name(library))


def _repair(name: str) -> Repaired:
    began = time.monotonic()
    held, text_encoder = stores(), embed.encoder()
    found = held.catalog.library(name)
    with locks.writer(found.id, name):
        row, media = held.catalog.row(found.id), Media.of(found.id)
        damage = held.catalog.kept.damage(row.id)
        if damage:
            raise LibraryError(
                f"The catalog is damaged ({damage[0]})",
                "bring back its catalog.sqlite from a backup, or delete the library and index the files"
                " again",
            )
        committer = Committer(held.catalog, row)
        empty = 0
        for source in held.catalog.sources(row.id):
            if source.status != "failed" and not source.items:
                committer.remove_source(source.id)
                empty += 1
        committer.recover()
        bound = {"encoder": row.encoder, "bytes": 4 * row.dim}
        with held.catalog.writing(row.id) as connection:
            indexed = index_words(connection)
            stray = connection.execute(text(f"DELETE {_STRAY}"), bound).rowcount
            connection.execute(text(f"DELETE {_WRONG}"), bound)
            bump(connection)
        notes, made = [], 0
        if text_encoder.name == row.encoder:
            made = embed_missing(held, row, text_encoder)
            notes.append(catch_up(held, row, media, threading.Event())[1])
        else:
            notes.append(
                f"missing vectors were not made: its encoder is {row.encoder!r}, and another one is set"
            )
        held.catalog.kept.compact(row.id)
        notes.append(held.vectors.tidy(row.id, rebuild=True))
        lacking = _without_media(held, row, media)
    free = shutil.disk_usage(corpora_settings().home).free
    said = tuple(filter(None, notes))
    return Repaired(name, indexed, made, stray, empty, lacking, said, free, time.monotonic() - began)


def _without_media(held: Stores, row: LibraryRow, media: Media) -> int:
    """Count the items that lack one of their stored pictures."""
    stored: set[str] = set()
    for source in media.orphans(()):
        stored.update(media.files(source))
    count = 0
    for corpus in SEEN:
        for page in held.catalog.pages(row.id, corpus):
            for item in page:
                if not stored.issuperset(pictures_of(item)):
                    count += 1
    return count


_STRAY = "FROM vectors WHERE space = :encoder AND item NOT IN (SELECT id FROM items)"
_WRONG = """FROM vectors WHERE space = :encoder AND item IN
    (SELECT item FROM vectors WHERE space = :encoder AND length(data) != :bytes)"""


def index_words(connection: Connection) -> int:
    """Rebuild the lexical index, within a write transaction; return the number of items.

    Rows go in by pages: PostgreSQL keeps every version of a counter until the transaction ends, and with a
    statement a row that would cost the square of the rows.
    """
    lexical.create(connection)
    query = select(items).order_by(items.c.n).limit(_PAGE)
    last, count = -1, 0
    while True:
        rows = connection.execute(query.where(items.c.n > last)).mappings().all()
        if not rows:
            return count
        some = [unpack(row) for row in rows]
        pages: dict[Corpus, list[Row]] = {}
        for row, item, words in zip(rows, some, terms_of(some), strict=True):
            pages.setdefault(item.corpus, []).append((row["n"], *words))
        for corpus, page in pages.items():
            lexical.put(connection, corpus, page)
        last, count = rows[-1]["n"], count + len(rows)
