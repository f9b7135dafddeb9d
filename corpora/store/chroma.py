"""The Chroma collections of a library in its folder: one client, one collection a corpus.

A snapshot, `indexes/<name>`, is written by a process of its own, put in place by a rename once it is whole,
and only read afterwards; `chroma` is a link to it. The next one is a copy of it with what has changed. A
folder whose files are not as they were made is not opened, because opening a damaged index may take all
memory there is.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, RowMapping

from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.chroma_client import client_of
from ragweave.corpora.store.chroma_rows import BATCH, HNSW, CollectionChange, collection_of, configuration
from ragweave.corpora.store.folders import folder_of, unwritable
from ragweave.models.errors import LibraryError
from ragweave.models.subprocess_env import import_path

_COPIES = 16
"""Snapshots that are copies of the one before: a graph keeps the places of what was removed from it."""
_WITHOUT_TEXTS = "-2"
"""Ends the names of snapshots that hold vectors alone."""
_PASSED = frozenset({"PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV"})
"""Variables that the writing process gets; no key is among them."""

Index = RowMapping
"""A row of the catalog's table of indexes."""
Near = list[tuple[str, float]]
"""(chunk id, cosine)."""


class Broken(Exception):
    """An index cannot be asked: it is gone, damaged, of another Chroma, or its server is away."""


class IndexLost(Broken):
    """The index does not exist, and can be rebuilt."""


