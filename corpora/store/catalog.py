"""The catalog: what every library holds, in one SQLite file per home.

All methods are synchronous and short; async callers go through `asyncio.to_thread`. Reads that must agree with each
other share one transaction, which in WAL mode is one snapshot.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.exc import IntegrityError

from ragweave.corpora.store import lexical
from ragweave.corpora.store.rows import Source, unpack
from ragweave.corpora.store.schema import SCHEMA_VERSION, connect, items, libraries, paths, sources, stages, write
from ragweave.corpora.store.torn import MEND, TORN
from ragweave.corpora.types import CORPORA, MAX_HALF_LIFE, Corpus, Item, Recency
from ragweave.models.errors import InputError, LibraryError, LibraryNotFound

_MANY = 5_000
"""Values bound in one statement."""


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """One library as the catalog knows it.

    `recency` and `half_life` say how its documents age, where a question does not say otherwise.
    """

    id: str
    name: str
    encoder: str
    dim: int
    generation: int
    epoch: int = 0
    recency: Recency = "auto"
    half_life: float | None = None

    @property
    def space(self) -> str:
        """What names the collections of its vectors: the encoder, and the epoch after the first."""
        return f"{self.encoder} {self.epoch}" if self.epoch else self.encoder


_FIELDS = tuple(f.name for f in fields(LibraryRow))


def now() -> str:
    """Return the present as an ISO time in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def check_name(name: str) -> str:
    """Return a library name in its one normal form.

    Raises:
        InputError: the name is empty, longer than 100 characters, or holds control or invisible characters.
    """
    clean = unicodedata.normalize("NFC", name).strip()
    if not clean or len(clean) > 100:
        raise InputError("A library name has 1 to 100 characters", "choose another name")
    # ZWNJ and ZWJ are letters' neighbours in Persian and the Indic scripts; every other format character only deceives.
    if any(
        unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") and c not in "\u200c\u200d" for c in clean
    ):
        raise InputError("A library name holds no control or invisible characters", "choose another name")
    return clean


