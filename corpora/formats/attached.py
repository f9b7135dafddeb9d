"""Read the files that are attached to a mail, each as a file of its own."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Figure, Parsed
from ragweave.corpora.formats import parse as parse_file
from ragweave.corpora.formats.probe import PICTURE, probe
from ragweave.corpora.layout import PageLook
from ragweave.corpora.secret import is_secret
from ragweave.models.errors import SourceError

_APART = {"eml": "it is a mail of its own", "mbox": "it is a mailbox of its own"}
"""Kinds of attachments that are not read."""
_PACKAGES = frozenset(("docx", "pptx", "epub", "odt", "odp"))
"""Kinds whose pictures are parts of the file."""


def read(title: str, data: bytes, number: int, pictures: PageLook | None) -> Parsed:
    """Read an attached file; what is not there any more when its pictures are looked at is held with it.

    `number` tells its pictures from those of other files; without `pictures` none is looked at.

    Raises:
        SourceError: it cannot be read, or is of a kind that is not.
    """
    last = PurePosixPath(title.replace("\\", "/")).name
    if is_secret(last):
        raise SourceError("its name is that of a key or password file", "leave it out")
    with tempfile.TemporaryDirectory(prefix="ragweave-") as folder:
        # A name of ours: without anything but letters, digits and a few marks.
        path = Path(folder) / (re.sub(r"[^\w. -]", "_", last)[-80:].lstrip(". -") or "attachment")
        path.write_bytes(data)
        kind = probe(path)
        if kind in _APART:
            raise SourceError(_APART[kind], "save it as a file")
        if kind == PICTURE:
            if pictures is None:
                raise SourceError("it is a picture", "save it as a file")
            ref = f"attached {number}"
            return Parsed(figures=(Figure(ref, 0, alt=title),), held={ref: data})
        look = pictures.another() if pictures is not None else None
        found = parse_file(path, kind, look)
        if kind in _PACKAGES and look is not None and found.figures:
            return _held(path, found, number)
        return found if kind == "pdf" else replace(found, figures=())


def _held(path: Path, found: Parsed, number: int) -> Parsed:
    """Return what was read of a package with the bytes of its pictures."""
    held, figures = dict[str, bytes](), []
    with Archive(path) as archive:
        for figure in found.figures:
            ref = f"attached {number} {figure.ref}" if figure.ref else ""
            if ref and ref not in held:
                try:
                    held[ref] = archive.read(figure.ref)
                except SourceError:
                    continue
            figures.append(replace(figure, ref=ref))
    return replace(found, figures=tuple(figures), held=held)