class FolderIndexes:
    """The collections of the libraries of a home."""

    in_place = False

    def __init__(self, home: Path) -> None:
        self._home = home
        self._open: dict[tuple[str, str], tuple[Any, dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def query(
        self, library: str, index: Index, unit: Matrix, most: int, sources: Sequence[str]
    ) -> list[Near]:
        """Return up to `most` (chunk id, cosine) for each query vector.

        Raises:
            Broken: the index cannot be opened, or does not answer.
        """
        name = str(index["name"])
        try:
            collection = self._collection(library, index)
            where = {"source": {"$in": list(sources)}} if sources else None
            return near_of(
                collection.query(query_embeddings=unit, n_results=most, where=where, include=["distances"])
            )
        except BaseException as error:  # a panic of Chroma's Rust core is no Exception
            if isinstance(error, Broken | KeyboardInterrupt | SystemExit):
                raise
            raise Broken(f"the index {name} cannot be asked ({error})") from error

    def usable(self, library: str, rows: Sequence[Index]) -> list[Index]:
        """Return the rows whose collections can be brought up to date: all, or none."""
        try:
            found = set()
            for row in rows:
                found.add((str(row["name"]), row["digest"]))
            [(name, digest)] = found
            fresh = int(name.partition("-")[0]) < _COPIES
        except ValueError:
            return []
        fresh = fresh and not self.holds_texts(rows)
        return list(rows) if fresh and digest_of(self._folder(library) / name) == digest else []

    def holds_texts(self, rows: Sequence[Index]) -> bool:
        """Return whether a snapshot holds what its items say: earlier versions put that in as well."""
        for row in rows:
            if not str(row["name"]).endswith(_WITHOUT_TEXTS):
                return True
        return False

    def there(self, library: str) -> set[str]:
        """Return the names of the snapshots of a library, those that are being made with them."""
        with suppress(OSError):
            return {path.name for path in self._folder(library).iterdir()}
        return set()

    def write(
        self,
        library: str,
        connection: Connection,
        changes: Sequence[CollectionChange],
        old: Sequence[Index],
    ) -> tuple[str, str]:
        """Write a snapshot of the catalog in a transaction: that of the `old` rows with `changes` applied.

        Returns:
            Its name, and the digest of its files.

        Raises:
            LibraryError: Chroma cannot make it, or the disk is full.
        """
        before = str(old[0]["name"]) if old else ""
        name = f"{int(before.partition('-')[0]) + 1 if old else 0}-{secrets.token_hex(4)}{_WITHOUT_TEXTS}"
        folder = self._folder(library)
        part = folder / f"{name}.part"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copytree(folder / before, part) if old else part.mkdir()
            self._run(part, connection, changes)
            os.rename(part, folder / name)
        except OSError as error:
            raise unwritable(part, error) from error
        finally:
            shutil.rmtree(part, ignore_errors=True)
        self._link(folder, name)
        return name, digest_of(folder / name)

    def keep(self, library: str, kept: set[str]) -> None:
        """Remove the snapshots of a library but those that are named."""
        for of, name in list(self._open):
            if of == library and name not in kept:
                self.let_go(of, name)
        for name in self.there(library) - kept:
            shutil.rmtree(self._folder(library) / name, ignore_errors=True)
        if not kept:
            _remove_link(self._folder(library).with_name("chroma"))

    def close(self) -> None:
        """Let go of every snapshot."""
        for key in list(self._open):
            self.let_go(*key)

    def let_go(self, library: str, name: str) -> None:
        """Close one snapshot."""
        with self._lock:
            opened = self._open.pop((library, name), None)
        if opened is not None:
            opened[0].close()

    def _collection(self, library: str, index: Index) -> Any:
        key, name = (library, str(index["name"])), collection_of(index["space"], index["corpus"])
        with self._lock:
            if key not in self._open:
                path = self._folder(library) / key[1]
                if not path.is_dir():
                    raise IndexLost(f"the index {key[1]} is not there")
                if digest_of(path) != index["digest"]:
                    raise Broken(f"the index {key[1]} is not as it was made")
                self._open[key] = (client_of(path), {})
            client, collections = self._open[key]
            if name not in collections:
                collections[name] = client.get_collection(name, embedding_function=None)
            return collections[name]

    def _run(self, part: Path, connection: Connection, changes: Sequence[CollectionChange]) -> None:
        """Send what has changed to the process that writes it."""
        env = {"PYTHONPATH": import_path()}
        for name in _PASSED:
            if name in os.environ and name not in env:
                env[name] = os.environ[name]
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "ragweave.corpora.store.chroma_child", str(part)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=said,
                env=env,
            )
            try:
                with suppress(BrokenPipeError), process.stdin as pipe:  # type: ignore[union-attr]
                    for change in changes:
                        if change.new or change.gone or not change.after:
                            _send(pipe, connection, change)
                    pickle.dump([change.collection for change in changes], pipe)
                    pipe.flush()
                process.wait()
            finally:
                process.kill()
                process.wait()
            if process.returncode:
                said.seek(0)
                why = said.read().decode(errors="replace").strip().rpartition("\n")[2]
                why = why or f"status {process.returncode}"
                raise LibraryError(
                    f"The index cannot be made ({why})", "free memory and disk, and index again"
                )

    def _link(self, folder: Path, name: str) -> None:
        link, new = folder.with_name("chroma"), folder.with_name(f".chroma.{name}")
        with suppress(OSError):  # a system without links: the folder itself can be opened there
            new.symlink_to(f"{folder.name}/{name}")
            if not link.is_symlink():
                _remove_link(link)
            new.replace(link)

    def _folder(self, library: str) -> Path:
        return folder_of(self._home, library) / "indexes"


def _remove_link(link: Path) -> None:
    if link.is_dir() and not link.is_symlink():  # of a home that was copied without its links
        shutil.rmtree(link, ignore_errors=True)
    else:
        link.unlink(missing_ok=True)


def _send(pipe: Any, connection: Connection, change: CollectionChange) -> None:
    alive = change.alive(connection) if change.gone else None
    whole = configuration(min(change.new, change.batch(connection)))
    hnsw = whole if change.after else HNSW | whole
    head = {"name": change.collection, "metadata": {"encoder": change.space}, "old": bool(change.after)}
    pickle.dump({**head, "hnsw": hnsw, "alive": alive, "batch": BATCH}, pipe)
    for rows in change.rows(connection):
        pickle.dump(tuple(rows), pipe)
    pickle.dump(None, pipe)


def digest_of(folder: Path) -> str:
    """Return a digest of the files of an index, but for the database that Chroma opens for writing."""
    seen = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.startswith("chroma.sqlite3"):
            continue
        seen.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: seen)
    return seen.hexdigest()


def near_of(reply: Any) -> list[Near]:
    """Return the (chunk id, cosine) that Chroma found for each query vector."""
    found: list[Near] = []
    for ids, distances in zip(reply["ids"], reply["distances"], strict=True):
        near = []
        for id_, distance in zip(ids, distances, strict=True):
            near.append((str(id_), 1.0 - float(distance)))
        found.append(near)
    return found