class Catalog:
    """Libraries, sources, items and the lexical index of one home."""

    def __init__(self, path: Path) -> None:
        self.engine = connect(path)

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def libraries(self) -> list[LibraryRow]:
        """Return every library, by name."""
        with self.engine.begin() as connection:
            return [_library(r) for r in connection.execute(select(libraries).order_by(libraries.c.name)).mappings()]

    def library(self, name: str) -> LibraryRow:
        """Return the library of that name.

        Raises:
            LibraryNotFound: there is none.
            LibraryError: it was written by a newer Ragweave.
        """
        name = check_name(name)
        with self.engine.begin() as connection:
            row = connection.execute(select(libraries).where(libraries.c.name == name)).mappings().first()
        if row is None:
            raise LibraryNotFound(
                f"There is no library named {name!r}", f"make it with: ragweave index FOLDER --library {name!r}"
            )
        if row["schema_version"] > SCHEMA_VERSION:
            raise LibraryError(f"The library {name!r} was written by a newer Ragweave", "upgrade Ragweave")
        return _library(row)

    def row(self, library: str) -> LibraryRow:
        """Return a library by id.

        Raises:
            LibraryNotFound: it was deleted.
        """
        with self.engine.begin() as connection:
            generation(connection, library)
            query = select(libraries).where(libraries.c.id == library)
            return _library(connection.execute(query).mappings().one())

    def create(self, name: str, encoder: str, dim: int) -> LibraryRow:
        """Make an empty library.

        Raises:
            LibraryError: one of that name exists.
        """
        row = {
            "id": secrets.token_hex(8),
            "name": check_name(name),
            "encoder": encoder,
            "dim": dim,
            "schema_version": SCHEMA_VERSION,
            "generation": 0,
            "created": now(),
            "epoch": 0,
            "recency": "auto",
            "half_life": None,
        }
        try:
            with write(self.engine) as connection:
                connection.execute(libraries.insert(), row)
        except IntegrityError as error:
            raise LibraryError(f"A library named {name!r} exists", "choose another name, or index into it") from error
        return _library(row)

    def rename(self, name: str, to: str) -> None:
        """Give a library another name.

        Raises:
            LibraryNotFound: there is none of that name.
            LibraryError: the new name is taken.
        """
        found, to = self.library(name), check_name(to)
        try:
            with write(self.engine) as connection:
                connection.execute(update(libraries).where(libraries.c.id == found.id).values(name=to))
        except IntegrityError as error:
            raise LibraryError(f"A library named {to!r} exists", "choose another name") from error

    def set_ageing(self, name: str, recency: str | None, half_life: float | None) -> LibraryRow:
        """Say how the documents of a library age; None leaves a value as it is, a half-life of 0 forgets it.

        Raises:
            InputError: no such way, or a half-life that is negative, above MAX_HALF_LIFE, or no number.
            LibraryNotFound: there is none of that name.
        """
        found = self.library(name)
        values: dict[str, object] = {}
        if recency is not None:
            if recency not in get_args(Recency):
                raise InputError(f"A library cannot prefer newer documents {recency!r}", "give auto, on or off")
            values["recency"] = recency
        if half_life is not None:
            if not 0 <= half_life <= MAX_HALF_LIFE:
                raise InputError(
                    f"A half-life of {half_life:g} days cannot be used",
                    f"give days above 0 and up to {MAX_HALF_LIFE:,}, or 0 to forget the one that is set",
                )
            values["half_life"] = half_life or None
        if values:
            with write(self.engine) as connection:
                connection.execute(update(libraries).where(libraries.c.id == found.id).values(values))
        return self.row(found.id)

    def delete(self, library: str) -> None:
        """Remove a library by id, with everything it holds."""
        with write(self.engine) as connection:
            lexical.drop(connection, library, CORPORA)
            connection.execute(delete(libraries).where(libraries.c.id == library))

    def generation(self, library: str) -> int:
        """Return the generation of a library by id.

        Raises:
            LibraryNotFound: it was deleted.
        """
        with self.engine.begin() as connection:
            return generation(connection, library)

    def check_vectors(self, library: str) -> None:
        """Refuse a library whose vectors were lost: finding nothing would look like an answer.

        Raises:
            LibraryError: they were, and are not made again yet.
        """
        query = select(stages.c.status).where(stages.c.library == library, stages.c.stage == "vectors")
        with self.engine.begin() as connection:
            if connection.execute(query).first() is not None:
                raise LibraryError(TORN, MEND)

    def counts(self, library: str) -> dict[Corpus, int]:
        """Return the number of items in each corpus that holds any."""
        query = select(items.c.corpus, func.count()).where(items.c.library == library).group_by(items.c.corpus)
        with self.engine.begin() as connection:
            found = {row[0]: int(row[1]) for row in connection.execute(query)}
        return {corpus: found[corpus] for corpus in CORPORA if corpus in found}

    def items(self, library: str, ids: Iterable[str]) -> dict[str, Item]:
        """Return the items of these ids, in the order asked; unknown ids are left out."""
        wanted = list(dict.fromkeys(ids))
        found: dict[str, Item] = {}
        with self.engine.begin() as connection:
            rows: list[Any] = []
            for part in _parts(wanted):
                query = select(items).where(items.c.library == library, items.c.id.in_(part))
                rows += connection.execute(query).mappings().all()
            where = paths_of(connection, library, {row["source"] for row in rows})
        for row in rows:
            lies = where.get(row["source"])
            found[row["id"]] = unpack(row, lies[0] if lies else None)
        return {id_: found[id_] for id_ in wanted if id_ in found}

    def beside(self, library: str, id: str, most: int) -> list[Item]:
        """Return an item among its neighbours, at most `most` before and after it, in the order of the source."""
        here = self.items(library, [id]).get(id)
        if here is None:
            return []
        same = (items.c.library == library, items.c.source == here.source, items.c.corpus == here.corpus)
        near = items.c.ordinal.between(here.ordinal - most, here.ordinal + most)
        query = select(items).where(*same, near).order_by(items.c.ordinal)
        with self.engine.begin() as connection:
            return [unpack(row) for row in connection.execute(query).mappings()]

    def pages(self, library: str, corpus: Corpus, size: int = 500) -> Iterator[list[Item]]:
        """Go through the items of a corpus, some at a time; each page is read in a transaction of its own."""
        last = -1
        while True:
            query = select(items).where(items.c.library == library, items.c.corpus == corpus, items.c.n > last)
            with self.engine.begin() as connection:
                rows = connection.execute(query.order_by(items.c.n).limit(size)).mappings().all()
            if not rows:
                return
            last = rows[-1]["n"]
            yield [unpack(row) for row in rows]

    def known(self, library: str, ids: Sequence[str]) -> tuple[int, set[str]]:
        """Return the generation, and which of these item ids the catalog holds in it."""
        with self.engine.begin() as connection:
            at = generation(connection, library)
            held: set[str] = set()
            for part in _parts(list(ids)):
                query = select(items.c.id).where(items.c.library == library, items.c.id.in_(part))
                held.update(connection.execute(query).scalars())
        return at, held

    def sources(self, library: str, ids: Sequence[str] | None = None) -> list[Source]:
        """Return sources in the order of their paths: all, or those of the given ids."""
        found: list[Source] = []
        with self.engine.begin() as connection:
            for part in [None] if ids is None else _parts(list(ids)):
                query = select(sources).where(sources.c.library == library)
                count = select(items.c.source, func.count()).where(items.c.library == library)
                if part is not None:
                    query, count = query.where(sources.c.id.in_(part)), count.where(items.c.source.in_(part))
                counts = {row[0]: int(row[1]) for row in connection.execute(count.group_by(items.c.source))}
                rows = connection.execute(query).mappings().all()
                where = paths_of(connection, library, {row["id"] for row in rows})
                found += [_source(row, where.get(row["id"], ()), counts.get(row["id"], 0)) for row in rows]
        return sorted(found, key=lambda s: (s.path, s.id))

    def sources_of(self, library: str, ids: Sequence[str]) -> dict[str, Source]:
        """Return the source of each item id; unknown ids are left out."""
        belongs: dict[str, str] = {}
        with self.engine.begin() as connection:
            for part in _parts(list(dict.fromkeys(ids))):
                query = select(items.c.id, items.c.source).where(items.c.library == library, items.c.id.in_(part))
                belongs.update({row[0]: row[1] for row in connection.execute(query)})
        by_id = {s.id: s for s in self.sources(library, sorted(set(belongs.values())))}
        return {item: by_id[source] for item, source in belongs.items() if source in by_id}


