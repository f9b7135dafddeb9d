"""Files that belong to a source: thumbnails, pictures of pages, frames, clips.

They lie in `<home>/libraries/<library id>/media/<source id>/`. The process that reads a source writes them
into a folder of its own, `<source id>.part`; it takes its place when the source is committed and goes when
the source goes. Where the settings name an object store, that folder is only a copy of what lies there
(`StoredMedia`).
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.folders import folder_of, unwritable
from ragweave.corpora.store.objects import Objects, objects
from ragweave.models.errors import InputError, LibraryError

_SOURCE = re.compile(r"[0-9a-f]{24}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_PART, _OLD = ".part", ".old"


class Media:
    """The media of one library; changes are made by the holder of its writer lock."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def of(cls, library: str) -> Media:
        """Return the media of a library, by its id, where the settings say."""
        root, store = folder_of(corpora_settings().home, library) / "media", objects()
        return StoredMedia(root, store) if store else cls(root)

    def staging(self, source: str) -> Path:
        """Return the folder that the files of a source are to be written into.

        The writer of the first file makes it: of most files nothing is kept, and to make a folder and remove
        it for each takes a file system longer the more of them there were.
        """
        folder = self._folder(source, _PART)
        try:
            _remove(folder)
            if not self.root.is_dir():
                self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(folder, error) from error
        return folder

    def discard(self, source: str) -> None:
        """Remove what was staged for a source."""
        _remove(self._folder(source, _PART))

    def publish(self, source: str) -> None:
        """Put the staged files of a source in place of those it had; without any, it has none from then on.

        A process that is killed in between leaves the files of before or those of after, which `recover`
        sorts out.
        """
        if not self._has_any(source):  # as of most files
            return
        part, there, old = self._folder(source, _PART), self._folder(source), self._folder(source, _OLD)
        with suppress(OSError):
            part.rmdir()  # one that nothing was written into
        staged = part.is_dir()
        try:
            if there.is_dir():
                _remove(old)
                os.rename(there, old)
            if staged:
                os.rename(part, there)
        except OSError as error:
            raise unwritable(there, error) from error
        _remove(old)

    def recover(self) -> None:
        """Remove what a killed run has staged, and finish or undo what it was about to put in place."""
        for name in self._names():
            source, suffix = name[:24], name[24:]
            if suffix == _OLD and not self._folder(source).exists():
                os.rename(self.root / name, self._folder(source))
            elif suffix in (_PART, _OLD):
                _remove(self.root / name)

    def path(self, media_id: str) -> Path:
        """Return the file of a media id, `<source id>/<file name>`.

        Raises:
            InputError: it is no media id.
            LibraryError: there is no such file.
        """
        path = self._checked(media_id)
        if not self._is_there(path):
            raise LibraryError(
                f"The stored picture or clip {media_id} is not there",
                "`ragweave doctor` says which are missing; indexing the file again after removing it makes"
                " them anew",
            )
        return path

    def files(self, source: str) -> list[str]:
        """Return the media ids of a source, in order."""
        found: list[str] = []
        for name in self._files(self._folder(source)):
            if _FILE.fullmatch(name):
                found.append(f"{source}/{name}")
        return found

    def write(self, media_id: str, pieces: Iterable[bytes]) -> None:
        """Write one file as it is, for an import."""
        path = self._checked(media_id)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                for piece in pieces:
                    file.write(piece)
        except OSError as error:
            raise unwritable(path, error) from error

    def drop(self, sources: Iterable[str]) -> None:
        """Remove the files of sources, staged ones as well; what is no id of a source has none."""
        for source in filter(_SOURCE.fullmatch, sources):
            for suffix in ("", _PART, _OLD):
                _remove(self._folder(source, suffix))

    def orphans(self, sources: Iterable[str]) -> list[str]:
        """Return the sources that have media, published or staged, and are not among those given."""
        found = {name[:24] for name in self._names()}
        return sorted(found - set(sources))

    def _names(self) -> Iterator[str]:
        for name in self._folders():
            if _SOURCE.match(name) and name[24:] in ("", _PART, _OLD):
                yield name

    def _folders(self) -> list[str]:
        return _listed(self.root, os.DirEntry.is_dir)

    def _files(self, folder: Path) -> list[str]:
        return _listed(folder, os.DirEntry.is_file)

    def _is_there(self, path: Path) -> bool:
        try:
            return stat.S_ISREG(path.lstat().st_mode) and stat.S_ISDIR(path.parent.lstat().st_mode)
        except OSError:
            return False

    def _has_any(self, source: str) -> bool:
        """Tell whether a source has a folder, staged, published or replaced."""
        for suffix in (_PART, "", _OLD):
            if os.path.lexists(f"{self.root}/{source}{suffix}"):
                return True
        return False

    def _folder(self, source: str, suffix: str = "") -> Path:
        if not _SOURCE.fullmatch(source):
            raise InputError(f"{source[:60]!r} is no id of a source", "take it from: ragweave sources")
        return self.root / f"{source}{suffix}"

    def _checked(self, media_id: str) -> Path:
        source, _, name = media_id.partition("/")
        if not (_SOURCE.fullmatch(source) and _FILE.fullmatch(name)):
            raise InputError(
                f"{media_id[:130]!r} is no id of a stored picture or clip", "take it from a citation"
            )
        return self.root / source / name


class StoredMedia(Media):
    """The media of a library in an object store, and the copies of them in its folder.

    What a source has there is replaced file by file. Its id holds the digest of its bytes, so that a file of
    the same name shows the same; after a kill there may be one that nothing names until the source goes.
    """

    def __init__(self, root: Path, store: Objects) -> None:
        super().__init__(root)
        self._store = store

    def publish(self, source: str) -> None:
        """Send the staged files of a source, then put them in place of the copies that are here."""
        part, there = self._folder(source, _PART), self._folder(source)
        staged = _listed(part, os.DirEntry.is_file)
        for name in staged:
            self._store.put(there / name, part / name)
        for name in set(self._files(there)).difference(staged) if staged else ():
            self._store.remove(there / name)
        super().publish(source)

    def drop(self, sources: Iterable[str]) -> None:
        """Remove the files of sources, in the store as well."""
        for source in filter(_SOURCE.fullmatch, sources):
            self._store.clear(self._folder(source))
            super().drop([source])

    def _folders(self) -> list[str]:
        return sorted({*super()._folders(), *self._store.names(self.root)})

    def _files(self, folder: Path) -> list[str]:
        return self._store.names(folder)

    def _is_there(self, path: Path) -> bool:
        return self._store.bring(path)


def _listed(folder: Path, kind: Callable[..., bool]) -> list[str]:
    """Return the names in a folder that are of a kind, and no links."""
    try:
        with os.scandir(folder) as found:
            result: list[str] = []
            for e in found:
                if kind(e, follow_symlinks=False):
                    result.append(e.name)
            return sorted(result)
    except OSError:
        return []


def _remove(folder: Path) -> None:
    if os.path.lexists(folder):
        with suppress(FileNotFoundError, NotADirectoryError):
            shutil.rmtree(folder)
