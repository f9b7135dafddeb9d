"""A library as one file that another machine opens: the rows of its catalog and its media, each part with its digest.

A bundle is a zip file of JSON lines, one part for each table, and of the media as they are: nothing in it could run.
Paths are relative to the folder that all files have in common, so a bundle does not tell where they lay.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import zipfile
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from sqlalchemy import Connection, Table, select

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import locks
from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.ledger import PICTURES
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.schema import aliases, items, mentions, paths, relations, sources, stages, vectors
from ragweave.corpora.store.stores import Stores, stores
from ragweave.models.errors import InputError, LibraryError

FORMAT = 3
"""Version of what a bundle holds; no other is read."""
MANIFEST = "manifest.json"
TABLES = {f"{t.name}.jsonl": t for t in (sources, paths, items, vectors, stages, mentions, relations, aliases)}
"""Parts that hold the rows of a table, in the order in which they can be stored."""
UNSEEN = {"mtime_ns": 0, "ctime_ns": 0, "inode": 0, "checked_at": 0.0}
"""How a file looks of which nothing is known: the next run of `index` hashes it, and no more."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a bundle holds.

    Attributes:
        path: the file.
        library: name of the library.
        encoder: encoder that made the vectors.
        sources: number of sources; those that could not be read are left out.
        items: number of items.
        vectors: number of vectors, those of pictures and entities among them.
        sha256: digest of its manifest, which holds the digests of all parts: two equal ones are the same library.
    """

    path: Path
    library: str
    encoder: str
    sources: int
    items: int
    vectors: int
    sha256: str


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
                    manifest = _write(archive, held, row)
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
    s, i, v = (int(manifest["parts"][f"{t}.jsonl"]["rows"]) for t in ("sources", "items", "vectors"))
    return Bundle(path, name, row.encoder, s, i, v, digest(manifest))


def manifest_bytes(manifest: dict[str, Any]) -> bytes:
    """Return the one form of a manifest."""
    return json.dumps(manifest, ensure_ascii=False, sort_keys=True, indent=1).encode()


def digest(manifest: dict[str, Any]) -> str:
    """Return the digest of a manifest."""
    return hashlib.sha256(manifest_bytes(manifest)).hexdigest()


def carried(table: Table) -> list[str]:
    """Return the columns of a table that a bundle holds: those that do not depend on the home."""
    return [c.name for c in table.columns if c.name not in ("library", "n")]


def _write(archive: zipfile.ZipFile, held: Stores, row: LibraryRow) -> dict[str, Any]:
    """Write every part and the manifest, and return the latter."""
    parts: dict[str, dict[str, object]] = {}

    def put(name: str, pieces: Iterable[bytes]) -> None:
        seen, size, count = hashlib.sha256(), 0, 0
        with archive.open(_entry(name), "w", force_zip64=True) as out:
            for piece in pieces:
                out.write(piece)
                seen.update(piece)
                size, count = size + len(piece), count + 1
        parts[name] = {"sha256": seen.hexdigest(), "bytes": size, "rows": count if name in TABLES else 0}

    with held.catalog.engine(row.id).begin() as connection:
        known = connection.execute(select(sources.c.id).where(sources.c.status != "failed")).scalars().all()
        for name, table in TABLES.items():
            put(name, _lines(connection, table, set(known)))
    media = Media.of(row.id)
    for media_id in (m for source in sorted(known) for m in media.files(source)):
        put(f"media/{media_id}", _pieces(media.path(media_id)))
    about = {name: getattr(row, name) for name in ("encoder", "dim", "recency", "half_life")}
    manifest = {"format": FORMAT, "library": row.name, **about, "parts": parts}
    archive.writestr(_entry(MANIFEST), manifest_bytes(manifest))
    return manifest


def _lines(connection: Connection, table: Table, known: set[str]) -> Iterator[bytes]:
    """Yield the rows of a table, those of the sources that could be read, in a fixed order."""
    query = select(*(table.c[name] for name in carried(table))).order_by(*table.primary_key)
    if table is stages:  # where the pictures lie that a text links to is known on this machine only
        query = query.where(stages.c.status == "done", stages.c.stage != PICTURES)
    common = _common(connection, known) if table is paths else PurePath()
    owner = "id" if table is sources else "source"
    for found in connection.execute(query).mappings():
        row = dict(found)
        if owner in row and row[owner] not in known:
            continue
        if table is paths:
            lies = PurePath(row["path"])
            inside = lies.relative_to(common if lies.is_relative_to(common) else lies.anchor)
            row |= {"path": inside.as_posix(), **UNSEEN}
        elif table is items and "file" in row["locator"]:
            row["locator"] = {**row["locator"], "file": ""}  # the path of its source takes this place
        elif table is vectors:
            row["data"] = b64encode(row["data"]).decode()
        yield json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def _common(connection: Connection, known: set[str]) -> PurePath:
    """Return the folder that all files have in common."""
    rows = connection.execute(select(paths.c.source, paths.c.path))
    folders = [PurePath(path).parent for source, path in rows if source in known]
    try:
        return PurePath(os.path.commonpath(folders)) if folders else PurePath()
    except ValueError:  # on several drives
        return PurePath()


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
