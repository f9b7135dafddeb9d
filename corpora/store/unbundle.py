"""Opening a bundle that came from elsewhere: everything is checked before anybody sees anything of it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import secrets
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Base64Bytes, BaseModel, ConfigDict, Field, ValidationError, create_model
from sqlalchemy import Connection, Table, text
from sqlalchemy.exc import IntegrityError

from ragweave.corpora.archive import BROKEN
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import lexical, locks
from ragweave.corpora.store.blobs import entity_space
from ragweave.corpora.store.bundle import FORMAT, MANIFEST, TABLES, UNSEEN, Bundle, carried, digest
from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import terms_of
from ragweave.corpora.store.rows import unpack
from ragweave.corpora.store.schema import items, paths, write
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import MAX_HALF_LIFE, Corpus, Locator, Recency
from ragweave.models.errors import InputError, LibraryError

MAX_BYTES = 64 * 2**30
"""Most that a bundle may unpack to."""
MAX_RATIO = 200
"""Unpacked to packed bytes, where it unpacks to more than RATIO_FROM."""
RATIO_FROM = 64 * 2**20
MAX_LINE = 64 * 2**20
"""Longest line of a part, in bytes."""
_PAGE = 500
_MEDIA = re.compile(r"media/([0-9a-f]{24}/[A-Za-z0-9_][A-Za-z0-9._-]{0,99})")


def _time(value: str | None) -> str | None:
    if value is not None:
        datetime.fromisoformat(value)
    return value


def _inside(path: str) -> str:
    whole, parts = PurePosixPath(path), PurePosixPath(path).parts
    if not parts or whole.is_absolute() or ".." in parts or "\\" in path or ":" in parts[0] or "\0" in path:
        raise ValueError("a path leads out of its folder")
    return path


def _unit(data: bytes) -> bytes:
    if len(data) % 4 or not abs(np.linalg.norm(np.frombuffer(data, "<f4")) - 1) < 1e-2:
        raise ValueError("a vector is not of length 1")
    return data


_Id = Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Short = Annotated[str, Field(max_length=10_000)]
_Box = tuple[float, float, float, float] | None
_Span = tuple[int, int, int, int, _Box] | tuple[int, int, int, int, _Box, tuple[float, float]]
_Part = Annotated[str, Field(pattern=r"^[0-9a-f]{1,24}$")]
_KINDS: dict[str, Any] = {
    **dict.fromkeys(("sources.id", "items.id", "source", "chunk", "entity", "head", "tail", "one", "other"), _Id),
    **dict.fromkeys(("date", "indexed_at", "at"), Annotated[str | None, AfterValidator(_time)]),
    "path": Annotated[str, Field(max_length=4_096), AfterValidator(_inside)],
    "sha256": _Digest,
    "sources.status": Literal["ok", "partial"],
    "corpus": Corpus,
    "text": str,
    "locator": Locator,
    "heading": list[_Short],
    "warnings": list[_Short],
    "spans": list[_Span],
    "meta": dict[str, Any],
    "mentions.items": list[tuple[_Id, Annotated[int, Field(ge=0)]]],
    "vectors.item": _Id,
    "part": _Part,
    "data": Annotated[Base64Bytes, AfterValidator(_unit)],
    "weight": Annotated[float, Field(ge=0, le=1e9)],
}
"""What may stand in a column, by its name or its table and name; the others hold short texts and natural numbers."""
_PLAIN = {str: _Short, int: Annotated[int, Field(ge=0, lt=2**63)], float: float}


def _row_of(table: Table) -> type[BaseModel]:
    """Return what a row of a part may be."""
    kinds = {c: _KINDS.get(f"{table.name}.{c}") or _KINDS.get(c) for c in carried(table)}
    values: dict[str, Any] = {c: (kind or _PLAIN[table.c[c].type.python_type], ...) for c, kind in kinds.items()}
    return create_model(table.name, __config__=ConfigDict(extra="forbid", allow_inf_nan=False), **values)


class _Named(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sha256: _Digest
    bytes: int = Field(ge=0)
    rows: int = Field(ge=0)


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal[3]
    library: str = Field(min_length=1, max_length=100)
    encoder: str = Field(min_length=1, max_length=500)
    dim: int = Field(ge=1, le=65_536)
    parts: dict[str, _Named]
    recency: Recency
    half_life: float | None = Field(gt=0, le=MAX_HALF_LIFE)


async def import_library(path: Path, name: str = "", *, files: Path | None = None) -> Bundle:
    """Make a library of a bundle.

    Args:
        path: the bundle.
        name: name of the new library; default: the one it had.
        files: folder in which the files lie on this machine; default: they are not here, and are named as lying in
            a folder of RAGWEAVE_HOME that does not exist. Indexing them later reads nothing again.

    Raises:
        InputError: it is no bundle, was changed, is of another format, or goes past a limit.
        LibraryError: a library of that name exists, or the stores cannot be written.
    """
    return await asyncio.to_thread(_import, path, name, files)


def _import(path: Path, name: str, files: Path | None) -> Bundle:
    path = path.expanduser().absolute()
    try:
        with zipfile.ZipFile(path) as archive:
            reader = _Reader(path, archive)
            reader.check()
            return _store(reader, check_name(name or reader.manifest.library), files)
    except zipfile.BadZipFile:
        raise InputError(f"{path} is no bundle, or is damaged", "export it again") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})", "check the path") from error


class _Reader:
    """A bundle under the limits."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path = path
        self._zip = archive
        entries = {e.filename: e for e in archive.infolist()}
        if len(entries) != len(archive.infolist()) or MANIFEST not in entries:
            raise self.refused("is no bundle of a library")
        if entries[MANIFEST].file_size > 64 * 2**20:
            raise self.refused("has a manifest of more than 64 MiB")
        try:
            raw = json.loads(archive.read(MANIFEST))
        except BROKEN:
            raise self.refused("is damaged") from None
        version = raw.get("format") if isinstance(raw, dict) else None
        if isinstance(version, int) and version != FORMAT:
            how = "a newer" if version > FORMAT else "an earlier"
            raise InputError(
                f"{path} was written by {how} Ragweave (bundle format {version}, this one reads {FORMAT})",
                "upgrade Ragweave" if version > FORMAT else "export the library again with this one",
            )
        try:
            self.manifest = _Manifest.model_validate(raw)
        except ValidationError as error:
            raise self.refused(f"has a manifest that cannot be used ({error.errors()[0]['msg']})") from None
        self.sha256, parts = digest(raw), self.manifest.parts
        self.media = {name: found[1] for name in parts if (found := _MEDIA.fullmatch(name))}
        if set(entries) != {MANIFEST, *parts} or set(parts) != {*TABLES, *self.media}:
            raise self.refused("holds other parts than its manifest names")
        total = sum(e.file_size for e in entries.values())
        packed = path.stat().st_size
        if total > MAX_BYTES or (total > RATIO_FROM and total > MAX_RATIO * packed):
            raise self.refused(f"would unpack from {packed / 2**20:.1f} to {total / 2**20:.0f} MiB")
        if any(entries[n].file_size != part.bytes for n, part in parts.items()):
            raise self.refused("was changed after it was written")
        free = shutil.disk_usage(_there(corpora_settings().home)).free
        if free < 3 * total:
            raise LibraryError(
                f"Opening {path} takes about {3 * total / 2**20:.0f} MiB of disk, and {free / 2**20:.0f} are free",
                "free some disk, or set RAGWEAVE_HOME to another one",
            )

    def check(self) -> None:
        """Read everything once: each part is what its digest says."""
        for name, part in self.manifest.parts.items():
            seen = hashlib.sha256()
            try:
                for piece in self.pieces(name):
                    seen.update(piece)
            except BROKEN:
                raise self.refused(f"is damaged (part {name})") from None
            if seen.hexdigest() != part.sha256:
                raise self.refused(f"was changed after it was written (part {name} is not what its digest says)")

    def pages(self, part: str) -> Iterator[list[dict[str, Any]]]:
        """Yield the rows of a part, some at a time."""
        rows = self._rows(part)
        while page := list(islice(rows, _PAGE)):
            yield page

    def _rows(self, part: str) -> Iterator[dict[str, Any]]:
        kind = _row_of(TABLES[part])
        with self._zip.open(part) as file:
            while line := file.readline(MAX_LINE + 1):
                if len(line) > MAX_LINE:
                    raise self.refused(f"has a line of more than {MAX_LINE // 2**20} MiB")
                try:
                    yield dict(kind.model_validate_json(line))
                except ValidationError as error:
                    raise self.refused(f"holds a row that cannot be used ({error.errors()[0]['msg']})") from None

    def pieces(self, part: str) -> Iterator[bytes]:
        """Yield the bytes of a part."""
        with self._zip.open(part) as file:
            while piece := file.read(2**20):
                yield piece

    def refused(self, why: str) -> InputError:
        """Return the error of a bundle that cannot be used."""
        return InputError(f"{self.path} {why}", "export it again, and take it only from where you trust")


