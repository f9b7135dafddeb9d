"""A library as one file that another machine opens: sources, items, vectors and media, each part with its digest.

A bundle is a zip file of JSON lines and of plain little-endian 32-bit floats: nothing in it could run. Paths are
relative to the folder that all files have in common, so a bundle does not tell where they lay.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from sqlalchemy import select

from ragweave.corpora.knowledge import bundled
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import locks
from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.rows import pack
from ragweave.corpora.store.schema import paths, sources
from ragweave.corpora.store.stores import Stores, stores
from ragweave.corpora.types import CORPORA, Corpus
from ragweave.models.errors import InputError, LibraryError

FORMAT = 2
"""Version of what a bundle holds; a newer one is refused. The first one had no media."""
MANIFEST = "manifest.json"
SOURCES = "sources.jsonl"
ITEMS = "items.jsonl"
ROWS = 1_000
"""Vectors handled at a time."""
_KEPT = ("id", "kind", "title", "status", "bytes", "sha256", "params_hash", "warnings", "author", "language", "date")


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a bundle holds.

    Attributes:
        path: the file.
        library: name of the library.
        encoder: encoder that made the vectors.
        sources: number of sources; those that could not be read are left out.
        items: number of items.
        vectors: number of vectors.
        sha256: digest of its manifest, which holds the digests of all parts: two equal ones are the same library.
    """

    path: Path
    library: str
    encoder: str
    sources: int
    items: int
    vectors: int
    sha256: str


def vector_parts(corpus: Corpus) -> tuple[str, str]:
    """Return the names of the parts that hold the ids and the vectors of a corpus."""
    return f"vectors/{corpus}.jsonl", f"vectors/{corpus}.f32"


async def export_library(library: str, path: Path, *, overwrite: bool = False, wait: float | None = None) -> Bundle:
    """Write a library into one file, whole or not at all.

    Raises:
        InputError: the file exists, or its folder does not.
        LibraryNotFound: there is none of that name.
        LibraryError: the library is being written, or the file cannot be.
    """
    return await asyncio.to_thread(_export, check_name(library), path, overwrite, wait)


def _export(name: str, path: Path, overwrite: bool, wait: float | None) -> Bundle:
    path = path.expanduser().absolute()
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists", "choose another name, or allow to overwrite it")
    settings, held = corpora_settings(), stores()
    patience = settings.lock_wait if wait is None else wait
    found = held.catalog.library(name)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    with locks.writer(settings.home, found.id, name, patience, lambda holder: None):
        row = held.catalog.row(found.id)
        Committer(held.catalog, row, "").recover()
        try:
            with open(unfinished, "xb") as file:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
                    written = _Writer(archive).library(held, row)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, path)
        except OSError as error:
            raise LibraryError(
                f"The bundle {path} cannot be written ({error.strerror or error})",
                "check the folder, its permissions and its free space",
            ) from error
        finally:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
    counts = {part: int(facts["rows"]) for part, facts in written["parts"].items()}
    vectors = sum(counts.get(vector_parts(corpus)[1], 0) for corpus in CORPORA)
    return Bundle(path, name, row.encoder, counts[SOURCES], counts[ITEMS], vectors, digest(written))


def manifest_bytes(manifest: dict[str, Any]) -> bytes:
    """Return the one form of a manifest."""
    return json.dumps(manifest, ensure_ascii=False, sort_keys=True, indent=1).encode()


def digest(manifest: dict[str, Any]) -> str:
    """Return the digest of a manifest."""
    return hashlib.sha256(manifest_bytes(manifest)).hexdigest()


