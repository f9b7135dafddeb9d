"""EPUB: the chapters of the spine in their order, read as the HTML they are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path, PurePosixPath
from posixpath import dirname, join, normpath
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
"""How a page begins, whatever its kind is declared to be."""
_MOST_WARNINGS = 10


def parse(path: Path) -> Parsed:
    """Read an e-book; the book's navigation is left out, and lines inside its chapters are not counted."""
    with Archive(path) as archive:
        if archive.has("META-INF/encryption.xml") and b"EncryptedData" in archive.read(
            "META-INF/encryption.xml"
        ):
            if any(archive.has(f"META-INF/{name}") for name in ("rights.xml", "license.lcpl")):
                raise SourceError(
                    f"{path.name} is protected by its publisher (DRM)", "use a copy without protection"
                )
        rootfile = next(archive.xml(_CONTAINER).iter(_ROOTFILE), None)
        package = "" if rootfile is None else rootfile.get("full-path") or ""
        if not archive.has(package):
            raise SourceError(f"{path.name} is an EPUB without a table of its parts", "convert it again")
        root = archive.xml(package)

        def value(name: str) -> str:
            return " ".join((root.findtext(f".//{_DC}{name}") or "").split())

        entries = {i.get("id"): i for i in root.iter(f"{_OPF}item")}
        items = {
            name: normpath(join(dirname(package), unquote(i.get("href") or "")))
            for name, i in entries.items()
            if "nav" not in (i.get("properties") or "").split()
        }
        pages = {items[name] for name in items if entries[name].get("media-type") in _HTML}
        spine = list(root.iter(f"{_OPF}itemref"))
        beside = {items.get(i.get("idref")) for i in spine if i.get("linear") == "no"}
        order = [items[i.get("idref")] for i in spine if i.get("idref") in items]
        blocks: list[Block] = []
        figures: list[Figure] = []
        warnings: list[str] = []
        hidden: list[str] = []
        titles = {value("title")}
        for name in dict.fromkeys(order):
            if not archive.has(name):
                warnings.append(f"the part {name} is missing")
                continue
            try:
                data = archive.read(name)
                if name not in pages and not _PAGE.search(data[:4096]):
                    warnings.append(f"the part {name} was not read: it is no page")
                    continue
                chapter = without_lines(page(data, path))
            except SourceError as exc:
                warnings.append(f"the part {name} cannot be read ({exc.what})")
                continue
            # What begins without a heading goes on with what came before, unless it says that it is something
            # else.
            if (
                any(b.kind == "heading" for b in blocks)
                and chapter.blocks
                and chapter.blocks[0].kind != "heading"
            ):
                named = chapter.title if chapter.title not in titles else ""
                if named := named or (PurePosixPath(name).stem if name in beside else ""):
                    blocks.append(Block(named, "heading", 1))
            titles.add(chapter.title)
            hidden += chapter.hidden
            warnings += [f"of the part {name}: {warning}" for warning in chapter.warnings]
            for figure in chapter.figures:
                if not _ELSEWHERE.match(figure.ref):
                    part = normpath(join(dirname(name), unquote(figure.ref.partition("#")[0])))
                    figures.append(replace(figure, ref=part, at=figure.at + len(blocks)))
            blocks += chapter.blocks

    return Parsed(
        title=value("title"),
        blocks=tuple(blocks),
        date=iso_date(value("date")),
        author=", ".join(
            t for c in root.iter(f"{_DC}creator") if (t := " ".join("".join(c.itertext()).split()))
        ),
        language=language_code(value("language")),
        warnings=(*warnings[:_MOST_WARNINGS], *_further(len(warnings) - _MOST_WARNINGS)),
        figures=tuple(figures),
        hidden=tuple(hidden),
    )


def _further(count: int) -> tuple[str, ...]:
    return (f"{count} more remarks on parts of the book",) if count > 0 else ()
