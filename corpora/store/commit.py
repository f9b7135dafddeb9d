"""The one writer of a library: media first, then items, words and vectors in one transaction of the catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sqlalchemy import Connection, delete, func, select

from ragweave.corpora.store import blobs, ledger, lexical
from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.catalog import Catalog, LibraryRow
from ragweave.corpora.store.files import File
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import Prepared, chunked
from ragweave.corpora.store.rows import pack
from ragweave.corpora.store.schema import bump, items, now, paths, sources, upsert
from ragweave.corpora.types import CORPORA, Corpus


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file before the commit.

    `vectors` has one row per chunk, shape (chunks, dim). A `passing` failure may be gone next time, so what is known
    from the path stays; `began` is the monotonic time at which its reading began, in seconds.
    """

    file: File
    prepared: Prepared | None
    vectors: Matrix
    error: str = ""
    passing: bool = False
    began: float = 0.0


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

    def store(self, outcomes: Sequence[Outcome], links: Sequence[File] = ()) -> tuple[list[File], dict[str, str]]:
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
            moved: list[str | None] = []
            for file, prepared, rows in good:
                self._put_source(connection, file, prepared)
                self._put_vectors(connection, file, prepared, rows)
                ledger.put_pictures(connection, file.source, prepared.reached, prepared.links)
                moved.append(self._put_path(connection, file))
            for outcome in outcomes:
                if outcome.prepared is None and not (
                    outcome.passing and self._source_at(connection, outcome.file.path)
                ):
                    self._put_failure(connection, outcome)
                    moved.append(self._put_path(connection, outcome.file))
            for file in links:
                reason = self._reason(connection, file.source)
                if reason is None:
                    missing.append(file)
                    continue
                moved.append(self._put_path(connection, file))
                if reason:
                    unread[file.path] = reason
            orphans = self._forget(connection, [m for m in moved if m])
            bump(connection)
        # What could not be read has no media, and what it had before belongs to items that are gone.
        self._media.drop(orphans)
        self._media.drop(o.file.source for o in outcomes if o.prepared is None and not o.passing)
        return missing, unread

    def refresh(self, files: Sequence[File]) -> None:
        """Note how files look from outside whose bytes are as before; what can be found stays the same."""
        if files:
            with self._catalog.writing(self._library) as connection:
                for file in files:
                    self._put_path(connection, file)

    def remove_paths(self, gone: Sequence[str]) -> None:
        """Forget files; a source goes with the last of its paths."""
        with self._catalog.writing(self._library) as connection:
            left = [self._source_at(connection, path) for path in gone]
            for path in gone:
                connection.execute(delete(paths).where(paths.c.path == path))
            orphans = self._forget(connection, [source for source in left if source])
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

    def _put_vectors(self, connection: Connection, file: File, prepared: Prepared, rows: Matrix) -> None:
        """Write the vectors of a source in place of those it had."""
        blobs.forget_texts(connection, "source", [file.source])
        blobs.forget_lost_items(connection, file.source)
        of = [i.corpus for i, ranges in zip(prepared.items, prepared.chunks, strict=True) for _ in ranges]
        named = chunked(prepared.items, prepared.chunks).ids
        for corpus in CORPORA:
            mine = [n for n, c in enumerate(of) if c == corpus]
            if mine:
                ids, belongs = [named[n] for n in mine], [file.source] * len(mine)
                blobs.put(connection, corpus, self._encoder, ids, belongs, rows[mine])

    def _put_source(self, connection: Connection, file: File, prepared: Prepared) -> None:
        name = Path(file.path).stem
        self._clear_items(connection, file.source)
        self._upsert_source(
            connection,
            file,
            kind=prepared.kind,
            title=prepared.title,
            named=name if any(item.title == name for item in prepared.items) else "",
            status="partial" if prepared.warnings else "ok",
            warnings=list(prepared.warnings),
            author=prepared.author,
            language=prepared.language,
            date=prepared.date,
        )
        first = connection.execute(select(func.coalesce(func.max(items.c.n), 0))).scalar_one() + 1
        connection.execute(items.insert(), [{**pack(item), "n": first + at} for at, item in enumerate(prepared.items)])
        by_corpus: dict[Corpus, list[tuple[int, str, str, str]]] = {}
        for at, (item, terms) in enumerate(zip(prepared.items, prepared.terms, strict=True)):
            by_corpus.setdefault(item.corpus, []).append((first + at, *terms))
        for corpus, rows in by_corpus.items():
            lexical.put(connection, corpus, rows)

    def _put_failure(self, connection: Connection, outcome: Outcome) -> None:
        source = outcome.file.source
        self._clear_items(connection, source)
        blobs.forget_texts(connection, "source", [source])
        blobs.forget_lost_items(connection, source)
        title = outcome.file.path.rpartition("/")[2]
        self._upsert_source(connection, outcome.file, kind="", title=title, status="failed", reason=outcome.error)

    def _upsert_source(self, connection: Connection, file: File, **values: object) -> None:
        row: dict[str, object] = {
            "id": file.source,
            "bytes": file.stat.size,
            "sha256": file.sha256,
            "params_hash": file.params or self._params,
            "indexed_at": now(),
            **dict.fromkeys(("named", "reason", "author", "language"), ""),
            "warnings": [],
            "date": None,
        }
        upsert(connection, sources, row | values)

    def _put_path(self, connection: Connection, file: File) -> str | None:
        """Point a path at its source; return the source it pointed at before, where that was another."""
        before = self._source_at(connection, file.path)
        upsert(connection, paths, {"path": file.path, "source": file.source, **asdict(file.stat)})
        return before if before != file.source else None

    def _forget(self, connection: Connection, candidates: Sequence[str]) -> list[str]:
        """Delete those of the candidates that no path points at, with their vectors; return them."""
        gone = []
        for source in dict.fromkeys(candidates):
            lies = select(paths.c.path).where(paths.c.source == source)
            if self._reason(connection, source) is not None and connection.execute(lies).first() is None:
                self._clear_items(connection, source)
                connection.execute(delete(sources).where(sources.c.id == source))
                gone.append(source)
        return gone

    def _clear_items(self, connection: Connection, source: str) -> None:
        lexical.delete(connection, source)
        connection.execute(delete(items).where(items.c.source == source))

    def _reason(self, connection: Connection, source: str) -> str | None:
        """Return why a source could not be read, "" where it could, None where it is not known."""
        found: str | None = connection.execute(select(sources.c.reason).where(sources.c.id == source)).scalar()
        return found

    def _source_at(self, connection: Connection, path: str) -> str | None:
        found: str | None = connection.execute(select(paths.c.source).where(paths.c.path == path)).scalar()
        return found
