"""What a file's reading asks of its pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Parsed
from ragweave.corpora.images.files import Seen, picture_file
from ragweave.corpora.images.items import Items, says_something
from ragweave.corpora.images.links import linked
from ragweave.corpora.images.reader import PictureReader, counted
from ragweave.corpora.images.scans import PdfPictures
from ragweave.corpora.types import Item
from ragweave.models.errors import SourceError

PACKAGES = ("docx", "pptx", "epub")


class Look:
    """The pictures of one file; reading their words may take so many seconds, and `begins` is told before it begins."""

    def __init__(
        self,
        path: Path,
        source: str,
        media: Path | None,
        roots: Sequence[str],
        seconds: float,
        begins: Callable[[], None],
    ) -> None:
        self._path, self._source, self._roots = path, source, roots
        self._reader = PictureReader(media, seconds, begins)
        self.pages = PdfPictures(self._reader)
        """Looks at the pages of a PDF."""
        self.links: dict[str, str] = {}
        """Files of the pictures that were linked to, and how they looked; "" where one was not there."""

    @property
    def reached(self) -> str:
        """How far reading its pictures came (`PictureReader.reached`), or "" where it has none."""
        return self._reader.reached

    def file(self) -> Seen:
        """Look at the file, a picture itself; errors as for `picture_file`."""
        return picture_file(self._path, self._source, self._reader)

    def inside(self, kind: str, parsed: Parsed) -> tuple[list[Item], list[str]]:
        """Return an item for each picture inside a file that was read, and what could not be looked at."""
        made, missed = Items(self._source, self._path, parsed), Counter[str]()
        packed = kind in PACKAGES
        with ExitStack() as stack:
            archive = stack.enter_context(Archive(self._path)) if packed and parsed.figures else None
            for figure in parsed.figures:
                shot, name = self.pages.shots.get(figure.ref), ""
                if shot is None and figure.ref:
                    try:
                        if archive is not None:  # names inside a package are those that its program gave
                            data = archive.read(figure.ref)
                        else:
                            data, name = linked(self._path, figure.ref, self._roots, self.links)
                        shot = self._reader.look(data)
                    except SourceError as error:
                        missed[f"{error.what[0].lower()}{error.what[1:]}"] += 1
                    if shot is None and not says_something(figure):
                        continue
                made.add(shot, figure, name)
        return made.all(), [*counted(missed), *self._reader.warnings()]
