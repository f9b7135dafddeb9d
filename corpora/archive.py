"""Read zip files within a budget: all Word, PowerPoint, Excel and EPUB files are read through this."""

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
"""Largest unpacked size of all entries, in bytes."""
MAX_ENTRY = 128 * 1024 * 1024
"""Largest unpacked size of one entry, in bytes."""
MAX_RATIO = 100
"""Largest ratio of unpacked and packed bytes of a file that unpacks to more than RATIO_FROM bytes."""
RATIO_FROM = 16 * 1024 * 1024
_OPEN = re.compile(rb"<br\s*>", re.I)
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
"""Exceptions of a damaged zip file."""


class Archive:
    """A zip file that has passed the budget. Entries inside entries are never opened.

    Raises:
        SourceError: it is damaged, protected, or unpacks to more than the budget.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
            self._entries = {entry.filename: entry for entry in self._zip.infolist()}
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
        """Return whether an entry exists."""
        return name in self._entries

    def read(self, name: str) -> bytes:
        """Return an entry's bytes."""
        try:
            # zipfile never unpacks more than an entry declares, and the budget has checked that size.
            return self._zip.read(self._entries[name])
        except (KeyError, *BROKEN):
            raise self._damaged() from None

    def xml(self, name: str, *, recover: bool = False) -> _Element:
        """Parse an entry that may be hostile: no document type, no entities, no network, limited depth.

        With `recover`, damaged XML is read as far as possible: the writers of VML leave tags open.
        """
        from lxml import etree

        data = _OPEN.sub(b"<br/>", self.read(name)) if recover else self.read(name)
        # Without entities and document types, neither entity expansion nor outside files can be used.
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
            message = f"{self.path.name} holds XML that is damaged ({exc})"
            raise SourceError(message, "save it again, or leave it out") from None
        if root is None:
            raise self._damaged()
        if root.getroottree().docinfo.internalDTD is not None:
            raise _typed(self.path)
        return root

    def refuse_document_types(self) -> None:
        """Refuse XML entries with a document type before another reader opens the file."""
        for name in self._entries:
            if name.lower().endswith((".xml", ".rels", ".vml")) and _is_typed(self.read(name)):
                raise _typed(self.path)

    def _check(self, entries: list[zipfile.ZipInfo]) -> None:
        """Raise SourceError if the entries are protected, lead outside or unpack to more than the budget."""
        name = self.path.name
        if len(entries) > MAX_ENTRIES:
            raise SourceError(f"{name} holds {len(entries)} entries, more than {MAX_ENTRIES}", "leave it out")
        total = largest = 0
        for entry in entries:
            if entry.flag_bits & 1:
                raise SourceError(f"{name} is protected by a password", "save it without password")
            if _leads_outside(entry.filename):
                message = f"{name} holds an entry whose name leads outside of it"
                raise SourceError(message, "leave it out, it is not safe")
            total += entry.file_size
            largest = max(largest, entry.file_size)
        packed = self.path.stat().st_size
        is_bomb = total > RATIO_FROM and total > MAX_RATIO * packed
        if is_bomb or total > MAX_TOTAL or largest > MAX_ENTRY:
            raise SourceError(
                f"{name} would unpack from {packed / 1024**2:.1f} to {total / 1024**2:.0f} MB",
                "leave it out if it is not yours (a zip bomb does this), or save its text alone",
            )

    def _damaged(self) -> SourceError:
        return SourceError(
            f"{self.path.name} is damaged or truncated", "restore it from a backup, or save it again"
        )


def _leads_outside(name: str) -> bool:
    """Return whether the name of an entry can lead outside the folder of the archive."""
    parts = name.replace("\\", "/").split("/")
    return ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0]


def _is_typed(data: bytes) -> bool:
    """Return whether XML has a document type; in UTF-16, zero bytes are ignored."""
    if data[:1] in (b"\xff", b"\xfe", b"\0"):
        data = data.replace(b"\0", b"")
    return b"<!DOCTYPE" in data


def _typed(path: Path) -> SourceError:
    return SourceError(
        f"{path.name} declares an XML document type, which is refused", "leave it out, it is not safe"
    )
