"""A library as one file that another machine opens: a zip of its catalog and its media, each with its digest.

Nothing of a bundle is trusted: of its catalog the rows are read into tables of our own, and all is checked before
anybody sees anything of it. Paths are relative to the folder that all files have in common, so a bundle does not tell
where they lay; words and indexes are made anew.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import secrets
import shutil
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any, get_args

import numpy as np
from pydantic import TypeAdapter

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import lexical, locks
from ragweave.corpora.store.blobs import entity_space
from ragweave.corpora.store.catalog import check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.folders import REMEDY
from ragweave.corpora.store.ledger import PICTURES
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.repair import index_words
from ragweave.corpora.store.schema import SCHEMA_VERSION, connect, indexes, metadata, write
from ragweave.corpora.store.stores import stores
from ragweave.corpora.store.temporary import temporary
from ragweave.corpora.types import MAX_HALF_LIFE, Item, Recency
from ragweave.models.errors import InputError, LibraryError, RagweaveError

MANIFEST, CATALOG, GIVEN = "manifest.json", "catalog.sqlite", "given"
MAX_BYTES = 64 * 2**30
"""Most that a bundle may unpack to."""
MAX_RATIO = 200
"""Unpacked to packed bytes, where it unpacks to more than RATIO_FROM."""
RATIO_FROM = 64 * 2**20
_TABLES = [t for t in metadata.sorted_tables if t is not indexes]
_MEDIA = re.compile(r"media/[0-9a-f]{24}/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a bundle holds.

    Sources that could not be read are left out; `sha256` is the digest of its manifest, which holds the digests of all
    parts.
    """

    path: Path
    library: str
    encoder: str
    sources: int
    items: int
    vectors: int
    sha256: str


async def export_library(library: str, path: Path, *, overwrite: bool = False) -> Bundle:
    """Write a library into one file, whole or not at all.

    Raises:
        InputError: the file exists.
        LibraryNotFound: there is none of that name.
        LibraryError: the library is being written, or the file cannot be.
    """
    return await asyncio.to_thread(_export, check_name(library), path, overwrite)


async def import_library(path: Path, name: str = "", *, files: Path | None = None) -> Bundle:
    """Make a library of a bundle.

    `files` is the folder in which the files lie on this machine; without it they are named as lying in a folder of
    RAGWEAVE_HOME that does not exist. Indexing them later reads nothing again.

    Raises:
        InputError: it is no bundle, was changed, is of another Ragweave, or goes past a limit; `files` is no folder.
        LibraryError: a library of that name exists, or the disk has no room.
    """
    return await asyncio.to_thread(_import, path, name, files)


def _export(name: str, path: Path, overwrite: bool) -> Bundle:
    path = path.expanduser().absolute()
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists", "choose another name, or allow to overwrite it")
    held = stores()
    found = held.catalog.library(name)
    with locks.writer(found.id, name):
        row, media = held.catalog.row(found.id), Media.of(found.id)
        Committer(held.catalog, row).recover()
        try:
            with temporary(path.parent) as folder:
                unfinished, copy = folder / "bundle", folder / "copy.sqlite"
                with held.catalog.kept.file(row.id) as given, _copied(copy, given) as raw:
                    _strip(raw)
                    known = [str(id_) for (id_,) in raw.execute("SELECT id FROM sources ORDER BY id")]
                    counts = _counts(raw)
                parts = {CATALOG: copy} | {f"media/{m}": media.path(m) for source in known for m in media.files(source)}
                digests = {}
                for part, lies in parts.items():
                    with lies.open("rb") as content:
                        digests[part] = _digest(content)
                told = {"schema": SCHEMA_VERSION, "library": name, "parts": digests}
                manifest = json.dumps(told, sort_keys=True).encode()
                with open(unfinished, "xb") as file:
                    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
                        archive.writestr(MANIFEST, manifest)
                        for part, lies in parts.items():
                            archive.write(lies, part)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(unfinished, path)
        except (OSError, sqlite3.Error) as error:
            raise LibraryError(
                f"The bundle {path} cannot be written ({getattr(error, 'strerror', None) or error})",
                "check the folder, its permissions and its free space",
            ) from error
    return Bundle(path, name, row.encoder, *counts, hashlib.sha256(manifest).hexdigest())


