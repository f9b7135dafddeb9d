"""What a file's reading asks of its pictures. Nothing heavy is imported before there is a picture."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Mapping, MutableMapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Figure, Parsed
from ragweave.corpora.images.items import Items, Place, around_at, heading_at, told_of
from ragweave.corpora.images.links import linked
from ragweave.corpora.images.reader import PictureReader, Shot
from ragweave.corpora.types import Item
from ragweave.models.errors import SourceError

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
        from ragweave.corpora.images.look import pictures_inside

        shots = self.pages.shots if kind == "pdf" else {}
        items, missed = pictures_inside(
            self._path, self._source, kind, parsed, self._reader, self._roots, shots, self.links
        )
        return items, [*missed, *self._reader.warnings()]


PACKAGES = ("docx", "pptx", "epub")
_FILE = re.compile(r".*\.(?:png|jpe?g|webp|gif|tiff?|bmp|svg|emf|wmf)", re.I | re.S)
"""Some programs write the name of the file where the words that stand in for the picture belong."""
_Open = Callable[[str], tuple[bytes, str]]


def pictures_inside(
    path: Path,
    source: str,
    kind: str,
    parsed: Parsed,
    reader: PictureReader,
    roots: Sequence[str],
    shots: Mapping[str, Shot],
    links: MutableMapping[str, str],
) -> tuple[list[Item], list[str]]:
    """Return an item for each picture of a file, and what could not be looked at.

    Args:
        path: the file.
        source: its id.
        kind: its kind.
        parsed: what was read of it.
        reader: looks at pictures.
        roots: folders being indexed.
        shots: what was seen of figures already, by `ref`.
        links: takes the linked files of pictures, and how they looked.
    """
    if not parsed.figures:
        return [], []
    made, missed, told = Items(source), Counter[str](), told_of(parsed.figures)
    with ExitStack() as stack:
        open_: _Open
        if kind in PACKAGES:
            archive = stack.enter_context(Archive(path))
            open_ = lambda ref: (archive.read(ref), PurePosixPath(ref).name)  # noqa: E731
        else:
            open_ = lambda ref: linked(path, ref, roots, links)  # noqa: E731
        for figure in parsed.figures:
            shot, name = None, ""
            if figure.ref in shots:
                shot = shots[figure.ref]
            elif figure.ref:
                try:
                    data, name = open_(figure.ref)
                    shot = reader.look(data)
                except SourceError as error:
                    missed[f"{error.what[0].lower()}{error.what[1:]}"] += 1
                if shot is None and not (figure.caption or figure.text or _says_something(figure.alt)):
                    continue
            # The pictures of a package have names that its program gave them.
            made.add(shot, place_of(path, parsed, figure, "" if kind in PACKAGES else name, told))
    warnings = [f"{why} ({n} pictures)" if n > 1 else why for why, n in missed.most_common(10)]
    return made.all(), warnings


def _says_something(alt: str) -> bool:
    return len(alt.split()) > 1 and not _FILE.fullmatch(alt)


def place_of(path: Path, parsed: Parsed, figure: Figure, name: str, told: Container[str]) -> Place:
    """Return where a picture stands in a file; `told` is what is written for all its pictures."""
    return Place(
        file=str(path),
        title=parsed.title or path.stem,
        heading=heading_at(parsed.blocks, figure.at + bool(figure.whole)),
        caption=figure.caption,
        alt=figure.alt if not _FILE.fullmatch(figure.alt) else "",
        around="" if figure.whole else around_at(parsed.blocks, figure.at, (figure.caption, figure.alt), told),
        name=name,
        words=figure.text,
        page=figure.page,
        line=figure.line,
        bbox=figure.bbox,
        date=parsed.date,
        language=parsed.language,
    )
