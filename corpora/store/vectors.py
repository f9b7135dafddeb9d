"""The vectors: one Chroma collection per library, corpus and space (encoder and epoch), with our own vectors, no text.

An embedded client never sees what another process writes after it has opened, so it is told the library's generation
at every query and reopens when that has moved on. A Chroma server sees everything and is never reopened.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from ragweave.corpora.store import locks
from ragweave.corpora.store.chroma import BATCH, as_library_error, forget_system, remove, remove_sources
from ragweave.corpora.store.memory import cleared
from ragweave.corpora.store.spaces import (
    beside,
    collection_of,
    image_encoders_of,
    item_of,
    name_of,
    names_of,
    visual_space,
)
from ragweave.corpora.store.torn import MEND, TORN, clear, collections_of, torn
from ragweave.corpora.types import CORPORA, Corpus
from ragweave.models.errors import LibraryError

__all__ = ["Matrix", "Vectors", "item_of", "name_of", "visual_space"]

logger = logging.getLogger(__name__)

PER_ITEM = 32
"""Chunks, or frames, of an item that are compared where it was found by another list."""

_UNSURE = -1
"""Generation of a library whose change failed half-way: the next use opens it anew."""

Matrix = NDArray[np.float32]


class Vectors:
    """The vector store of one home."""

    def __init__(self, home: Path, url: str = "") -> None:
        self._home = home
        self._url = url
        self._opened: _Opened | None = None
        self._seen: dict[str, int] = {}
        """Generation of each library that the open client is known to see."""
        self._lock = threading.RLock()

    def query(
        self,
        library: str,
        corpus: Corpus,
        space: str,
        generation: int,
        vectors: Matrix,
        k: int,
        sources: Sequence[str] = (),
    ) -> list[list[tuple[str, float]]]:
        """Return up to k (item id, cosine) for each query vector, best first.

        Chunks of one item are joined by their best. `vectors` has shape (q, dim); a row of zeros finds nothing.

        Raises:
            LibraryError: the store cannot be read.
        """
        asked = np.flatnonzero(_usable(vectors))
        found: list[list[tuple[str, float]]] = [[] for _ in range(len(vectors))]
        if not len(asked):
            return found
        rows = k if corpus == "paragraph" else 4 * k
        with self._fresh(library, generation) as client:
            collection = collection_of(client, library, corpus, space)
            if collection is None:
                return found
            with as_library_error("read"):
                reply = collection.query(
                    query_embeddings=vectors[asked],
                    n_results=rows,
                    where={"source": {"$in": list(sources)}} if sources else None,
                    include=["distances"],
                )
        for at, ids, distances in zip(asked, reply["ids"], reply["distances"], strict=True):
            best: dict[str, float] = {}
            for id_, distance in zip(ids, distances, strict=True):
                best.setdefault(item_of(id_), 1.0 - float(distance))
            found[at] = list(best.items())[:k]
        return found

    @contextmanager
    def changing(self, library: str, generation: int) -> Iterator[Any]:
        """Hold the gate for a change, the client brought up to `generation` first.

        The catalog's transaction belongs inside as well, followed by `reached`.
        """
        with self._gate():
            self._catch_up(library, generation)
            self.reached(library, max(generation, self._seen.get(library, generation)))
            try:
                with self._use() as client:
                    yield client
            except BaseException:
                self.reached(library, _UNSURE)
                raise

    def reached(self, library: str, generation: int) -> None:
        """Note, inside `changing`, that the open client sees this generation, because it wrote it."""
        with self._lock:
            self._seen[library] = generation

    def upsert(
        self, library: str, corpus: Corpus, space: str, ids: Sequence[str], source: Sequence[str], vectors: Matrix
    ) -> list[str]:
        """Write chunk vectors, shape (n, dim); rows of zeros are left to the lexical index. Call inside `changing`.

        Returns the ids of those that were written.

        Raises:
            LibraryError: the store cannot be written.
        """
        kept = np.flatnonzero(_usable(vectors))
        with self._use() as client, as_library_error("written"):
            collection = collection_of(client, library, corpus, space, create=True)
            for start in range(0, len(kept), BATCH):
                part = kept[start : start + BATCH]
                collection.upsert(
                    ids=[ids[i] for i in part],
                    embeddings=vectors[part],
                    metadatas=[{"source": source[i]} for i in part],
                )
        return [ids[int(i)] for i in kept]

    def delete(self, library: str, space: str, sources: Sequence[str], kept: Collection[str] = ()) -> None:
        """Remove the vectors of these sources, but of the items `kept`. Call inside `changing`."""
        with self._use() as client, as_library_error("written"):
            for each in beside(client, library, space):
                for corpus in CORPORA:
                    collection = collection_of(client, library, corpus, each)
                    if collection is not None and sources:
                        remove_sources(collection, sources, lambda id_: item_of(id_) in kept)

    def has(self, library: str, corpus: Corpus, space: str, generation: int) -> bool:
        """Say whether there are vectors of a corpus in a space."""
        with self._fresh(library, generation) as client:
            return collection_of(client, library, corpus, space) is not None

    def image_encoders(self, library: str, space: str, generation: int) -> list[str]:
        """Return the names of the image encoders that have vectors beside those of a space."""
        with self._fresh(library, generation) as client, as_library_error("read"):
            return image_encoders_of(client, library, space)

    def ids(self, library: str, corpus: Corpus, space: str, generation: int) -> list[str]:
        """Return the ids of every chunk in a collection."""
        with self._fresh(library, generation) as client:
            collection = collection_of(client, library, corpus, space)
            if collection is None:
                return []
            with as_library_error("read"):
                return sorted(collection.get(include=[])["ids"])

    def count(self, library: str, corpus: Corpus, space: str, generation: int) -> int:
        """Return the number of chunks in a collection."""
        with self._fresh(library, generation) as client, as_library_error("read"):
            collection = collection_of(client, library, corpus, space)
            return int(collection.count()) if collection is not None else 0

    def fetch(
        self, library: str, corpus: Corpus, space: str, generation: int, ids: Sequence[str]
    ) -> tuple[list[str], list[str], Matrix]:
        """Return those of the chunks that are stored: their ids, their sources, their vectors of shape (n, dim)."""
        found: list[str] = []
        belongs: list[str] = []
        parts: list[Matrix] = []
        with self._fresh(library, generation) as client:
            collection = collection_of(client, library, corpus, space)
            for start in range(0, len(ids) if collection is not None else 0, BATCH):
                with as_library_error("read"):
                    got = collection.get(ids=list(ids[start : start + BATCH]), include=["embeddings", "metadatas"])
                if got["ids"]:
                    found += got["ids"]
                    belongs += [str(m["source"]) for m in got["metadatas"]]
                    parts.append(np.asarray(got["embeddings"], dtype=np.float32))
        return found, belongs, np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)

    def of_items(
        self, library: str, corpus: Corpus, space: str, generation: int, items: Sequence[str]
    ) -> dict[str, Matrix]:
        """Return the vectors of items, shape (n, dim) each; without those that have none."""
        wanted = [f"{item}~{n}" for item in items for n in range(PER_ITEM)]
        ids, _, vectors = self.fetch(library, corpus, space, generation, wanted)
        rows: dict[str, list[int]] = {}
        for at, id_ in enumerate(ids):
            rows.setdefault(item_of(id_), []).append(at)
        return {item: vectors[at] for item, at in rows.items()}

    def discard(self, library: str, corpus: Corpus, space: str, ids: Sequence[str]) -> None:
        """Remove chunks by id. Call inside `changing`."""
        with self._use() as client, as_library_error("written"):
            collection = collection_of(client, library, corpus, space)
            if collection is not None:
                remove(collection, ids)

    def drop(self, library: str) -> None:
        """Remove every collection of a library."""
        with self._gate():
            self.keep_only({library: None})

    def keep_only(self, spaces: Mapping[str, str | None]) -> list[str]:
        """Remove the collections of these libraries that are of another space than the one given.

        Call inside `changing`, or with the gate held. Returns the names of what was removed.
        """
        with self._use() as client, as_library_error("written"):
            kept = {
                name_of(i, c, each)
                for i, space in spaces.items()
                if space is not None
                for each in beside(client, i, space)
                for c in CORPORA
            }
            gone = [n for n in names_of(client) if n not in kept and n.partition("-")[0] in spaces]
            for name in gone:
                client.delete_collection(name)
        return gone

    def names(self) -> list[str]:
        """Return the names of all collections as `<library id>-<corpus>-<digest of the space>`."""
        with self._gate(), self._use() as client, as_library_error("read"):
            return names_of(client)

    def mend(self, announce: Callable[[str], None]) -> None:
        """Remove collections whose index a kill left half-written.

        Args:
            announce: told the id of each library that loses vectors, before it does.
        """
        if self._url:
            return
        with self._gate():
            broken = torn(self._folder)
            if not broken:
                return
            self.close()
            gone = collections_of(self._folder, broken)
            for name in gone:
                announce(name.partition("-")[0])
            clear(broken)
            with self._use() as client, as_library_error("written"):
                for name in gone:
                    client.delete_collection(name)

    def close(self) -> None:
        """Let go of the client, at once or when its last query has ended; the next call opens another."""
        with self._lock:
            opened, self._opened = self._opened, None
            self._seen.clear()
            if opened is not None:
                opened.retired = True
                opened.system = forget_system(str(self._folder)) if not self._url else None
                opened.stop_if_unused()

    @property
    def _folder(self) -> Path:
        return self._home / "chroma"

    @contextmanager
    def _fresh(self, library: str, generation: int) -> Iterator[Any]:
        """Read with a client that sees at least `generation`.

        Chroma loads a collection at its first query, so a client that has just been opened is also first used behind
        the gate.
        """
        with ExitStack() as stack:
            with self._lock:
                current = bool(self._url) or self._seen.get(library, _UNSURE) >= generation
                # Taken in the same moment: another thread may replace the client at any later one.
                client = stack.enter_context(self._use()) if current else None
            yield client if current else stack.enter_context(self.changing(library, generation))

    @contextmanager
    def _use(self) -> Iterator[Any]:
        """Keep the open client, opened where it is not, from being stopped meanwhile."""
        with self._lock:
            if self._opened is None:
                self._opened = _Opened(self._connect())
            opened = self._opened
            opened.users += 1
        try:
            with cleared():
                yield opened.client
        finally:
            with self._lock:
                opened.users -= 1
                opened.stop_if_unused()

    def _catch_up(self, library: str, generation: int) -> None:
        with self._lock:
            # A library that this client has never touched is read from disk at its first query.
            if not self._url and self._seen.get(library, generation) < generation:
                self.close()

    def _gate(self) -> Any:
        return locks.gate(self._home)

    def _connect(self) -> Any:
        import chromadb
        from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False)
        with as_library_error("opened"):
            if not self._url:
                self._folder.mkdir(parents=True, exist_ok=True)
                if torn(self._folder):
                    raise LibraryError(TORN, MEND)
                return chromadb.PersistentClient(str(self._folder), settings=settings)
            parts = urlsplit(self._url)
            secure = parts.scheme == "https"
            return chromadb.HttpClient(
                host=parts.hostname or "127.0.0.1",
                port=parts.port or (443 if secure else 8000),
                ssl=secure,
                settings=settings,
            )


@dataclass(slots=True)
class _Opened:
    """A client, how many use it, and whether another has taken its place."""

    client: Any
    users: int = 0
    retired: bool = False
    system: Any = None

    def stop_if_unused(self) -> None:
        # Left to the garbage collector, every reopening would hold its files and a copy of the index for a while.
        if self.retired and not self.users and self.system is not None:
            self.system.stop()
            self.system = None


def _usable(vectors: Matrix) -> NDArray[np.bool_]:
    norms = np.linalg.norm(vectors, axis=1)
    return np.asarray(np.isfinite(norms) & (norms > 1e-6))
