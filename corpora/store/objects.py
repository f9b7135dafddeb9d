"""Media and uploads in an object store: an object has the name that its file has below RAGWEAVE_HOME.

What the store holds counts. The files below the home are copies of it, made when something has to be opened,
and may be deleted at any time; so homes need not be shared, if they have the same path.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.folders import folder_of, uploads_of
from ragweave.models.errors import InputError, MissingExtra, RagweaveError, StorageError

_OURS = ("s3", "gs", "az")
"""Kinds of store that obstore speaks to; others are those that fsspec finds installed."""
_PATIENCE = 15.0
"""Seconds after which a store that does not answer counts as away."""
_PIECE = 8 * 2**20
"""Bytes of an object that are held in memory."""


class Objects:
    """The objects of a home, by the paths of their files."""

    def __init__(self, url: str, home: Path) -> None:
        kind = url.partition(":")[0]
        options: dict[str, Any] = {"auto_mkdir": True} if kind == "file" else {}
        try:
            from fsspec.core import url_to_fs

            if kind in _OURS:
                from obstore.fsspec import register

                register(kind)
                options["retry_config"] = {"max_retries": 3, "retry_timeout": timedelta(seconds=_PATIENCE)}
            else:
                options["use_listings_cache"] = False
            self._fs, self._root = url_to_fs(url, **options)
        except ImportError as error:
            raise MissingExtra("An object store", "objects") from error
        except ValueError as error:
            raise InputError(f"{url!r} names no object store ({error})", "give s3://BUCKET/NAME") from error
        self._home = home

    def size(self, path: Path) -> int | None:
        """Return the bytes of an object; None if it does not exist."""
        if not path.is_relative_to(self._home):
            return None
        with _told(), suppress(FileNotFoundError):
            found = self._fs.info(self._name(path))
            return int(found["size"]) if found["type"] == "file" else None
        return None

    def bring(self, path: Path) -> bool:
        """Copy an object to its file, unless it is there; tell whether there is such an object."""
        size = self.size(path)
        if size is None:
            return False
        if not path.is_file() or path.stat().st_size != size:
            part = path.with_name(f".{secrets.token_hex(8)}.part")
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with part.open("xb") as file:  # in pieces: a single request has a limit of time
                    file.writelines(self.pieces(path, 0, size))
                os.replace(part, path)
            finally:
                part.unlink(missing_ok=True)
        return True

    def put(self, path: Path, content: Path) -> None:
        """Make a file the object of a path."""
        with _told():
            self._fs.put_file(str(content), self._name(path))

    def pieces(self, path: Path, start: int, end: int) -> Iterator[bytes]:
        """Read the bytes of an object from `start` to before `end`, some at a time."""
        for at in range(start, end, _PIECE):
            with _told():
                yield self._fs.cat_file(self._name(path), at, min(at + _PIECE, end))

    def names(self, folder: Path) -> list[str]:
        """Return the names in a folder, of objects and of folders."""
        with _told(), suppress(FileNotFoundError):
            found = self._fs.ls(self._name(folder), detail=False)
            result: list[str] = []
            for name in found:
                result.append(name.rstrip("/").rpartition("/")[2])
            return sorted(result)
        return []

    def remove(self, path: Path) -> None:
        """Remove one object."""
        with _told(), suppress(FileNotFoundError):
            self._fs.rm_file(self._name(path))

    def clear(self, folder: Path) -> None:
        """Remove every object in a folder."""
        with _told(), suppress(FileNotFoundError):
            self._fs.rm(self._name(folder), recursive=True)

    def _name(self, path: Path) -> str:
        return f"{self._root}/{path.relative_to(self._home).as_posix()}"


def objects() -> Objects | None:
    """Return the object store that the settings name, if they do.

    Raises:
        MissingExtra: the package for such a store is not installed.
        InputError: the address cannot be read.
    """
    settings = corpora_settings()
    return _opened(settings.media_url, settings.home) if settings.media_url else None


_opened = lru_cache(maxsize=1)(Objects)


def here(path: Path) -> bool:
    """Tell whether there is such an upload; one in an object store is copied to its file."""
    store = objects()
    return store.bring(path) if store and path.is_relative_to(corpora_settings().home) else path.is_file()


def uploads(home: Path, library: str) -> list[Path]:
    """Return the files that were uploaded to a library."""
    folder, store = uploads_of(home, library), objects()
    names = store.names(folder) if store else [path.name for path in folder.glob("*")]
    found: list[Path] = []
    for name in names:
        if not name.startswith("."):
            found.append(folder / name)
    return sorted(found)


def uploaded(home: Path, library: str, paths: Iterable[str]) -> list[Path]:
    """Return those of the paths that are uploads of a library; the others are a person's own files."""
    folder = uploads_of(home, library)
    kept: list[Path] = []
    for path in map(Path, paths):
        if path.parent == folder and not path.is_symlink():
            kept.append(path)
    return kept


def discard(home: Path, library: str, paths: Iterable[str]) -> None:
    """Delete those of the paths that are uploads of a library."""
    store = objects()
    for path in uploaded(home, library, paths):
        if store:
            store.remove(path)
        path.unlink(missing_ok=True)


def take_in_uploads(home: Path, library: str) -> None:
    """Move the uploads of a library into its folder, to be deleted with it; delete those of a store now."""
    store = objects()
    if store:
        store.clear(uploads_of(home, library))
        store.clear(folder_of(home, library))
    with suppress(FileNotFoundError):
        os.rename(uploads_of(home, library), folder_of(home, library) / f"uploads-{secrets.token_hex(4)}")


@contextmanager
def _told() -> Iterator[None]:
    """Say in a sentence that a store refuses, or is away."""
    try:
        yield
    except (RagweaveError, FileNotFoundError):
        raise
    except Exception as error:  # every kind of store has its own
        why = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        remedy = "check the address (RAGWEAVE_MEDIA_URL), the keys of the store, and that it runs"
        raise StorageError(f"The object store cannot be used ({why})", remedy, 503) from error