def _import(path: Path, name: str, files: Path | None) -> Bundle:
    path = path.expanduser().absolute()
    settings, held, library = corpora_settings(), stores(), secrets.token_hex(8)
    root = files.expanduser().absolute() if files else settings.home / "imported" / library
    if files and not root.is_dir():
        raise InputError(f"There is no folder at {root}", "give the one that holds the files, or leave it out")
    try:
        with zipfile.ZipFile(path) as archive:
            manifest, sha256 = _checked(path, archive, settings.home)
            name = check_name(name or manifest["library"])
            with held.catalog.making(library, name) as folder:
                with archive.open(CATALOG) as packed, open(folder / GIVEN, "xb") as file:
                    shutil.copyfileobj(packed, file)
                with _copied(folder / CATALOG, folder / GIVEN) as raw:
                    _check_rows(raw)
                    for (inside,) in raw.execute("SELECT path FROM paths").fetchall():
                        lies = str(root / _inside(inside))
                        raw.execute("UPDATE paths SET path = ? WHERE path = ?", (lies, inside))
                    raw.execute(_NOWHERE)
                    raw.execute("UPDATE about SET name = ?, generation = 1", (name,))
                    known, counts = {str(id_) for (id_,) in raw.execute("SELECT id FROM sources")}, _counts(raw)
                    (encoder,) = raw.execute("SELECT encoder FROM about").fetchone()
                (folder / GIVEN).unlink()
                engine, kind = connect(folder / CATALOG), TypeAdapter(Item)
                with write(engine) as connection:
                    index_words(connection, lambda item: kind.validate_python(asdict(item)))
                engine.dispose()
                media = Media(folder / "media")
                for part in manifest["parts"]:
                    if part != CATALOG:
                        if part[6:30] not in known:
                            raise ValueError("a picture or clip without its source")
                        with archive.open(part) as packed:
                            media.write(part[6:], iter(partial(packed.read, 2**20), b""))
    except RagweaveError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})", "check the path") from error
    except Exception as error:  # in a file that comes from elsewhere anything may be wrong
        if isinstance(error, sqlite3.OperationalError) and "full" in str(error):
            raise LibraryError(f"{path} cannot be opened ({error})", REMEDY) from error
        raise InputError(f"{path} is no bundle, or holds what cannot be used ({error})", "export it again") from error
    with locks.writer(library, name, 0):
        Media.of(library).send()
        held.vectors.tidy(library)
    return Bundle(path, name, encoder, *counts, sha256)


def _checked(path: Path, archive: zipfile.ZipFile, home: Path) -> tuple[dict[str, Any], str]:
    """Read all of a bundle once, and return its manifest and the digest of that: each part is what its digest says."""
    entries = {e.filename: e for e in archive.infolist()}
    total, packed = sum(e.file_size for e in entries.values()), path.stat().st_size
    if total > MAX_BYTES or (total > RATIO_FROM and total > MAX_RATIO * packed):
        raise ValueError(f"it would unpack from {packed / 2**20:.1f} to {total / 2**20:.0f} MiB")
    there = next(p for p in (home, *home.parents) if p.is_dir())
    if (free := shutil.disk_usage(there).free) < 3 * total:
        raise LibraryError(
            f"Opening {path} takes about {3 * total / 2**20:.0f} MiB of disk, and {free / 2**20:.0f} are free",
            "free some disk, or set RAGWEAVE_HOME to another one",
        )
    raw = archive.read(MANIFEST)
    manifest: dict[str, Any] = json.loads(raw)
    if (version := manifest["schema"]) != SCHEMA_VERSION:
        newer = version > SCHEMA_VERSION
        raise InputError(
            f"{path} was written by {'a newer' if newer else 'an earlier'} Ragweave",
            "upgrade Ragweave" if newer else "export the library again with this one",
        )
    parts = manifest["parts"]
    named = set(parts) == {CATALOG, *filter(_MEDIA.fullmatch, parts)} and {MANIFEST, *parts} == set(entries)
    if not named or len(entries) != len(archive.infolist()):
        raise ValueError("it holds other parts than its manifest names")
    for part, digest in parts.items():
        with archive.open(part) as file:
            if _digest(file) != digest:
                raise ValueError(f"it was changed after it was written: {part} is not what its digest says")
    return manifest, hashlib.sha256(raw).hexdigest()


@contextmanager
def _copied(path: Path, given: Path) -> Iterator[sqlite3.Connection]:
    """Make a catalog of the rows of another one, which is only read; what its schema names is not run."""
    connect(path).dispose()
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "foreign_keys = ON", "journal_mode = DELETE"):
            raw.execute(f"PRAGMA {pragma}")
        raw.execute("ATTACH ? AS given", (str(given),))
        schemas = [set(raw.execute(f"SELECT type, name, sql FROM {of}.sqlite_master")) for of in ("main", "given")]
        ours = {row for row in schemas[1] if not str(row[1]).startswith(lexical.PREFIX)}
        if (given.name == GIVEN and schemas[1] != schemas[0]) or not ours >= schemas[0]:
            raise ValueError("its tables are not those of a library")
        raw.execute("BEGIN IMMEDIATE")
        for table in _TABLES:
            columns = ", ".join(c.name for c in table.columns)
            raw.execute(f"INSERT INTO main.{table.name}({columns}) SELECT {columns} FROM given.{table.name}")
        raw.execute("COMMIT")
        raw.execute("DETACH given")
        yield raw


