"""What a file's reading asks of its pictures. Nothing heavy is imported before there is a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ragweave.corpora.blocks import Parsed
from ragweave.corpora.types import Item

if TYPE_CHECKING:
    from ragweave.corpora.images.files import Seen
    from ragweave.corpora.images.reader import PictureReader
    from ragweave.corpora.images.scans import PdfPictures


class Look:
    """The pictures of one file.

    Args:
        path: the file.
        source: its id.
        media: folder for the copies that are kept, or None.
        roots: folders being indexed.
        seconds: time that reading words in pictures may take.
        begins: told once when that begins.
    """

    def __init__(
        self,
        path: Path,
        source: str,
        media: Path | None,
        roots: Sequence[str],
        seconds: float,
        begins: Callable[[], None],
    ) -> None:
        self._path = path
        self._source = source
        self._roots = roots
        self._given = (media, seconds, begins)
        self.links: dict[str, str] = {}
        """Files of the pictures that were linked to, and how they looked; "" where one was not there."""

    @cached_property
    def _reader(self) -> PictureReader:
        from ragweave.corpora.images.reader import PictureReader

        return PictureReader(*self._given)

    @property
    def reached(self) -> str:
        """How far reading its pictures came (`PictureReader.reached`), or "" where it has none."""
        return self._reader.reached if "_reader" in self.__dict__ else ""

    @cached_property
    def pages(self) -> PdfPictures:
        """Looks at the pages of a PDF."""
        from ragweave.corpora.images.scans import PdfPictures

        return PdfPictures(self._reader)

    def file(self) -> Seen:
        """Look at the file, a picture itself; errors as for `picture_file`."""
        from ragweave.corpora.images.files import picture_file

        return picture_file(self._path, self._source, self._reader)

    def inside(self, kind: str, parsed: Parsed) -> tuple[list[Item], list[str]]:
        """Return the items of the pictures inside a file that was read, and what could not be looked at."""
        if kind != "pdf" and not parsed.figures:
            return [], []
        from ragweave.corpora.images.inside import pictures_inside

        shots = self.pages.shots if kind == "pdf" else {}
        items, missed = pictures_inside(
            self._path, self._source, kind, parsed, self._reader, self._roots, shots, self.links
        )
        return items, [*missed, *self._reader.warnings()]
