"""Compaction: what was deleted leaves the disk.

A delete frees pages of the catalog, tombstones words of the lexical index and marks vectors of Chroma's index; the
bytes stay until the files are written anew.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

from sqlalchemy import Engine

from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store import lexical, locks
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.rebuild import renew
from ragweave.corpora.store.schema import REMEDY, write
from ragweave.corpora.store.stores import Stores
from ragweave.corpora.types import CORPORA
from ragweave.models.errors import LibraryError

AT_ONCE = 10_000
"""Most vectors that are written anew on the way; some ten seconds of work. More are left to `doctor --repair`."""

_VACUUM = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
connection.execute("VACUUM")
connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
print(*(row[0] for row in connection.execute("SELECT id FROM segments")))
"""
"""Run in a process of its own: locks do not hold between two copies of SQLite, Chroma's and ours, in one process."""


def compact(
    settings: CorporaSettings,
    held: Stores,
    library: LibraryRow | None = None,
    *,
    all_sizes: bool = False,
    stop: threading.Event | None = None,
) -> None:
    """Write the stores anew without what was deleted.

    Args:
        settings: where the stores lie.
        held: the stores.
        library: library whose vectors are written anew as well; the caller holds its writer lock.
        all_sizes: also the vectors of a large library.
        stop: when set on the way, the rest is left undone.

    Raises:
        LibraryError: the disk has no room, or a store is in use for too long.
    """
    if library is not None:
        count = sum(len(held.vectors.ids(library.id, c, library.space, library.generation)) for c in CORPORA)
        if all_sizes or count <= AT_ONCE:
            renew(held, library, stop)
    if stop is not None and stop.is_set():
        return
    _compact_catalog(held.catalog.engine)
    if not settings.chroma_url:
        with locks.gate(settings.home):
            held.vectors.close()
            _compact_chroma(settings.home / "chroma")


def _compact_catalog(engine: Engine) -> None:
    with write(engine) as connection:
        for name in lexical.tables(connection):
            # Tombstoned words leave the index when its parts are merged into one.
            connection.exec_driver_sql(f"INSERT INTO {name}({name}) VALUES ('optimize')")
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.close()
    except sqlite3.Error as error:
        raise LibraryError(f"The catalog cannot be compacted ({error})", REMEDY) from error
    finally:
        connection.close()


def _compact_chroma(folder: Path) -> None:
    """Vacuum Chroma's database and remove the folders of indexes that it no longer names."""
    database = folder / "chroma.sqlite3"
    if not database.exists():
        return
    done = subprocess.run(
        [sys.executable, "-I", "-c", _VACUUM, str(database)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        why = done.stderr.strip().rpartition("\n")[2]
        raise LibraryError(f"The vector store cannot be compacted ({why})", REMEDY)
    named = set(done.stdout.split())
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False) and entry.name not in named and len(entry.name) == 36:
                shutil.rmtree(entry.path, ignore_errors=True)
