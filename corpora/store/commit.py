"""The one writer of a library: media first, then items, words and vectors in one transaction of the catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, func, select, update

from ragweave.corpora.store import blobs, ledger, lexical, tables
from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.catalog import Catalog, LibraryRow
from ragweave.corpora.store.files import File, Stat
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import Prepared, chunked
from ragweave.corpora.store.rows import lying_at, pack
from ragweave.corpora.store.schema import add, bump, in_parts, items, now, paths, removed, sources, upsert
from ragweave.corpora.types import Corpus


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of a file before the commit.

    `vectors` has one row per chunk, shape (chunks, dim). A `passing` failure may be gone next time, so what
    is known from the path stays.
    """

    file: File
    prepared: Prepared | None
    vectors: Matrix = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    error: str = ""
    passing: bool = False


class Committer:
    """Changes a library; the caller holds its writer lock."""

    def __init__(self, catalog: Catalog, library: LibraryRow, params_hash: str = "") -> None:
        self._catalog = catalog
        self._library = library.id
        self._encoder = library.encoder
        self._params = params_hash
        self._media = Media.of(library.id)

    def recover(self) -> None:
        """Finish what an interrupted run left: media that were on their way, and those of sources that never came."""
        self._media.recover()
        self._media.drop(self._media.orphans(source.id for source in self._catalog.sources(self._library)))

    def store(
        self, outcomes: Sequence[FileOutcome], links: Sequence[File] = ()
    ) -> tuple[list[File], dict[str, str]]:
        """Make files known, all or none of them.

        `links` are files whose source the library should hold already.

        Returns:
            The links whose source it does not hold, and why the source of others could not be read, by path.
        """
        good = [(o.file, o.prepared, o.vectors) for o in outcomes if o.prepared is not None]
        missing: list[File] = []
        unread: dict[str, str] = {}
        for file, _, _ in good:
            self._media.publish(file.source)
        with self._catalog.writing(self._library) as connection:
            self._put(connection, good)
            noted = [file for file, _, _ in good]
            for outcome in outcomes:
                if outcome.prepared is None and not (
                    outcome.passing and self._sources_at(connection, [outcome.file.path])
                ):
                    self._put_failure(connection, outcome)
                    noted.append(outcome.file)
            for file in links:
                reason = self._reason(connection, file.source)
                if reason is None:
                    missing.append(file)
                    continue
                noted.append(file)
                if reason:
                    unread[file.path] = reason
            before = self._put_paths(connection, noted)
            orphans = self._forget(connection, before)
            self._follow(connection, [*before, *(file.source for file in links)])
            bump(connection)
        # What could not be read has no media, and what it had before belongs to items that are gone.
        self._media.drop(orphans)
        self._media.drop(o.file.source for o in outcomes if o.prepared is None and not o.passing)
        return missing, unread

    def refresh(self, files: Sequence[File]) -> None:
        """Note how files look from outside whose bytes are as before; what can be found stays the same."""
        if files:
            with self._catalog.writing(self._library) as connection:
                self._put_paths(connection, files)

    def remove_paths(self, gone: Sequence[str]) -> None:
        """Forget files; a source goes with the last of its paths."""
        with self._catalog.writing(self._library) as connection:
            left = self._sources_at(connection, gone)
            for part in in_parts(gone):
                connection.execute(delete(paths).where(paths.c.path.in_(part)))
            orphans = self._forget(connection, list(left.values()))
            self._follow(connection, list(left.values()))
            bump(connection)
        self._media.drop(orphans)

    def remove_source(self, source: str) -> bool:
        """Forget a source with all its paths; return whether it was known."""
        with self._catalog.writing(self._library) as connection:
            connection.execute(delete(paths).where(paths.c.source == source))
            orphans = self._forget(connection, [source])
            bump(connection)
        self._media.drop(orphans)
        return bool(orphans)

    def _put(self, connection: Connection, good: Sequence[tuple[File, Prepared, Matrix]]) -> None:
        """Write sources in place of what they were: all rows of a table at once, and nothing is cleared of new ones."""
        if not good:
            return
        known = select(sources.c.id).where(sources.c.id.in_([file.source for file, _, _ in good]))
        before = set(connection.execute(known).scalars())
        for source in before:
            self._clear(connection, source)
        upsert(connection, sources, *(self._row_of(file, prepared) for file, prepared, _ in good))
        first = connection.execute(select(func.coalesce(func.max(items.c.n), 0))).scalar_one() + 1
        made = [item for _, prepared, _ in good for item in prepared.items]
        add(connection, items, [{**pack(item), "n": n} for n, item in enumerate(made, first)])
        terms = (each for _, prepared, _ in good for each in prepared.terms)
        words: dict[Corpus, list[tuple[int, str, str, str]]] = {}
        for n, (item, columns) in enumerate(zip(made, terms, strict=True), first):
            words.setdefault(item.corpus, []).append((n, *columns))
        for corpus, rows in words.items():
            lexical.put(connection, corpus, rows)
        self._put_vectors(connection, good)
        tables.put(connection, ((file.source, prepared.tables) for file, prepared, _ in good))
        for file, prepared, _ in good:
            if file.source in before:
                blobs.forget_lost_items(connection, file.source)
            if file.source in before or prepared.reached or prepared.links:
                ledger.put_pictures(connection, file.source, prepared.reached, prepared.links)

    def _put_vectors(self, connection: Connection, good: Sequence[tuple[File, Prepared, Matrix]]) -> None:
        """Write the vectors of sources that have none."""
        found: dict[Corpus, list[tuple[str, str, Matrix]]] = {}
        for file, prepared, vectors in good:
            owners = [
                item for item, ranges in zip(prepared.items, prepared.chunks, strict=True) for _ in ranges
            ]
            for item, name, vector in zip(
                owners, chunked(prepared.items, prepared.chunks).ids, vectors, strict=True
            ):
                found.setdefault(item.corpus, []).append((name, file.source, vector))
        for corpus, some in found.items():
            ids, belongs, rows = zip(*some, strict=True)
            blobs.put(connection, corpus, self._encoder, ids, belongs, np.stack(rows))

    def _put_failure(self, connection: Connection, outcome: FileOutcome) -> None:
        source = outcome.file.source
        self._clear(connection, source)
        blobs.forget_lost_items(connection, source)
        nothing = Prepared("", outcome.file.path.rpartition("/")[2], "", "", None, (), (), (), ())
        row = self._row_of(outcome.file, nothing) | {"status": "failed", "reason": outcome.error}
        upsert(connection, sources, row)

    def _row_of(self, file: File, prepared: Prepared) -> dict[str, Any]:
        name = Path(file.path).stem
        return {
            "id": file.source,
            "bytes": file.stat.size,
            "sha256": file.sha256,
            "params_hash": file.params or self._params,
            "indexed_at": now(),
            "kind": prepared.kind,
            "title": prepared.title,
            "named": name if any(item.title == name for item in prepared.items) else "",
            "status": "partial" if prepared.warnings else "ok",
            "reason": "",
            "warnings": list(prepared.warnings),
            "author": prepared.author,
            "language": prepared.language,
            "date": prepared.date,
        }

    def _put_paths(self, connection: Connection, files: Sequence[File]) -> list[str]:
        """Point paths at their sources; return the sources they pointed at before, where those were others."""
        before = self._sources_at(connection, [file.path for file in files])
        if files:
            looks = [f.name for f in fields(Stat)]
            seen = ({name: getattr(file.stat, name) for name in looks} for file in files)
            rows = (
                {"path": file.path, "source": file.source, **look}
                for file, look in zip(files, seen, strict=True)
            )
            upsert(connection, paths, *rows)
        return [before[file.path] for file in files if before.get(file.path, file.source) != file.source]

    def _forget(self, connection: Connection, candidates: Sequence[str]) -> list[str]:
        """Delete those of the candidates that no path points at, with their vectors; return them."""
        gone = []
        for source in dict.fromkeys(candidates):
            lies = select(paths.c.path).where(paths.c.source == source)
            if self._reason(connection, source) is not None and connection.execute(lies).first() is None:
                lexical.delete(connection, source)
                ledger.forget_merged(connection, source)
                connection.execute(delete(sources).where(sources.c.id == source))
                connection.execute(delete(removed).where(removed.c.source == source))
                connection.execute(removed.insert(), {"source": source})
                gone.append(source)
        return gone

    def _follow(self, connection: Connection, moved: Sequence[str]) -> None:
        """Have the items of sources name the file that these lie in now, also in the collections."""
        for source in dict.fromkeys(moved):
            path = connection.execute(select(func.min(paths.c.path)).where(paths.c.source == source)).scalar()
            rows = connection.execute(
                select(items.c.id, items.c.locator).where(items.c.source == source)
            ).all()
            stale = [(i, at) for i, old in rows if path is not None and (at := lying_at(old, path)) != old]
            for item, at in stale:
                connection.execute(update(items).where(items.c.id == item).values(locator=at))
            if stale:
                blobs.renew(connection, source)

    def _clear(self, connection: Connection, source: str) -> None:
        """Remove the items of a source, with their words and the vectors of their texts."""
        lexical.delete(connection, source)
        tables.forget(connection, source)
        connection.execute(delete(items).where(items.c.source == source))
        blobs.forget_texts(connection, "source", [source])

    def _reason(self, connection: Connection, source: str) -> str | None:
        """Return why a source could not be read, "" where it could, None where it is not known."""
        found: str | None = connection.execute(
            select(sources.c.reason).where(sources.c.id == source)
        ).scalar()
        return found

    def _sources_at(self, connection: Connection, where: Sequence[str]) -> dict[str, str]:
        """Return the sources that paths point at, by path."""
        found: dict[str, str] = {}
        for part in in_parts(where):
            query = select(paths.c.path, paths.c.source).where(paths.c.path.in_(part))
            found |= {row.path: row.source for row in connection.execute(query)}
        return found
