"""A home of an earlier Ragweave, one catalog and one Chroma for all libraries, becomes a folder for each library."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from ragweave.corpora.store import lexical, locks
from ragweave.corpora.store.blobs import entity_space, put, visual_space
from ragweave.corpora.store.chroma import BATCH, client_of
from ragweave.corpora.store.folders import catalog_of, folder_of, unwritable
from ragweave.corpora.store.schema import connect, metadata, write
from ragweave.corpora.types import CORPORA, Corpus
from ragweave.models.errors import LibraryError

logger = logging.getLogger(__name__)

BACKUP = "before-folders"
_LAST = 4
"""Version of the last catalog that held all libraries."""
_WAIT = 60.0
_OF_VECTORS = ("commit", "drop", "vectors")
"""Stages that told whether vectors and catalog agreed; now they lie in one file."""


def migrate(home: Path, url: str) -> None:
    """Move every library into a folder of its own; then the old files, which nothing reads again, into a backup.

    Each folder takes its place whole, so that what is killed here is finished by the next program that opens the home.

    Raises:
        LibraryError: another process writes a library, the disk is full, or the home is of a newer Ragweave.
    """
    old = home / "catalog.sqlite"
    with locks.names(home):
        if not old.exists():  # another process was first
            return
        try:
            with closing(sqlite3.connect(old)) as connection:
                connection.row_factory = sqlite3.Row
                (found,) = connection.execute("PRAGMA user_version").fetchone()
                if found > _LAST:
                    raise LibraryError(f"The catalog {old} was written by another Ragweave", "upgrade Ragweave")
                rows = [dict(row) for row in connection.execute("SELECT * FROM libraries")] if found else []
            for row in rows:
                with locks.writer(home, row["id"], row["name"], _WAIT, lambda holder: None):
                    if not catalog_of(home, row["id"]).exists():
                        _move(home, old, url, row)
                    _take_along(home, row["id"])
            (home / BACKUP).mkdir(exist_ok=True)
            for name in ("chroma", "catalog.sqlite-wal", "catalog.sqlite-shm", "catalog.sqlite"):
                if (home / name).exists():
                    os.rename(home / name, home / BACKUP / name)
        except OSError as error:
            raise unwritable(home, error) from error
        except sqlite3.Error as error:
            raise LibraryError(
                f"The catalog {old} cannot be opened ({error})", "check RAGWEAVE_HOME, or move this file away"
            ) from error
    logger.warning("Each library has a folder of its own now; the old files lie in %s", home / BACKUP)


def _move(home: Path, old: Path, url: str, row: dict[str, Any]) -> None:
    library, part = str(row["id"]), folder_of(home, f".{row['id']}.part")
    shutil.rmtree(part, ignore_errors=True)
    engine = connect(part / "catalog.sqlite")
    try:
        with write(engine) as connection:
            for corpus in CORPORA:
                lexical.create(connection, library, corpus)
        engine.dispose()
        with closing(sqlite3.connect(part / "catalog.sqlite", isolation_level=None)) as raw:
            raw.execute("ATTACH ? AS old", (str(old),))
            _copy(raw, library)
        with write(engine) as connection:
            known = set(connection.exec_driver_sql("SELECT id FROM sources").scalars())
            try:
                for corpus, space, ids, sources, vectors in _vectors(home, url, row):
                    kept = [n for n, source in enumerate(sources) if source in known]
                    mine = [ids[n] for n in kept], [sources[n] for n in kept], vectors[kept]
                    put(connection, library, corpus, space, *mine)
            except LibraryError:
                raise
            except BaseException as error:  # a panic of Chroma's Rust core is no Exception
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    raise
                logger.warning(
                    "Vectors of the library %r cannot be read (%s); the next `ragweave index` makes them again",
                    row["name"],
                    error,
                )
    finally:
        engine.dispose()
    os.rename(part, folder_of(home, library))


def _copy(raw: sqlite3.Connection, library: str) -> None:
    """Copy the rows of a library from the catalog that is attached as `old`."""
    there = {name for (name,) in raw.execute("SELECT name FROM old.sqlite_master WHERE type = 'table'")}
    raw.execute("BEGIN IMMEDIATE")
    for table in metadata.sorted_tables:
        if table.name in there:
            held = {row[1] for row in raw.execute(f"PRAGMA old.table_info({table.name})")}
            columns = ", ".join(c.name for c in table.columns if c.name in held)
            where = "id = ?" if table.name == "libraries" else "library = ?"
            if table.name == "stages":
                where += f" AND stage NOT IN {_OF_VECTORS}"
            query = f"INSERT INTO main.{table.name}({columns}) SELECT {columns} FROM old.{table.name} WHERE {where}"
            raw.execute(query, (library,))
    for corpus in CORPORA:
        name = lexical.table(library, corpus)
        if name in there:
            columns = "rowid, title, heading, text"
            raw.execute(f"INSERT INTO main.{name}({columns}) SELECT {columns} FROM old.{name}")
    raw.execute("COMMIT")


def _vectors(home: Path, url: str, row: dict[str, Any]) -> Iterator[tuple[Corpus, str, list[str], list[str], Any]]:
    """Yield corpus, space, ids, sources and vectors of what Chroma holds of a library."""
    if not url and not (home / "chroma").is_dir():
        return
    encoder, epoch = str(row["encoder"]), row.get("epoch") or 0
    space = f"{encoder} {epoch}" if epoch else encoder
    client = client_of(url, home / "chroma")
    try:
        for collection in client.list_collections():
            library, _, rest = str(collection.name).partition("-")
            named = str((collection.metadata or {}).get("space", ""))
            if named.endswith(f" beside {space}"):
                now = visual_space(named.removeprefix("see ").removesuffix(f" beside {space}"))
            else:
                now = {space: encoder, f"entities of {space}": entity_space(encoder)}.get(named, "")
            corpus = next((c for c in CORPORA if rest.startswith(f"{c}-")), None)
            if library != row["id"] or not now or corpus is None:
                continue
            ids = collection.get(include=[])["ids"]
            for start in range(0, len(ids), BATCH):
                got = collection.get(ids=ids[start : start + BATCH], include=["embeddings", "metadatas"])
                sources = [str(m["source"]) for m in got["metadatas"]]
                yield corpus, now, got["ids"], sources, np.asarray(got["embeddings"], dtype=np.float32)
    finally:
        client.close()


def _take_along(home: Path, library: str) -> None:
    for name in ("media", "perceived"):
        before, now = home / name / library, folder_of(home, library) / name
        if before.is_dir() and not now.exists():
            os.rename(before, now)
