"""Read the chapters of an EPUB in the order of its spine, as HTML pages."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path, PurePosixPath
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Block, Figure, Parsed
from ragweave.corpora.formats.html import page, without_lines
from ragweave.corpora.meta import iso_date, language_code
from ragweave.models.errors import SourceError

_CONTAINER = "META-INF/container.xml"
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_ROOTFILE = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_HTML = ("application/xhtml+xml", "text/html")
_PAGE = re.compile(rb"<(?:\w+:)?html\b", re.I)
"""How a page begins, whatever media type it declares."""
_MOST_WARNINGS = 10


def parse(path: Path) -> Parsed:
    """Read an e-book; the book's navigation is left out, and lines inside its chapters are not counted."""
    with Archive(path) as archive:
        _refuse_protected(archive)
        rootfile = next(archive.xml(_CONTAINER).iter(_ROOTFILE), None)
        package = "" if rootfile is None else rootfile.get("full-path") or ""
        if not archive.has(package):
            raise SourceError(f"{path.name} is an EPUB without a table of its parts", "convert it again")
        root = archive.xml(package)
        book = _Book(archive, root, dirname(package))
        for name in book.order:
            book.read(name)
    warnings = book.warnings[:_MOST_WARNINGS]
    if len(book.warnings) > _MOST_WARNINGS:
        warnings.append(f"{len(book.warnings) - _MOST_WARNINGS} more remarks on parts of the book")
    return Parsed(
        title=_value(root, "title"),
        blocks=tuple(book.blocks),
        date=iso_date(_value(root, "date")),
        author=_authors(root),
        language=language_code(_value(root, "language")),
        warnings=tuple(warnings),
        figures=tuple(book.figures),
        hidden=tuple(book.hidden),
    )


def _refuse_protected(archive: Archive) -> None:
    """Raise SourceError if a publisher's protection encrypts the book."""
    encryption = "META-INF/encryption.xml"
    if not archive.has(encryption) or b"EncryptedData" not in archive.read(encryption):
        return
    if archive.has("META-INF/rights.xml") or archive.has("META-INF/license.lcpl"):
        raise SourceError(
            f"{archive.path.name} is protected by its publisher (DRM)", "use a copy without protection"
        )


def _value(root: Any, name: str) -> str:
    return " ".join((root.findtext(f".//{_DC}{name}") or "").split())


def _authors(root: Any) -> str:
    names = [" ".join("".join(creator.itertext()).split()) for creator in root.iter(f"{_DC}creator")]
    return ", ".join(filter(None, names))


class _Book:
    """Collects the chapters of a book.

    Attributes:
        order: the parts of the spine in reading order, each once.
    """

    def __init__(self, archive: Archive, root: Any, folder: str) -> None:
        self.blocks: list[Block] = []
        self.figures: list[Figure] = []
        self.warnings: list[str] = []
        self.hidden: list[str] = []
        self._archive = archive
        self._pages: set[str] = set()
        """Parts that are declared as pages."""
        self._titles = {_value(root, "title")}
        parts: dict[str | None, str] = {}
        for entry in root.iter(f"{_OPF}item"):
            if "nav" in (entry.get("properties") or "").split():
                continue
            part = normpath(join(folder, unquote(entry.get("href") or "")))
            parts[entry.get("id")] = part
            if entry.get("media-type") in _HTML:
                self._pages.add(part)
        self.order: list[str] = []
        self._apart: set[str] = set()
        """Parts outside the linear reading order."""
        for reference in root.iter(f"{_OPF}itemref"):
            chapter = parts.get(reference.get("idref"))
            if chapter is None:
                continue
            if reference.get("linear") == "no":
                self._apart.add(chapter)
            if chapter not in self.order:
                self.order.append(chapter)

    def read(self, name: str) -> None:
        """Read a chapter, or add a warning if it cannot be read."""
        if not self._archive.has(name):
            self.warnings.append(f"the part {name} is missing")
            return
        try:
            data = self._archive.read(name)
            if name not in self._pages and not _PAGE.search(data[:4096]):
                self.warnings.append(f"the part {name} was not read: it is no page")
                return
            chapter = without_lines(page(data, self._archive.path))
        except SourceError as exc:
            self.warnings.append(f"the part {name} cannot be read ({exc.what})")
            return
        self._add(name, chapter)

    def _add(self, name: str, chapter: Parsed) -> None:
        heading = self._heading(name, chapter)
        if heading:
            self.blocks.append(Block(heading, "heading", 1))
        self._titles.add(chapter.title)
        self.hidden += chapter.hidden
        self.warnings += [f"of the part {name}: {warning}" for warning in chapter.warnings]
        for figure in chapter.figures:
            if not _ELSEWHERE.match(figure.ref):
                part = normpath(join(dirname(name), unquote(figure.ref.partition("#")[0])))
                self.figures.append(replace(figure, ref=part, at=figure.at + len(self.blocks)))
        self.blocks += chapter.blocks

    def _heading(self, name: str, chapter: Parsed) -> str:
        """Return the heading for a chapter that begins without one, "" if it continues the chapter before."""
        if not chapter.blocks or chapter.blocks[0].kind == "heading":
            return ""
        if not any(block.kind == "heading" for block in self.blocks):
            return ""
        if chapter.title and chapter.title not in self._titles:
            return chapter.title
        return PurePosixPath(name).stem if name in self._apart else ""