def _store(reader: _Reader, name: str, files: Path | None) -> Bundle:
    """Make the library in a folder that takes its place when every row has been checked."""
    settings, held, given = corpora_settings(), stores(), reader.manifest
    row = LibraryRow(secrets.token_hex(8), name, given.encoder, given.dim, 1, given.recency, given.half_life)
    root = files.expanduser().absolute() if files else settings.home / "imported" / row.id
    counts: Counter[str] = Counter()
    with held.catalog.making(row) as (engine, folder):
        try:
            with write(engine) as connection:
                for part, table in TABLES.items():
                    for page in reader.pages(part):
                        first = counts[table.name] + 1
                        counts[table.name] += len(page)
                        _store_page(connection, row.id, table, first, page, root)
                bound = {"encoder": row.encoder, "entities": entity_space(row.encoder), "bytes": 4 * row.dim}
                if connection.execute(text(_LOST), bound).first():
                    raise reader.refused("holds a vector without its item")
                if connection.execute(text(_UNEVEN), bound).first():
                    raise reader.refused("holds vectors of another length than it says")
                known = set(connection.exec_driver_sql("SELECT id FROM sources").scalars())
        except IntegrityError as error:
            raise reader.refused("holds a row twice, or one without its source") from error
        media = Media(folder / "media")
        for part, media_id in reader.media.items():
            if media_id.partition("/")[0] not in known:
                raise reader.refused("holds a picture or clip without its source")
            media.write(media_id, reader.pieces(part))
    with locks.writer(settings.home, row.id, name, 0, lambda holder: None):
        held.vectors.tidy(row.id)
    s, i, v = (counts[table] for table in ("sources", "items", "vectors"))
    return Bundle(reader.path, name, given.encoder, s, i, v, reader.sha256)