def _strip(raw: sqlite3.Connection) -> None:
    """Take out of a copy what is true on this machine only: where files lie, and what could not be read."""
    raw.execute("DELETE FROM sources WHERE status = 'failed'")
    raw.execute("DELETE FROM stages WHERE stage = ?", (PICTURES,))
    lies = [PurePath(path) for (path,) in raw.execute("SELECT path FROM paths")]
    try:
        common = PurePath(os.path.commonpath([path.parent for path in lies])) if lies else PurePath()
    except ValueError:  # on several drives
        common = PurePath()
    for path in lies:
        inside = path.relative_to(common if path.is_relative_to(common) else path.anchor)
        raw.execute("UPDATE paths SET path = ? WHERE path = ?", (inside.as_posix(), str(path)))
    raw.execute("UPDATE paths SET mtime_ns = 0, ctime_ns = 0, inode = 0, checked_at = 0")
    raw.execute(_NOWHERE)
    raw.execute("VACUUM")


_NOWHERE = "UPDATE items SET locator = json_set(locator, '$.file', '') WHERE json_type(locator, '$.file') NOT NULL"
"""The path of its source takes the place of the file that a locator names."""
_STORED = {str: "'text'", int: "'integer'", float: "'real', 'integer'", bytes: "'blob'"}
"""What SQLite may hold in a column; all others hold JSON."""
_WRONG = {
    "a vector without its item": """FROM vectors v WHERE space != :entities AND NOT EXISTS (SELECT 1 FROM items i
        WHERE i.id = v.item AND i.corpus = v.corpus AND i.source = v.source)""",
    "vectors of another length than it says": """FROM vectors GROUP BY space HAVING min(length(data)) !=
        max(length(data)) OR (space IN (:encoder, :entities) AND max(length(data)) != 4 * :dim)""",
    "a source of an unknown state": "FROM sources WHERE status NOT IN ('ok', 'partial') OR length(id) != 24",
    "a library that is none": "FROM (SELECT count(*) AS n FROM about) WHERE n != 1",
}


def _check_rows(raw: sqlite3.Connection) -> None:
    """Refuse rows that our own tables could not hold."""
    for table in _TABLES:
        for column in table.columns:
            kinds = _STORED.get(column.type.python_type, "")
            good = f"typeof({column.name}) IN ({kinds})" if kinds else f"json_valid({column.name})"
            if column.nullable:
                good += f" OR {column.name} IS NULL"
            if raw.execute(f"SELECT 1 FROM {table.name} WHERE NOT ({good})").fetchone():
                raise ValueError(f"a row of {table.name} with another {column.name}")
    encoder, dim, recency, half_life = raw.execute("SELECT encoder, dim, recency, half_life FROM about").fetchone()
    bound = {"encoder": encoder, "entities": entity_space(encoder), "dim": dim}
    for what, where in _WRONG.items():
        if raw.execute(f"SELECT 1 {where}", bound).fetchone():
            raise ValueError(what)
    if recency not in get_args(Recency) or not (half_life is None or 0 < half_life <= MAX_HALF_LIFE):
        raise ValueError("it ages in an unknown way")
    for (data,) in raw.execute("SELECT data FROM vectors"):
        if not abs(np.linalg.norm(np.frombuffer(data, "<f4")) - 1) < 1e-2:
            raise ValueError("a vector that is not of length 1")
    for (date,) in raw.execute("SELECT date FROM sources WHERE date NOT NULL UNION SELECT indexed_at FROM sources"):
        datetime.fromisoformat(date)
    counted = TypeAdapter(list[tuple[str, int]])
    for (named,) in raw.execute("SELECT items FROM mentions"):
        counted.validate_json(named)


def _inside(path: str) -> PurePosixPath:
    whole = PurePosixPath(path)
    strange = {"\0", ":", "\\"} if os.name == "nt" else {"\0"}  # elsewhere a name may hold a colon or backslash
    if strange & set(path) or not whole.parts or whole.is_absolute() or ".." in whole.parts:
        raise ValueError("a path leads out of its folder")
    return whole


def _counts(raw: sqlite3.Connection) -> tuple[int, int, int]:
    found = (raw.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in ("sources", "items", "vectors"))
    return tuple(map(int, found))  # type: ignore[return-value]


def _digest(file: IO[bytes]) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
