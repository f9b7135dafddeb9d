"""Commit files to a library: media first, then items, terms and vectors in one transaction of the catalog."""

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
from ragweave.corpora.types import Corpus, Item


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """A file that is ready to be committed, or the reason why it could not be read.

    `vectors` has one row per chunk, shape (chunks, dim). After a `passing` failure, which the next run may
    not meet, the library keeps the source that it has of the path.
    """

    file: File
    prepared: Prepared | None
    vectors: Matrix = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    error: str = ""
    passing: bool = False


Ready = tuple[File, Prepared, Matrix]
"""A file, its items and the vectors of its chunks."""


class Committer:
    """Changes a library; the caller holds its writer lock."""

    def __init__(self, catalog: Catalog, library: LibraryRow, params_hash: str = "") -> None:
        self._catalog = catalog
        self._library = library.id
        self._encoder = library.encoder
        self._params = params_hash
        self._media = Media.of(library.id)

    def recover(self) -> None:
        """Clean up after an interrupted run: finish moving media, and drop the media of unknown sources."""
        self._media.recover()
        known = [source.id for source in self._catalog.sources(self._library)]
        self._media.drop(self._media.orphans(known))

    def store(
        self, outcomes: Sequence[FileOutcome], links: Sequence[File] = ()
    ) -> tuple[list[File], dict[str, str]]:
        """Commit files, all or none of them.

        `links` are files whose source the library should hold already.

        Returns:
            The links whose source it does not hold, and by path the reasons why sources of other links could
            not be read.
        """
        ready: list[Ready] = []
        failures: list[FileOutcome] = []
        for outcome in outcomes:
            if outcome.prepared is None:
                failures.append(outcome)
            else:
                ready.append((outcome.file, outcome.prepared, outcome.vectors))
        for file, _, _ in ready:
            self._media.publish(file.source)
        with self._catalog.writing(self._library) as connection:
            self._put(connection, ready)
            noted = [file for file, _, _ in ready]
            noted += self._put_failures(connection, failures)
            linked, missing, unread = self._check_links(connection, links)
            before = self._put_paths(connection, noted + linked)
            orphans = self._forget(connection, before)
            linked_sources = [file.source for file in links]
            self._update_paths_of_items(connection, [*before, *linked_sources])
            bump(connection)
        self._media.drop(orphans)
        # A file that could not be read has no items, so media from an earlier reading are of no use.
        unreadable = []
        for outcome in failures:
            if not outcome.passing:
                unreadable.append(outcome.file.source)
        self._media.drop(unreadable)
        return missing, unread

    def _put_failures(self, connection: Connection, failures: Sequence[FileOutcome]) -> list[File]:
        """Record files that could not be read; return those recorded."""
        recorded = []
        for outcome in failures:
            if outcome.passing and self._sources_at(connection, [outcome.file.path]):
                continue
            self._put_failure(connection, outcome)
            recorded.append(outcome.file)
        return recorded

    def _check_links(
        self, connection: Connection, links: Sequence[File]
    ) -> tuple[list[File], list[File], dict[str, str]]:
        """Return the links with a known source, those without, and by path why sources could not be read."""
        linked: list[File] = []
        missing: list[File] = []
        unread: dict[str, str] = {}
        for file in links:
            reason = self._reason(connection, file.source)
            if reason is None:
                missing.append(file)
                continue
            linked.append(file)
            if reason:
                unread[file.path] = reason
        return linked, missing, unread

    def refresh(self, files: Sequence[File]) -> None:
        """Record new size and times of files whose content is unchanged."""
        if files:
            with self._catalog.writing(self._library) as connection:
                self._put_paths(connection, files)

    def remove_paths(self, gone: Sequence[str]) -> None:
        """Remove files; a source is removed with the last of its paths."""
        with self._catalog.writing(self._library) as connection:
            left = self._sources_at(connection, gone)
            for part in in_parts(gone):
                connection.execute(delete(paths).where(paths.c.path.in_(part)))
            orphans = self._forget(connection, list(left.values()))
            self._update_paths_of_items(connection, list(left.values()))
            bump(connection)
        self._media.drop(orphans)

    def remove_source(self, source: str) -> bool:
        """Remove a source with all its paths; return whether it was known."""
        with self._catalog.writing(self._library) as connection:
            connection.execute(delete(paths).where(paths.c.source == source))
            orphans = self._forget(connection, [source])
            bump(connection)
        self._media.drop(orphans)
        return bool(orphans)

    def _put(self, connection: Connection, ready: Sequence[Ready]) -> None:
        """Write sources in place of their old rows, with one statement for each table."""
        if not ready:
            return
        known = select(sources.c.id).where(sources.c.id.in_([file.source for file, _, _ in ready]))
        before = set(connection.execute(known).scalars())
        for source in before:
            self._clear(connection, source)
        upsert(connection, sources, *[self._row_of(file, prepared) for file, prepared, _ in ready])
        self._put_items(connection, ready)
        self._put_vectors(connection, ready)
        tables.put(connection, [(file.source, prepared.tables) for file, prepared, _ in ready])
        for file, prepared, _ in ready:
            if file.source in before:
                blobs.forget_lost_items(connection, file.source)
            if file.source in before or prepared.reached or prepared.links:
                ledger.put_pictures(connection, file.source, prepared.reached, prepared.links)

    def _put_items(self, connection: Connection, ready: Sequence[Ready]) -> None:
        """Write the items of new sources, and their terms into the lexical index."""
        n = connection.execute(select(func.coalesce(func.max(items.c.n), 0))).scalar_one()
        rows: list[dict[str, Any]] = []
        terms: dict[Corpus, list[tuple[int, str, str, str]]] = {}
        for _, prepared, _ in ready:
            for item, columns in zip(prepared.items, prepared.terms, strict=True):
                n += 1
                rows.append({**pack(item), "n": n})
                terms.setdefault(item.corpus, []).append((n, *columns))
        add(connection, items, rows)
        for corpus, own in terms.items():
            lexical.put(connection, corpus, own)

    def _put_vectors(self, connection: Connection, ready: Sequence[Ready]) -> None:
        """Write the vectors of sources that have none."""
        found: dict[Corpus, list[tuple[str, str, Matrix]]] = {}
        for file, prepared, vectors in ready:
            owners: list[Item] = []
            for item, ranges in zip(prepared.items, prepared.chunks, strict=True):
                owners += [item] * len(ranges)
            names = chunked(prepared.items, prepared.chunks).ids
            for item, name, vector in zip(owners, names, vectors, strict=True):
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
        titles = {item.title for item in prepared.items}
        return {
            "id": file.source,
            "bytes": file.stat.size,
            "sha256": file.sha256,
            "params_hash": file.params or self._params,
            "indexed_at": now(),
            "kind": prepared.kind,
            "title": prepared.title,
            "named": name if name in titles else "",
            "status": "partial" if prepared.warnings else "ok",
            "reason": "",
            "warnings": list(prepared.warnings),
            "author": prepared.author,
            "language": prepared.language,
            "date": prepared.date,
        }

    def _put_paths(self, connection: Connection, files: Sequence[File]) -> list[str]:
        """Point paths at their sources; return the other sources that they pointed at before."""
        before = self._sources_at(connection, [file.path for file in files])
        rows: list[dict[str, Any]] = []
        left: list[str] = []
        for file in files:
            row = {"path": file.path, "source": file.source}
            for each in fields(Stat):
                row[each.name] = getattr(file.stat, each.name)
            rows.append(row)
            old = before.get(file.path, file.source)
            if old != file.source:
                left.append(old)
        if rows:
            upsert(connection, paths, *rows)
        return left

    def _forget(self, connection: Connection, candidates: Sequence[str]) -> list[str]:
        """Delete the sources among the candidates that no path points at, with their vectors; return them."""
        gone = []
        for source in dict.fromkeys(candidates):
            if self._reason(connection, source) is None:
                continue
            path = select(paths.c.path).where(paths.c.source == source)
            if connection.execute(path).first() is not None:
                continue
            lexical.delete(connection, source)
            ledger.forget_merged(connection, source)
            connection.execute(delete(sources).where(sources.c.id == source))
            connection.execute(delete(removed).where(removed.c.source == source))
            connection.execute(removed.insert(), {"source": source})
            gone.append(source)
        return gone

    def _update_paths_of_items(self, connection: Connection, moved: Sequence[str]) -> None:
        """Make the items of moved sources name their present file, also in the collections."""
        for source in dict.fromkeys(moved):
            first_path = select(func.min(paths.c.path)).where(paths.c.source == source)
            path = connection.execute(first_path).scalar()
            if path is None:
                continue
            stale = False
            of_source = select(items.c.id, items.c.locator).where(items.c.source == source)
            for item, old in connection.execute(of_source).all():
                new = lying_at(old, path)
                if new != old:
                    connection.execute(update(items).where(items.c.id == item).values(locator=new))
                    stale = True
            if stale:
                blobs.renew(connection, source)

    def _clear(self, connection: Connection, source: str) -> None:
        """Remove the items of a source, with their terms and the vectors of their texts."""
        lexical.delete(connection, source)
        tables.forget(connection, source)
        connection.execute(delete(items).where(items.c.source == source))
        blobs.forget_texts(connection, "source", [source])

    def _reason(self, connection: Connection, source: str) -> str | None:
        """Return why a source could not be read; "" if it was read, None if it is unknown."""
        query = select(sources.c.reason).where(sources.c.id == source)
        found: str | None = connection.execute(query).scalar()
        return found

    def _sources_at(self, connection: Connection, where: Sequence[str]) -> dict[str, str]:
        """Return the sources that paths point at, by path."""
        found: dict[str, str] = {}
        for part in in_parts(where):
            query = select(paths.c.path, paths.c.source).where(paths.c.path.in_(part))
            for row in connection.execute(query):
                found[row.path] = row.source
        return found
