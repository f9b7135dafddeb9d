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
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from ragweave.corpora.knowledge import bundled
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import lexical, locks
from ragweave.corpora.store.blobs import Matrix, item_of, put
from ragweave.corpora.store.bundle import (
    FORMAT,
    ITEMS,
    MANIFEST,
    ROWS,
    SOURCES,
    Bundle,
    digest,
    media_part,
    vector_parts,
)
from ragweave.corpora.store.bundle_rows import ItemRow, Manifest, SourceRow
from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import terms_of
from ragweave.corpora.store.rows import unpack
from ragweave.corpora.store.schema import items, paths, sources, write
from ragweave.corpora.store.stores import Stores, stores
from ragweave.corpora.types import CORPORA, Corpus
from ragweave.models.errors import InputError, LibraryError

MAX_BYTES = 64 * 2**30
"""Most that a bundle may unpack to."""
MAX_RATIO = 200
"""Unpacked to packed bytes, where it unpacks to more than RATIO_FROM."""
RATIO_FROM = 64 * 2**20
MAX_LINE = 64 * 2**20
"""Longest line of a part, in bytes."""
_PAGE = 500
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
_ids = TypeAdapter(str)
_MEDIA = re.compile(r"media/[0-9a-f]{24}/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


async def import_library(path: Path, name: str = "", *, files: Path | None = None) -> Bundle:
    """Make a library of a bundle.

    Args:
        path: the bundle.
        name: name of the new library; default: the one it had.
        files: folder in which the files lie on this machine; default: they are not here, and are named as lying in
            a folder of RAGWEAVE_HOME that does not exist. Indexing them later reads nothing again.

    Raises:
        InputError: it is no bundle, was changed, is of a newer kind, or goes past a limit.
        LibraryError: a library of that name exists, or the stores cannot be written.
    """
    return await asyncio.to_thread(_import, path, name, files)


def _import(path: Path, name: str, files: Path | None) -> Bundle:
    path = path.expanduser().absolute()
    try:
        with _Reader(path) as reader:
            reader.check()
            return _store(reader, check_name(name or reader.manifest.library), files)
    except zipfile.BadZipFile:
        raise InputError(f"{path} is no bundle, or is damaged", "export it again") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})", "check the path") from error


