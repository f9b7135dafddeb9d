"""A library is a folder: `<home>/libraries/<id>/` with its catalog, media, index and what was perceived."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ragweave.models.errors import LibraryError, LibraryNotFound

REMEDY = "check the folder that RAGWEAVE_HOME names, its permissions and its free space"

_ID = re.compile(r"[0-9a-z]{1,40}")


def folder_of(home: Path, library: str) -> Path:
    """Return the folder of a library, by its id; one that begins with a dot is on its way in or out."""
    return home / "libraries" / library


def catalog_of(home: Path, library: str) -> Path:
    """Return the catalog of a library."""
    if not _ID.fullmatch(library):
        raise LibraryNotFound("There is no such library", "list them with: ragweave library list")
    return folder_of(home, library) / "catalog.sqlite"


def folders(home: Path) -> list[str]:
    """Return the ids of the libraries of a home."""
    try:
        with os.scandir(home / "libraries") as found:
            return sorted(e.name for e in found if _ID.fullmatch(e.name) and e.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unwritable(home, error) from error


def unwritable(path: Path, error: OSError) -> LibraryError:
    """Return the error of a folder that cannot be used."""
    return LibraryError(f"The library folder {path} cannot be written ({error.strerror or error})", REMEDY)
