"""Indexes of vectors in Chroma: snapshots that are made once, in a process of their own, and only read afterwards.

On a disk each is a folder with one collection, put in place by a rename once it is whole; with a Chroma server it is a
collection there. Nothing of Chroma's files is read but their digest: a folder that is not as it was made is not
opened, because opening a damaged index may take all memory there is.
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
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from ragweave.models.child import import_path
from ragweave.models.errors import LibraryError

logger = logging.getLogger(__name__)

HNSW = {"space": "cosine", "ef_construction": 500, "ef_search": 500, "max_neighbors": 32}
"""With Chroma's defaults about 1 % of the vectors of a collection are not found by themselves."""
BATCH = 5_000
"""Rows of one call; Chroma refuses more than 5,461."""
_PART = ".part"

Group = tuple[str, str, int]
"""Space, corpus, and the last row of an index."""


class Broken(Exception):
    """An index cannot be asked: it is gone, damaged, of another Chroma, or its server is away."""


class Indexes:
    """The indexes that this process has open.

    With the address of a Chroma server they are collections there, else folders.
    """

    def __init__(self, url: str = "") -> None:
        self._url = url
        self._open: dict[str, tuple[Any, Any]] = {}
        self._lock = threading.Lock()

    def query(
        self, folder: Path, name: str, digest: str, vectors: NDArray[np.float32], most: int, sources: Sequence[str]
    ) -> list[list[tuple[int, float]]]:
        """Return up to `most` (row, cosine) for each query vector."""
        try:
            with self._lock:
                if name not in self._open:
                    if not self._url and digest_of(folder / name) != digest:
                        raise Broken(f"The index {name} is not as it was made")
                    client = client_of(self._url, folder / name)
                    self._open[name] = (client, client.get_collection(name, embedding_function=None))
                collection = self._open[name][1]
            where = {"source": {"$in": list(sources)}} if sources else None
            reply = collection.query(query_embeddings=vectors, n_results=most, where=where, include=["distances"])
        except BaseException as error:  # a panic of Chroma's Rust core is no Exception
            if isinstance(error, Broken | KeyboardInterrupt | SystemExit):
                raise
            raise Broken(f"The index {name} cannot be asked ({error})") from error
        return [
            [(int(n), 1.0 - float(distance)) for n, distance in zip(ids, distances, strict=True)]
            for ids, distances in zip(reply["ids"], reply["distances"], strict=True)
        ]

    def build(self, catalog: Path, folder: Path, group: Group) -> tuple[str, str]:
        """Make an index of the rows of a catalog; return its name, and the digest of its files.

        Raises:
            LibraryError: Chroma cannot make it, or the disk is full.
        """
        space, corpus, _ = group
        name = f"{folder.parent.name}-{corpus}-{hashlib.sha256(space.encode()).hexdigest()[:8]}-{secrets.token_hex(4)}"
        if self._url:
            try:
                _fill(client_of(self._url, folder), name, catalog, group)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    raise
                raise LibraryError(f"The index cannot be made ({error})", "check RAGWEAVE_CHROMA_URL") from error
            return name, ""
        part = folder / f"{name}{_PART}"
        part.mkdir(parents=True)
        # Chroma writes its index with unused memory as it finds it: this process knows questions and keys, that not.
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

    def keep(self, folder: Path, kept: set[str]) -> None:
        """Remove the indexes of a library but those that are named; `folder` is where it has them."""
        library = folder.parent.name
        for name in [n for n in self._open if n.startswith(f"{library}-") and n not in kept]:
            self.let_go(name)
        if self._url:
            with suppress(Exception):  # the server is away: what it still holds, nobody asks for
                client = client_of(self._url, folder)
                for name in [str(c.name) for c in client.list_collections()]:
                    if name.startswith(f"{library}-") and name not in kept:
                        client.delete_collection(name)
        if folder.is_dir():
            for path in folder.iterdir():
                if path.name not in kept:
                    shutil.rmtree(path, ignore_errors=True)

    def close(self) -> None:
        """Let go of every index."""
        for name in list(self._open):
            self.let_go(name)

    def let_go(self, name: str) -> None:
        """Close one index."""
        with self._lock:
            opened = self._open.pop(name, None)
        if opened is not None and not self._url:
            opened[0].close()


_PASSED = frozenset({"PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV"})
"""Variables that the building process gets; no key is among them."""


def digest_of(folder: Path) -> str:
    """Return a digest of the files of an index, but for the database that Chroma opens for writing."""
    seen = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("chroma.sqlite3")):
        seen.update(path.name.encode())
        with path.open("rb") as file:
            while piece := file.read(2**20):
                seen.update(piece)
    return seen.hexdigest()


def client_of(url: str, folder: Path) -> Any:
    """Return a client of the server, or of a folder."""
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    if not url:
        if not folder.is_dir():
            raise Broken(f"The index {folder.name} is not there")
        return chromadb.PersistentClient(str(folder), settings=settings)
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 8000)
    return chromadb.HttpClient(host=parts.hostname or "127.0.0.1", port=port, ssl=secure, settings=settings)


def _fill(client: Any, name: str, catalog: Path, group: Group) -> None:
    """Write a collection of the rows of a catalog."""
    held = "FROM vectors WHERE space = ? AND corpus = ? AND n <= ?"
    with closing(sqlite3.connect(catalog, timeout=60)) as connection:
        (count,) = connection.execute(f"SELECT count(*) {held}", group).fetchone()
        # All of it is written to the disk by the last call: what is left over, each reader would have to add again.
        hnsw = {**HNSW, "sync_threshold": max(2, count), "batch_size": min(max(2, count), BATCH)}
        collection = client.create_collection(
            name, configuration={"hnsw": hnsw}, metadata={"space": group[0]}, embedding_function=None
        )
        rows = connection.execute(f"SELECT n, source, data {held} ORDER BY n", group)
        while some := rows.fetchmany(BATCH):
            vectors = np.frombuffer(b"".join(row[2] for row in some), dtype="<f4").reshape(len(some), -1)
            named = [{"source": row[1]} for row in some]
            collection.upsert(ids=[str(row[0]) for row in some], embeddings=vectors, metadatas=named)


if __name__ == "__main__":
    _catalog, _folder, _name, _space, _corpus, _upto = sys.argv[1:]
    _made = client_of("", Path(_folder))
    _fill(_made, _name, Path(_catalog), (_space, _corpus, int(_upto)))
    _made.close()
