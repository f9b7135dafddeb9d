"""How many pictures a file may hold, told from outside: nothing is decoded, and nothing is run on it but a search."""

from __future__ import annotations

import mmap
import re
import zipfile
from pathlib import Path

from ragweave.corpora.images.inside import PACKAGES
from ragweave.corpora.ingest.probe import PICTURE, probe
from ragweave.models.errors import SourceError

_LINK = re.compile(rb"!\[|<img\b|<image\b", re.I)
_PDF = re.compile(rb"/Subtype\s*/Image\b")
_MEMBER = re.compile(r"(?:media|slides|images?)/[^/]+\.(?:png|jpe?g|webp|gif|tiff?|bmp|xml)", re.I)
_OTHERS = re.compile(r"/(?:media|images?)/[^/]+\.xml|_rels/")


def pictures_in(path: Path) -> int:
    """Return the most pictures that reading a file would give, icons and masks among them; 0 where it cannot be read.

    Of a TIFF it is one, however many pages it has.
    """
    try:
        kind = probe(path)
        if kind == PICTURE:
            return 1
        if kind in PACKAGES:
            with zipfile.ZipFile(path) as package:
                return sum(bool(_MEMBER.search(n)) and not _OTHERS.search(n) for n in package.namelist())
        found = _PDF if kind == "pdf" else _LINK if kind in ("markdown", "html", "rst") else None
        if found is None:
            return 0
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return sum(1 for _ in found.finditer(data))
    except (SourceError, OSError, ValueError, zipfile.BadZipFile):
        return 0