class _Reader:
    """A bundle under the limits."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zip = zipfile.ZipFile(path)
        try:
            self.manifest = self._manifest()
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *exc: object) -> None:
        self._zip.close()

    def _manifest(self) -> Manifest:
        entries = {e.filename: e for e in self._zip.infolist()}
        if len(entries) != len(self._zip.infolist()) or MANIFEST not in entries:
            raise self.refused("is no bundle of a library")
        if entries[MANIFEST].file_size > 2**20:
            raise self.refused("has a manifest of more than 1 MiB")
        try:
            raw = json.loads(self._zip.read(MANIFEST))
        except _BROKEN:
            raise self.refused("is damaged") from None
        version = raw.get("format") if isinstance(raw, dict) else None
        if isinstance(version, int) and version > FORMAT:
            raise InputError(
                f"{self.path} was written by a newer Ragweave (bundle format {version}, this one reads {FORMAT})",
                "upgrade Ragweave",
            )
        try:
            found = Manifest.model_validate(raw)
        except ValidationError as error:
            raise self.refused(f"has a manifest that cannot be used ({error.errors()[0]['msg']})") from None
        self.sha256 = digest(raw)
        allowed = {SOURCES, ITEMS, *(n for corpus in CORPORA for n in vector_parts(corpus))}
        self.media = [name.removeprefix("media/") for name in found.parts if _MEDIA.fullmatch(name)]
        allowed |= set(bundled.PARTS)
        allowed |= {media_part(media_id) for media_id in self.media}
        if set(entries) != {MANIFEST, *found.parts} or not {SOURCES, ITEMS} <= set(found.parts) <= allowed:
            raise self.refused("holds other parts than its manifest names")
        total = sum(e.file_size for e in entries.values())
        packed = self.path.stat().st_size
        if total > MAX_BYTES or (total > RATIO_FROM and total > MAX_RATIO * packed):
            raise self.refused(f"would unpack from {packed / 2**20:.1f} to {total / 2**20:.0f} MiB")
        if any(entries[n].file_size != part.bytes for n, part in found.parts.items()):
            raise self.refused("was changed after it was written")
        free = shutil.disk_usage(_there(corpora_settings().home)).free
        if free < 3 * total:
            raise LibraryError(
                f"Opening {self.path} takes about {3 * total / 2**20:.0f} MiB of disk, and {free / 2**20:.0f} are free",
                "free some disk, or set RAGWEAVE_HOME to another one",
            )
        return found

    def check(self) -> None:
        """Read everything once: each part is what its digest says."""
        for name, part in self.manifest.parts.items():
            seen = hashlib.sha256()
            try:
                with self._zip.open(name) as file:
                    while piece := file.read(2**20):
                        seen.update(piece)
            except _BROKEN:
                raise self.refused(f"is damaged (part {name})") from None
            if seen.hexdigest() != part.sha256:
                raise self.refused(f"was changed after it was written (part {name} is not what its digest says)")

    def sources(self) -> Iterator[SourceRow]:
        """Yield the sources."""
        for line in self._lines(SOURCES):
            yield self._valid(SourceRow, line)

    def items(self) -> Iterator[ItemRow]:
        """Yield the items."""
        for line in self._lines(ITEMS):
            yield self._valid(ItemRow, line)

    def graph(self, part: str) -> Iterator[Any]:
        """Yield the rows of a part of the knowledge graph; none where there is no such part."""
        if part in self.manifest.parts:
            for line in self._lines(part):
                yield self._valid(bundled.PARTS[part][1], line)

    def vectors(self, corpus: Corpus) -> Iterator[tuple[list[str], Matrix]]:
        """Yield the vectors of a corpus, some at a time."""
        named, raw = vector_parts(corpus)
        if raw not in self.manifest.parts:
            return
        width = 4 * self.manifest.dim
        if self.manifest.parts[raw].bytes != width * self.manifest.parts[raw].rows:
            raise self.refused("holds vectors of another length than it says")
        ids: list[str] = []
        with self._zip.open(raw) as file:
            for line in self._lines(named):
                ids.append(_ids.validate_json(line))
                if len(ids) == ROWS:
                    yield ids, self._floats(file.read(width * len(ids)), len(ids))
                    ids = []
            if ids:
                yield ids, self._floats(file.read(width * len(ids)), len(ids))

    def pieces(self, media_id: str) -> Iterator[bytes]:
        """Yield the bytes of a picture or clip."""
        with self._zip.open(media_part(media_id)) as file:
            while piece := file.read(2**20):
                yield piece

    def _floats(self, data: bytes, rows: int) -> Matrix:
        if len(data) != 4 * self.manifest.dim * rows:
            raise self.refused("holds fewer vectors than ids")
        return np.frombuffer(data, dtype="<f4").reshape(rows, self.manifest.dim).astype(np.float32)

    def _lines(self, name: str) -> Iterator[bytes]:
        with self._zip.open(name) as file:
            while line := file.readline(MAX_LINE + 1):
                if len(line) > MAX_LINE:
                    raise self.refused(f"has a line of more than {MAX_LINE // 2**20} MiB")
                yield line

    def _valid(self, kind: type[Any], line: bytes) -> Any:
        try:
            return kind.model_validate_json(line)
        except ValidationError as error:
            raise self.refused(f"holds a row that cannot be used ({error.errors()[0]['msg']})") from None

    def refused(self, why: str) -> InputError:
        """Return the error of a bundle that cannot be used."""
        return InputError(f"{self.path} {why}", "export it again, and take it only from where you trust")


def _store(reader: _Reader, name: str, files: Path | None) -> Bundle:
    """Make the library in a folder that takes its place when every row has been checked."""
    settings, held, manifest = corpora_settings(), stores(), reader.manifest
    row = LibraryRow(
        secrets.token_hex(8), name, manifest.encoder, manifest.dim, 1, manifest.recency, manifest.half_life
    )
    root = files.expanduser().absolute() if files else settings.home / "imported" / row.id
    with held.catalog.making(row) as (engine, folder):
        try:
            with write(engine) as connection:
                known = _store_sources(reader, connection, row.id, root)
                belongs = _store_items(reader, connection, row.id, known)
                count = sum(_store_vectors(reader, connection, row, corpus, belongs) for corpus in CORPORA)
                for part in bundled.PARTS:
                    rows = list(reader.graph(part))
                    if any(getattr(r, "source", None) not in {None, *known} for r in rows):
                        raise reader.refused("holds part of a graph without its source")
                    bundled.insert(connection, row.id, part, rows)
        except IntegrityError as error:
            raise reader.refused("holds a row twice") from error
        media = Media(folder / "media")
        for media_id in reader.media:
            if media_id.partition("/")[0] not in known:
                raise reader.refused("holds a picture or clip without its source")
            media.write(media_id, reader.pieces(media_id))
    with locks.writer(settings.home, row.id, name, 0, lambda holder: None):
        _embed_entities(reader, held, row)
        held.vectors.tidy(row.id)
    return Bundle(reader.path, name, manifest.encoder, len(known), len(belongs), count, reader.sha256)


def _embed_entities(reader: _Reader, held: Stores, row: LibraryRow) -> None:
    """Make the vectors of the graph's entities where its encoder is set; else the next run of `index` makes them."""
    from ragweave.corpora.knowledge.store import refresh
    from ragweave.models.embed import encoder

    if any(part in reader.manifest.parts for part in bundled.PARTS):
        mind = encoder()
        if mind.name == row.encoder:
            refresh(held, row, mind)