def generation(connection: Connection, library: str) -> int:
    """Return the generation of a library by id, within a transaction.

    Raises:
        LibraryNotFound: it was deleted.
    """
    found = connection.execute(select(libraries.c.generation).where(libraries.c.id == library)).scalar()
    if found is None:
        raise LibraryNotFound("The library was deleted", "open another, or index it again")
    return int(found)


def bump(connection: Connection, library: str) -> int:
    """Begin the next generation of a library, within a write transaction, and return it."""
    following = generation(connection, library) + 1
    connection.execute(update(libraries).where(libraries.c.id == library).values(generation=following))
    return following


def paths_of(connection: Connection, library: str, wanted: set[str]) -> dict[str, tuple[str, ...]]:
    """Return where sources lie, in the order of the paths, within a transaction."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for part in _parts(sorted(wanted)):
        query = select(paths.c.source, paths.c.path).where(paths.c.library == library, paths.c.source.in_(part))
        for source, path in connection.execute(query.order_by(paths.c.path)):
            found[source].append(path)
    return {source: tuple(where) for source, where in found.items()}


def _parts(values: Sequence[str]) -> list[Sequence[str]]:
    return [values[i : i + _MANY] for i in range(0, len(values), _MANY)]


def _library(row: Any) -> LibraryRow:
    return LibraryRow(**{field: row[field] for field in _FIELDS})


def _source(row: Any, where: tuple[str, ...], count: int) -> Source:
    return Source(
        id=row["id"],
        path=where[0] if where else "",
        kind=row["kind"],
        title=row["title"],
        status=row["status"],
        reason=row["reason"],
        bytes=row["bytes"],
        sha256=row["sha256"],
        items=count,
        warnings=tuple(row["warnings"]),
        indexed_at=row["indexed_at"],
        date=datetime.fromisoformat(row["date"]) if row["date"] else None,
        paths=where,
        author=row["author"],
        language=row["language"],
    )