class _Writer:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._parts: dict[str, dict[str, object]] = {}

    def library(self, held: Stores, row: LibraryRow) -> dict[str, Any]:
        """Write every part and the manifest, and return the latter."""
        found = sorted(_sources(held, row.id), key=lambda s: str(s["id"]))
        self._lines(SOURCES, found)
        self._lines(ITEMS, self._items(held, row))
        for corpus in CORPORA:
            if ids := held.vectors.ids(row.id, corpus, row.encoder):
                named, raw = vector_parts(corpus)
                self._lines(named, ids)
                self._part(raw, self._vectors(held, row, corpus, ids), len(ids))
        for part in bundled.PARTS:
            lines = list(bundled.rows(held.catalog.engine(row.id), row.id, part, [str(s["id"]) for s in found]))
            if lines:
                self._lines(part, lines)
        media = Media.of(row.id)
        for source in found:
            for media_id in media.files(str(source["id"])):
                self._part(media_part(media_id), _pieces(media.path(media_id)), 0)
        manifest = {
            "format": FORMAT,
            "library": row.name,
            "encoder": row.encoder,
            "dim": row.dim,
            "parts": self._parts,
        }
        # Left out where nothing was set, so that equal libraries give equal bundles, also of earlier versions.
        if row.recency != "auto":
            manifest["recency"] = row.recency
        if row.half_life is not None:
            manifest["half_life"] = row.half_life
        self._archive.writestr(_entry(MANIFEST), manifest_bytes(manifest))
        return manifest

    def _items(self, held: Stores, row: LibraryRow) -> Iterator[dict[str, Any]]:
        for corpus in CORPORA:
            for page in held.catalog.pages(row.id, corpus):
                for item in page:
                    packed = pack(item)
                    if "file" in packed["locator"]:
                        packed["locator"]["file"] = ""  # the path of its source takes this place
                    yield packed

    def _vectors(self, held: Stores, row: LibraryRow, corpus: Corpus, ids: Sequence[str]) -> Iterator[bytes]:
        for start in range(0, len(ids), ROWS):
            yield held.vectors.fetch(row.id, corpus, row.encoder, ids[start : start + ROWS])[2].tobytes()

    def _lines(self, name: str, rows: Iterable[Any]) -> None:
        count = 0

        def lines() -> Iterator[bytes]:
            nonlocal count
            for row in rows:
                count += 1
                yield json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode() + b"\n"

        self._part(name, lines(), 0)
        self._parts[name]["rows"] = count

    def _part(self, name: str, pieces: Iterable[bytes], rows: int) -> None:
        seen, size = hashlib.sha256(), 0
        with self._archive.open(_entry(name), "w", force_zip64=True) as out:
            for piece in pieces:
                out.write(piece)
                seen.update(piece)
                size += len(piece)
        self._parts[name] = {"sha256": seen.hexdigest(), "bytes": size, "rows": rows}


def media_part(media_id: str) -> str:
    """Return the name of the part that holds a file of a source."""
    return f"media/{media_id}"


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(2**20):
            yield piece


def _entry(name: str) -> zipfile.ZipInfo:
    # One fixed date: the same library gives the same bytes.
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


def _sources(held: Stores, library: str) -> list[dict[str, Any]]:
    """Return the sources that could be read, each with its paths below the folder that all have in common."""
    with held.catalog.engine(library).begin() as connection:
        rows = connection.execute(select(sources).where(sources.c.library == library, sources.c.status != "failed"))
        found = {row["id"]: {**{k: row[k] for k in _KEPT}, "indexed_at": row["indexed_at"]} for row in rows.mappings()}
        where = connection.execute(select(paths.c.source, paths.c.path).where(paths.c.library == library)).all()
    lies = [(source, PurePath(path)) for source, path in where if source in found]
    try:
        common = PurePath(os.path.commonpath([path.parent for _, path in lies])) if lies else PurePath()
    except ValueError:  # on several drives
        common = PurePath()
    for row in found.values():
        row["paths"] = []
    for source, path in sorted(lies):
        inside = path.relative_to(common if path.is_relative_to(common) else path.anchor)
        found[source]["paths"].append(inside.as_posix())
    return list(found.values())
