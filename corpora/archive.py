"""Zip files with a budget: Word, PowerPoint, Excel and EPUB are read through this and nothing else."""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ragweave.models.errors import SourceError

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_ENTRIES = 10_000
MAX_TOTAL = 512 * 1024 * 1024
"""Bytes all entries may have when unpacked."""
MAX_ENTRY = 128 * 1024 * 1024
"""Bytes one entry may have when unpacked."""
MAX_RATIO = 100
"""Unpacked to packed bytes of the whole file, where it unpacks to more than RATIO_FROM."""
RATIO_FROM = 16 * 1024 * 1024
_OPEN = re.compile(rb"<br\s*>", re.I)
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
"""What reading a damaged zip file may raise."""


class Archive:
    """A zip file that has passed the budget. Entries inside entries are never opened.

    Raises:
        SourceError: it is damaged, protected, or unpacks to more than the budget.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
            self._entries = {i.filename: i for i in self._zip.infolist()}
        except BROKEN:
            raise self._damaged() from None
        try:
            self._check(self._zip.infolist())
        except SourceError:
            self._zip.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        """The names of all entries, in their order."""
        return list(self._entries)

    def has(self, name: str) -> bool:
        """Tell whether an entry exists."""
        return name in self._entries

    def read(self, name: str) -> bytes:
        """Return an entry's bytes."""
        try:
            # zipfile never unpacks more than the size an entry declares, and the budget has checked that
            # size.
            return self._zip.read(self._entries[name])
        except (KeyError, *BROKEN):
            raise self._damaged() from None

    def xml(self, name: str, *, recover: bool = False) -> _Element:
        """Parse an entry that may be hostile: no document type, no entities, no network, limited depth.

        With `recover` what is damaged is read as far as it goes, as VML, which its own writers leave open
        tags in.
        """
        from lxml import etree

        data = _OPEN.sub(b"<br/>", self.read(name)) if recover else self.read(name)
        # Resolving nothing and refusing document types keeps out entity expansion and outside files alike.
        safe: dict[str, Any] = {
            "resolve_entities": False,
            "no_network": True,
            "load_dtd": False,
            "huge_tree": False,
        }
        if _is_typed(data):
            raise _typed(self.path)
        try:
            parser = etree.XMLParser(**safe, remove_comments=True, remove_pis=True, recover=recover)
            root = etree.fromstring(data, parser)
        except (etree.XMLSyntaxError, ValueError) as exc:
            told = f"{self.path.name} holds XML that is damaged ({exc})"
            raise SourceError(told, "save it again, or leave it out") from None
        if root is None:
            raise self._damaged()
        if root.getroottree().docinfo.internalDTD is not None:
            raise _typed(self.path)
        return root

    def refuse_document_types(self) -> None:
        """Refuse XML entries with a document type, before the file is given to another reader."""
        for name in self._entries:
            if name.lower().endswith((".xml", ".rels", ".vml")) and _is_typed(self.read(name)):
                raise _typed(self.path)

    def _check(self, entries: list[zipfile.ZipInfo]) -> None:
        name = self.path.name
        if len(entries) > MAX_ENTRIES:
            raise SourceError(f"{name} holds {len(entries)} entries, more than {MAX_ENTRIES}", "leave it out")
        if any(i.flag_bits & 1 for i in entries):
            raise SourceError(f"{name} is protected by a password", "save it without password")
        for i in entries:
            parts = i.filename.replace("\\", "/").split("/")
            if ".." in parts or i.filename.startswith(("/", "\\")) or ":" in parts[0]:
                raise SourceError(
                    f"{name} holds an entry whose name leads outside of it", "leave it out, it is not safe"
                )
        total = sum(i.file_size for i in entries)
        packed = self.path.stat().st_size
        too_large = total > MAX_TOTAL or any(i.file_size > MAX_ENTRY for i in entries)
        if too_large or (total > RATIO_FROM and total > MAX_RATIO * packed):
            raise SourceError(
                f"{name} would unpack from {packed / 1024**2:.1f} to {total / 1024**2:.0f} MB",
                "leave it out if it is not yours (a zip bomb does this), or save its text alone",
            )

    def _damaged(self) -> SourceError:
        return SourceError(
            f"{self.path.name} is damaged or truncated", "restore it from a backup, or save it again"
        )


def _is_typed(data: bytes) -> bool:
    """Look for a document type in the bytes; zero bytes are left out for the sake of UTF-16."""
    return (
        b"<!DOCTYPE" in data.replace(b"\0", b"")
        if data[:1] in (b"\xff", b"\xfe", b"\0")
        else b"<!DOCTYPE" in data
    )


def _typed(path: Path) -> SourceError:
    return SourceError(
        f"{path.name} declares an XML document type, which is refused", "leave it out, it is not safe"
    )