_LOST = """SELECT 1 FROM vectors v WHERE space != :entities AND NOT EXISTS (SELECT 1 FROM items i
    WHERE i.library = v.library AND i.id = v.item AND i.corpus = v.corpus AND i.source = v.source)"""
_UNEVEN = """SELECT 1 FROM vectors GROUP BY space HAVING min(length(data)) != max(length(data))
    OR (space IN (:encoder, :entities) AND max(length(data)) != :bytes)"""


def _store_page(
    connection: Connection, library: str, table: Table, first: int, page: list[dict[str, Any]], root: Path
) -> None:
    """Store rows of a part; `first` is the number of the first of them."""
    for n, row in enumerate(page, first):
        row["library"] = library
        if table is paths:
            row |= {"path": str(root.joinpath(*PurePosixPath(row["path"]).parts)), **UNSEEN}
        elif table is items:
            row["n"] = n
    connection.execute(table.insert(), page)
    if table is items:
        words: dict[Corpus, list[tuple[int, str, str, str]]] = {}
        for row, terms in zip(page, terms_of([unpack(row) for row in page]), strict=True):
            words.setdefault(row["corpus"], []).append((row["n"], *terms))
        for corpus, found in words.items():
            lexical.insert(connection, library, corpus, found)


def _there(folder: Path) -> Path:
    """Return the innermost folder above that exists."""
    return next(p for p in (folder, *folder.parents) if os.path.isdir(p))