def _store_sources(reader: _Reader, connection: Connection, library: str, root: Path) -> set[str]:
    known: set[str] = set()
    for source in reader.sources():
        known.add(source.id)
        kept = source.model_dump(exclude={"paths"})
        connection.execute(sources.insert(), {**kept, "library": library, "reason": ""})
        # Nothing is known of how the files look here: the next run of `index` hashes them, and no more.
        unseen = {"mtime_ns": 0, "ctime_ns": 0, "inode": 0, "checked_at": 0.0}
        for inside in source.paths:
            where = str(root.joinpath(*PurePosixPath(inside).parts))
            facts = {"library": library, "path": where, "source": source.id, "size": source.bytes, **unseen}
            connection.execute(paths.insert(), facts)
    return known


def _store_items(
    reader: _Reader, connection: Connection, library: str, known: set[str]
) -> dict[str, tuple[str, Corpus]]:
    """Store the items with their words; return the source and corpus of each."""
    belongs: dict[str, tuple[str, Corpus]] = {}
    for page in _pages(reader.items()):
        for item in page:
            if item.source not in known or item.id in belongs:
                raise reader.refused("holds an item without its source, or twice")
            belongs[item.id] = (item.source, item.corpus)
        first = len(belongs) - len(page) + 1
        rows = [i.model_dump() for i in page]
        connection.execute(items.insert(), [{**r, "n": first + at, "library": library} for at, r in enumerate(rows)])
        words: dict[Corpus, list[tuple[int, str, str, str]]] = {}
        for at, (item, terms) in enumerate(zip(page, terms_of([unpack(r) for r in rows]), strict=True)):
            words.setdefault(item.corpus, []).append((first + at, *terms))
        for corpus, found in words.items():
            lexical.insert(connection, library, corpus, found)
    return belongs


def _store_vectors(
    reader: _Reader, connection: Connection, row: LibraryRow, corpus: Corpus, belongs: dict[str, tuple[str, Corpus]]
) -> int:
    count = 0
    for ids, found in reader.vectors(corpus):
        if any(item_of(i) not in belongs or belongs[item_of(i)][1] != corpus for i in ids):
            raise reader.refused("holds a vector without its item")
        if not np.all(np.abs(np.linalg.norm(found, axis=1) - 1) < 1e-2):
            raise reader.refused("holds a vector that is not of length 1")
        count += len(put(connection, row.id, corpus, row.encoder, ids, [belongs[item_of(i)][0] for i in ids], found))
    return count


def _pages(rows: Iterator[ItemRow]) -> Iterator[list[ItemRow]]:
    page: list[ItemRow] = []
    for row in rows:
        page.append(row)
        if len(page) == _PAGE:
            yield page
            page = []
    if page:
        yield page


def _there(folder: Path) -> Path:
    """Return the innermost folder above that exists."""
    return next(p for p in (folder, *folder.parents) if os.path.isdir(p))
