"""Indexes of vectors in Chroma: snapshots that are made once, in a process of their own, and only read afterwards.

Each is a folder with one collection, put in place by a rename once it is whole. Nothing of Chroma's files is read but
their digest: a folder that is not as it was made is not opened, because opening a damaged index may take all memory
there is.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.corpora.store.folders import folder_of
from ragweave.corpora.store.libraries import Libraries
from ragweave.models.errors import LibraryError
from ragweave.models.subprocess_env import import_path

logger = logging.getLogger(__name__)

HNSW = {"space": "cosine", "ef_construction": 200, "ef_search": 500, "max_neighbors": 32}
"""With Chroma's defaults about 1 % of the vectors of a collection are not found by themselves."""
BATCH = 5_000
"""Rows of one call; Chroma refuses more than 5,461."""
_PART = ".part"

Group = tuple[str, str, int]
"""Space, corpus, and the last row of an index."""


class Broken(Exception):
    """An index cannot be asked: it is gone, damaged, of another Chroma, or its server is away."""


class IndexLost(Broken):
    """The index is not there, and can be made anew."""


class FolderIndexes:
    """The indexes of a home that this process has open."""

    def __init__(self, catalog: Libraries, home: Path) -> None:
        self._catalog = catalog
        self._home = home
        self._open: dict[str, tuple[Any, Any]] = {}
        self._lock = threading.Lock()

    def query(
        self, library: str, name: str, digest: str, asked: NDArray[np.float32], most: int, sources: Sequence[str]
    ) -> list[list[tuple[int, float]]]:
        """Return up to `most` (row, cosine) for each query vector.

        Raises:
            Broken: it cannot be opened, or does not answer.
        """
        path = self._folder(library) / name
        try:
            with self._lock:
                if name not in self._open:
                    if digest_of(path) != digest:
                        raise Broken(f"the index {name} is not as it was made")
                    client = client_of(path)
                    self._open[name] = (client, client.get_collection(name, embedding_function=None))
                collection = self._open[name][1]
            where = {"source": {"$in": list(sources)}} if sources else None
            reply = collection.query(query_embeddings=asked, n_results=most, where=where, include=["distances"])
        except BaseException as error:  # a panic of Chroma's Rust core is no Exception
            if isinstance(error, Broken | KeyboardInterrupt | SystemExit):
                raise
            raise Broken(f"the index {name} cannot be asked ({error})") from error
        return rows_of(reply)

    def build(self, library: str, group: Group) -> tuple[str, str]:
        """Make an index of the rows of a catalog; return its name, and the digest of its files.

        Raises:
            LibraryError: Chroma cannot make it, or the disk is full.
        """
        name, folder = name_of(library, group), self._folder(library)
        part = folder / f"{name}{_PART}"
        part.mkdir(parents=True)
        # Chroma writes its index with unused memory as it finds it: this process knows questions and keys, that not.
        with self._catalog.kept.file(library) as catalog:
            done = subprocess.run(
                [sys.executable, "-m", __name__, str(catalog), str(part), name, *map(str, group)],
                capture_output=True,
                text=True,
                check=False,
                env={n: v for n, v in os.environ.items() if n in _PASSED} | {"PYTHONPATH": import_path()},
            )
        if done.returncode:
            shutil.rmtree(part, ignore_errors=True)
            why = done.stderr.strip().rpartition("\n")[2] or f"status {done.returncode}"
            raise LibraryError(f"The index cannot be made ({why})", "free memory and disk, and index again")
        os.rename(part, folder / name)
        return name, digest_of(folder / name)

    def keep(self, library: str, kept: set[str]) -> None:
        """Remove the indexes of a library but those that are named."""
        for name in [n for n in self._open if n.startswith(f"{library}-") and n not in kept]:
            self.let_go(name)
        for name in self.names(library) - kept:
            shutil.rmtree(self._folder(library) / name, ignore_errors=True)

    def names(self, library: str) -> set[str]:
        """Return the names of the indexes of a library, those that are being made with them."""
        folder = self._folder(library)
        return {path.name for path in folder.iterdir()} if folder.is_dir() else set()

    def close(self) -> None:
        """Let go of every index."""
        for name in list(self._open):
            self.let_go(name)

    def let_go(self, name: str) -> None:
        """Close one index."""
        with self._lock:
            opened = self._open.pop(name, None)
        if opened is not None:
            opened[0].close()

    def _folder(self, library: str) -> Path:
        return folder_of(self._home, library) / "chroma"


_PASSED = frozenset({"PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV"})
"""Variables that the building process gets; no key is among them."""


def digest_of(folder: Path) -> str:
    """Return a digest of the files of an index, but for the database that Chroma opens for writing."""
    seen = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("chroma.sqlite3")):
        seen.update(path.name.encode())
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: seen)
    return seen.hexdigest()


def rows_of(reply: Any) -> list[list[tuple[int, float]]]:
    """Return the (row, cosine) that Chroma found for each query vector."""
    return [
        [(int(n), 1.0 - float(distance)) for n, distance in zip(ids, distances, strict=True)]
        for ids, distances in zip(reply["ids"], reply["distances"], strict=True)
    ]


def name_of(library: str, group: Group) -> str:
    """Return a new name for an index of a library."""
    space, corpus, _ = group
    return f"{library}-{corpus}-{hashlib.sha256(space.encode()).hexdigest()[:8]}-{secrets.token_hex(4)}"


def configuration(count: int) -> dict[str, Any]:
    """Return the settings of a collection of so many vectors."""
    # All of it is written to the disk by the last call: what is left over, each reader would have to add again.
    return {"hnsw": {**HNSW, "sync_threshold": max(2, count), "batch_size": min(max(2, count), BATCH)}}


def client_of(folder: Path) -> Any:
    """Return a client of a folder."""
    import chromadb
    from chromadb.config import Settings

    if not folder.is_dir():
        raise Broken(f"the index {folder.name} is not there")
    return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))


def _fill(client: Any, name: str, catalog: Path, group: Group) -> None:
    """Write a collection of the rows of a catalog."""
    held = "FROM vectors WHERE space = ? AND corpus = ? AND n <= ?"
    with closing(sqlite3.connect(catalog, timeout=60)) as connection:
        (count,) = connection.execute(f"SELECT count(*) {held}", group).fetchone()
        collection = client.create_collection(
            name, configuration=configuration(count), metadata={"space": group[0]}, embedding_function=None
        )
        rows = connection.execute(f"SELECT n, source, data {held} ORDER BY n", group)
        while some := rows.fetchmany(BATCH):
            vectors = np.frombuffer(b"".join(row[2] for row in some), dtype="<f4").reshape(len(some), -1)
            named = [{"source": row[1]} for row in some]
            collection.upsert(ids=[str(row[0]) for row in some], embeddings=vectors, metadatas=named)


if __name__ == "__main__":
    _catalog, _folder, _name, _space, _corpus, _upto = sys.argv[1:]
    _made = client_of(Path(_folder))
    _fill(_made, _name, Path(_catalog), (_space, _corpus, int(_upto)))
    _made.close()
