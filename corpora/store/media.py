"""Files that belong to a source: thumbnails, pictures of pages, frames, clips.

They lie in `<home>/libraries/<library id>/media/<source id>/`. The process that reads a source writes them into a
folder of its own, `<source id>.part`; it takes its place when the source is committed and goes when the source goes.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.folders import folder_of, unwritable
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
        """Return the media of a library, by its id, in the home that the settings name."""
        return cls(folder_of(corpora_settings().home, library) / "media")

    def staging(self, source: str) -> Path:
        """Return the empty folder that the files of a source are to be written into."""
        folder = self._folder(source, _PART)
        _remove(folder)
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise unwritable(folder, error) from error
        return folder

    def discard(self, source: str) -> None:
        """Remove what was staged for a source."""
        _remove(self._folder(source, _PART))

    def publish(self, source: str) -> None:
        """Put the staged files of a source in place of those it had; without any, it has none from then on.

        A process that is killed in between leaves the files of before or those of after, which `recover` sorts out.
        """
        part, there, old = (self._folder(source, suffix) for suffix in (_PART, "", _OLD))
        try:
            part.rmdir()  # of most files nothing is kept, and this fails where something is
            staged = False
        except OSError:
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
        try:
            whole = stat.S_ISREG(path.lstat().st_mode) and stat.S_ISDIR(path.parent.lstat().st_mode)
        except OSError:
            whole = False
        if not whole:
            raise LibraryError(
                f"The stored picture or clip {media_id} is not there",
                "`ragweave doctor` says which are missing; indexing the file again after removing it makes them anew",
            )
        return path

    def files(self, source: str) -> list[str]:
        """Return the media ids of a source, in order."""
        folder = self._folder(source)
        try:
            with os.scandir(folder) as found:
                names = sorted(e.name for e in found if e.is_file(follow_symlinks=False) and _FILE.fullmatch(e.name))
        except OSError:
            return []
        return [f"{source}/{name}" for name in names]

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
        return sorted({name[:24] for name in self._names()} - set(sources))

    def _names(self) -> Iterator[str]:
        try:
            with os.scandir(self.root) as found:
                names = [e.name for e in found if e.is_dir(follow_symlinks=False)]
        except OSError:
            return iter(())
        return (n for n in sorted(names) if _SOURCE.match(n) and n[24:] in ("", _PART, _OLD))

    def _folder(self, source: str, suffix: str = "") -> Path:
        if not _SOURCE.fullmatch(source):
            raise InputError(f"{source[:60]!r} is no id of a source", "take it from: ragweave sources")
        return self.root / f"{source}{suffix}"

    def _checked(self, media_id: str) -> Path:
        source, _, name = media_id.partition("/")
        if not (_SOURCE.fullmatch(source) and _FILE.fullmatch(name)):
            raise InputError(f"{media_id[:130]!r} is no id of a stored picture or clip", "take it from a citation")
        return self.root / source / name


def _remove(folder: Path) -> None:
    if os.path.lexists(folder):
        with suppress(FileNotFoundError, NotADirectoryError):
            shutil.rmtree(folder)
