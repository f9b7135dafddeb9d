"""A library is a folder: `<home>/libraries/<id>/` with its catalog, media, index and what was perceived."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ragweave.models.errors import DamagedError, LibraryError, LibraryNotFound, StorageError

CATALOG = "catalog.sqlite"
"""File of a library with its sources, items, words and vectors."""
STAGES = "stages.sqlite"
"""Database of what was perceived of a recording."""
_BEGUN = "begun"
"""File next to it until the library holds the recording: the path of the recording, its size and time."""
REMEDY = "check the folder that RAGWEAVE_HOME names, its permissions and its free space"

_ID = re.compile(r"[0-9a-z]{1,40}")


def folder_of(home: Path, library: str) -> Path:
    """Return the folder of a library, by its id; one that begins with a dot is on its way in or out."""
    return home / "libraries" / library


def catalog_of(home: Path, library: str) -> Path:
    """Return the catalog of a library."""
    if not _ID.fullmatch(library):
        raise LibraryNotFound("There is no such library", "list them with: ragweave library list")
    return folder_of(home, library) / CATALOG


def folders(home: Path) -> list[str]:
    """Return the ids of the libraries of a home."""
    try:
        with os.scandir(home / "libraries") as found:
            result: list[str] = []
            for e in found:
                if _ID.fullmatch(e.name) and e.is_dir(follow_symlinks=False):
                    result.append(e.name)
            return sorted(result)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unwritable(home, error) from error


def uploads_of(home: Path, library: str) -> Path:
    """Return the folder that keeps the uploads of a library: files, and nothing that was made of them."""
    return home / "uploads" / library


def unwritable(path: Path, error: OSError) -> LibraryError:
    """Return the error of a folder that cannot be used."""
    return LibraryError(f"The library folder {path} cannot be written ({error.strerror or error})", REMEDY)


_REFUSES = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM}
PUT_BACK = (
    "put a copy of it back, or move that folder out of the one that RAGWEAVE_HOME names, and index again"
)
"""What to do about a damaged catalog."""
_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")
_HELD = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")


def is_held(error: BaseException) -> bool:
    """Tell whether SQLite refused a file because another process keeps it to itself."""
    return str(getattr(error, "sqlite_errorname", "")).startswith(_HELD)


def of_the_disk(error: BaseException, what: str = "The disk") -> StorageError | None:
    """Return an error of a disk or a database as one that names the remedy; None if it is another error."""
    if type(error) in (sqlite3.OperationalError, sqlite3.DatabaseError):
        if is_held(error):
            return StorageError(f"{what} is held by another process ({error})", "stop the process that hangs")
        if str(getattr(error, "sqlite_errorname", "")).startswith(_DAMAGED):
            return DamagedError(f"{what} is damaged ({error})", PUT_BACK)
        return StorageError(f"{what} cannot be used ({error})", REMEDY)
    psycopg = sys.modules.get("psycopg")
    if psycopg is not None and isinstance(
        error, psycopg.OperationalError | psycopg.errors.InsufficientPrivilege
    ):
        why = " ".join(str(error).split())
        remedy = "check RAGWEAVE_DATABASE_URL, and that it runs"
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            remedy = "give the user of RAGWEAVE_DATABASE_URL the right: GRANT CREATE ON DATABASE name TO user"
        return StorageError("The database cannot be used", remedy, 503, why)
    if isinstance(error, OSError) and error.errno in _REFUSES:
        return StorageError(f"{what} cannot be used ({error.strerror})", REMEDY)
    return None


def begin(folder: Path, path: str) -> None:
    """Record the file whose processing begins in a folder, so that `sweep` keeps it for the next run."""
    (folder / _BEGUN).write_text(_look(path), encoding="utf-8")


def arrived(home: Path, library: str, held: Iterable[str]) -> None:
    """Note that a library holds recordings: from now on what was perceived of them goes when they go."""
    names = {sha[:32] for sha in held}
    for folder in _perceived(home, library):
        if folder.name in names:
            with suppress(OSError):
                (folder / _BEGUN).unlink(missing_ok=True)


def sweep(home: Path, library: str, kept: Iterable[str], since: float = float("inf")) -> int:
    """Remove what was perceived of files that the library no longer holds; return how many these were.

    What was written after `since` (seconds of the epoch) stays, and what was begun of a file that lies there
    as it did: the next run continues it.
    """
    names = {sha[:32] for sha in kept}
    gone = 0
    for folder in _perceived(home, library):
        with suppress(OSError):
            written = folder / STAGES if (folder / STAGES).exists() else folder
            if folder.name not in names and written.stat().st_mtime < since and not _waits(folder):
                shutil.rmtree(folder, ignore_errors=True)
                gone += 1
    return gone


def _perceived(home: Path, library: str) -> list[Path]:
    with suppress(OSError):
        return sorted((folder_of(home, library) / "perceived").iterdir())
    return []


def _waits(folder: Path) -> bool:
    try:
        noted = (folder / _BEGUN).read_text(encoding="utf-8")
        return _look(json.loads(noted)[0]) == noted
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError, LookupError):
        return False
    except OSError:  # a file that merely cannot be looked at
        return True


def _look(path: str) -> str:
    found = os.stat(path)
    return json.dumps([path, found.st_size, found.st_mtime_ns])
