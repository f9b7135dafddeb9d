"""The catalog of a library: its sources, files and items, in one SQLite file of its own.

All methods are synchronous and short; async callers go through `asyncio.to_thread`. Reads that must agree
with each other share one transaction, which in WAL mode is one snapshot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, func, select

from ragweave.corpora.store.libraries import Libraries, LibraryRow, check_name
from ragweave.corpora.store.rows import RecordingRow, Source, unpack
from ragweave.corpora.store.schema import in_parts, items, paths, sources
from ragweave.corpora.types import CORPORA, Corpus, Item

__all__ = ["Catalog", "LibraryRow", "check_name"]

T = TypeVar("T")
_REMEMBERED = 4_000_000
"""Characters of item texts that are cached for one generation."""


class Catalog(Libraries):
    """The catalogs of the libraries of a home."""

    def counts(self, library: str) -> dict[Corpus, int]:
        """Return the number of items in each corpus that holds any."""
        return dict(self._once(library, "counts", _counts))

    def files(self, library: str) -> int:
        """Return the number of sources that have items."""
        with self.reading(library) as connection:
            return int(connection.execute(select(func.count(func.distinct(items.c.source)))).scalar_one())

    def items(self, library: str, ids: Iterable[str]) -> dict[str, Item]:
        """Return the items of these ids, in the order asked; unknown ids are left out."""
        wanted = list(dict.fromkeys(ids))
        memory = self.memory(library)
        known: dict[str, Item] = memory.setdefault("items", {})
        found = {}
        missing = []
        for id_ in wanted:
            if id_ in known:
                found[id_] = known[id_]
            else:
                missing.append(id_)
        if not missing:
            return found
        new = self._read_items(library, missing)
        characters = memory.get("characters", 0)
        for item in new.values():
            characters += len(item.text)
        if characters > _REMEMBERED:
            # A new dictionary: another thread may still read the old one.
            characters, known = 0, {}
            memory["items"] = known
        memory["characters"] = characters
        known.update(new)
        found |= new
        result: dict[str, Item] = {}
        for id_ in wanted:
            if id_ in found:
                result[id_] = found[id_]
        return result

    def _read_items(self, library: str, ids: Sequence[str]) -> dict[str, Item]:
        """Read items from the database, by id; unknown ids are left out."""
        rows: list[Any] = []
        with self.reading(library) as connection:
            for part in in_parts(ids):
                rows += connection.execute(select(items).where(items.c.id.in_(part))).mappings().all()
            sources_of_rows = {row["source"] for row in rows}
            read = unpacked(rows, paths_of(connection, sources_of_rows))
        by_id: dict[str, Item] = {}
        for item in read:
            by_id[item.id] = item
        return by_id

    def beside(self, library: str, id: str, most: int) -> list[Item]:
        """Return an item with up to `most` neighbours before it and after it, in the order of the source."""
        here = self.items(library, [id]).get(id)
        if here is None:
            return []
        near: dict[tuple[str, int], list[str]] = self.memory(library).setdefault("beside", {})
        if (id, most) not in near:
            same = (items.c.source == here.source, items.c.corpus == here.corpus)
            within = items.c.ordinal.between(here.ordinal - most, here.ordinal + most)
            with self.reading(library) as connection:
                found = connection.execute(select(items.c.id).where(*same, within).order_by(items.c.ordinal))
                near[id, most] = list(found.scalars())
        return list(self.items(library, near[id, most]).values())

    def pages(self, library: str, corpus: Corpus, size: int = 500) -> Iterator[list[Item]]:
        """Yield the items of a corpus in pages; each page is read in a transaction of its own."""
        last = -1
        while True:
            query = select(items).where(items.c.corpus == corpus, items.c.n > last)
            with self.reading(library) as connection:
                rows = connection.execute(query.order_by(items.c.n).limit(size)).mappings().all()
            if not rows:
                return
            last = rows[-1]["n"]
            yield [unpack(row) for row in rows]

    def items_of(self, library: str, source: str, corpus: Corpus) -> list[Item]:
        """Return the items of a source in one corpus, in order."""
        query = select(items).where(items.c.source == source, items.c.corpus == corpus)
        with self.reading(library) as connection:
            rows = connection.execute(query.order_by(items.c.ordinal, items.c.n)).mappings().all()
            return unpacked(rows, paths_of(connection, {source}))

    def recordings(self, library: str) -> list[RecordingRow]:
        """Return every recording, in the order of the titles."""
        return list(self._once(library, "recordings", _recordings))

    def known(self, library: str, ids: Iterable[str]) -> set[str]:
        """Return which of these item ids the catalog holds."""
        wanted = set(ids)
        exists: dict[str, bool] = self.memory(library).setdefault("ids", {})
        missing = wanted - exists.keys()
        if missing:
            with self.reading(library) as connection:
                for part in in_parts(list(missing)):
                    query = select(items.c.id).where(items.c.id.in_(part))
                    held = set(connection.execute(query).scalars())
                    for id_ in part:
                        exists[id_] = id_ in held
        kept: set[str] = set()
        for id_ in wanted:
            if exists[id_]:
                kept.add(id_)
        return kept

    def sources(self, library: str, ids: Sequence[str] | None = None) -> list[Source]:
        """Return sources in the order of their paths: all, or those of the given ids."""
        found: list[Source] = []
        with self.reading(library) as connection:
            if ids is None:
                found = _read_sources(connection, None)
            else:
                for part in in_parts(list(ids)):
                    found += _read_sources(connection, part)
        return sorted(found, key=lambda source: (source.path, source.id))

    def languages(self, library: str) -> dict[str, int]:
        """Return the number of sources in each language, the most frequent first."""
        return dict(self._once(library, "languages", _languages))

    def sources_of(self, library: str, ids: Sequence[str]) -> dict[str, Source]:
        """Return the source of each item id; unknown ids are left out."""
        found = self.items(library, ids)
        known: dict[str, Source] = self.memory(library).setdefault("sources", {})
        missing = set()
        for item in found.values():
            if item.source not in known:
                missing.add(item.source)
        if missing:
            for source in self.sources(library, sorted(missing)):
                known[source.id] = source
        result: dict[str, Source] = {}
        for id, item in found.items():
            if item.source in known:
                result[id] = known[item.source]
        return result

    def _once(self, library: str, name: str, read: Callable[[Connection], T]) -> T:
        """Return a cached value of a library; read it if it is not cached."""
        memory = self.memory(library)
        if name not in memory:
            with self.reading(library) as connection:
                memory[name] = read(connection)
        found: T = memory[name]
        return found


def _read_sources(connection: Connection, ids: Sequence[str] | None) -> list[Source]:
    """Return the sources of these ids, or all, in no order."""
    query = select(sources)
    count = select(items.c.source, func.count()).group_by(items.c.source)
    if ids is not None:
        query = query.where(sources.c.id.in_(ids))
        count = count.where(items.c.source.in_(ids))
    counts = _numbers(connection.execute(count))
    rows = connection.execute(query).mappings().all()
    ids_of_rows = {row["id"] for row in rows}
    where = paths_of(connection, ids_of_rows)
    found = []
    for row in rows:
        id_ = row["id"]
        found.append(_source(row, where.get(id_, ()), counts.get(id_, 0)))
    return found


def _numbers(rows: Iterable[Any]) -> dict[Any, int]:
    """Return rows of a key and a count as a dictionary, in their order."""
    found: dict[Any, int] = {}
    for row in rows:
        found[row[0]] = int(row[1])
    return found


def _counts(connection: Connection) -> dict[Corpus, int]:
    query = select(items.c.corpus, func.count()).group_by(items.c.corpus)
    found = _numbers(connection.execute(query))
    result: dict[Corpus, int] = {}
    for corpus in CORPORA:
        if corpus in found:
            result[corpus] = found[corpus]
    return result


def _recordings(connection: Connection) -> list[RecordingRow]:
    query = select(items.c.id, items.c.source, items.c.title, items.c.locator).where(
        items.c.corpus == "video"
    )
    found = []
    for id_, source, title, locator in connection.execute(query.order_by(items.c.title, items.c.id)):
        found.append(RecordingRow(id_, source, title, float(locator.get("end", 0.0))))
    return found


def _languages(connection: Connection) -> dict[str, int]:
    count = func.count()
    query = select(sources.c.language, count).where(sources.c.language != "")
    query = query.group_by(sources.c.language).order_by(count.desc(), sources.c.language)
    return _numbers(connection.execute(query))


def unpacked(rows: Iterable[Any], where: Mapping[str, Sequence[str]]) -> list[Item]:
    """Return the items of rows; each names the first path of its source."""
    found = []
    for row in rows:
        lies_at = where.get(row["source"])
        found.append(unpack(row, lies_at[0] if lies_at else None))
    return found


def paths_of(connection: Connection, wanted: set[str]) -> dict[str, tuple[str, ...]]:
    """Return the paths of sources, in order, within a transaction."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for part in in_parts(sorted(wanted)):
        query = select(paths.c.source, paths.c.path).where(paths.c.source.in_(part))
        for source, path in connection.execute(query.order_by(paths.c.path)):
            found[source].append(path)
    result: dict[str, tuple[str, ...]] = {}
    for source, own in found.items():
        result[source] = tuple(own)
    return result


_PLAIN = "id kind title status reason bytes sha256 indexed_at author language".split()


def _source(row: Any, where: tuple[str, ...], count: int) -> Source:
    plain = {}
    for name in _PLAIN:
        plain[name] = row[name]
    return Source(
        **plain,
        path=where[0] if where else "",
        paths=where,
        items=count,
        warnings=tuple(row["warnings"]),
        date=datetime.fromisoformat(row["date"]) if row["date"] else None,
    )
