"""What Word, PowerPoint and Excel files share: namespaces, relationships and core properties."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Parsed
from ragweave.corpora.meta import iso_date, language_code

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_TEMPLATES = ("2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z")
"""When the empty files were made that python-docx and python-pptx begin with: no date of a document."""
_CURRENCY = re.compile(r"\[\$([^\]-]{1,4})[\]-]|([€$£¥])(?![^\[]*\])")
"""How a number format states a currency: `[$€-407]`, or its sign."""


_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_RENAMED = {
    b"2006/extendedProperties": b"2006/extended-properties",
    b"2006/customProperties": b"2006/custom-properties",
    b"relationships/extendedProperties": b"relationships/extended-properties",
    b"relationships/customProperties": b"relationships/custom-properties",
}
"""Names that differ between Strict and Transitional beyond their beginning."""
_MAIN_PARTS = ("word/document.xml", "ppt/presentation.xml", "xl/workbook.xml")
_XML = (".xml", ".rels", ".vml")
_LEFT = {
    "oleObject": ("embedded object", "embedded objects"),
    "package": ("embedded file", "embedded files"),
    "control": ("form control", "form controls"),
    "video": ("recording", "recordings"),
    "audio": ("recording", "recordings"),
    "chartEx": ("chart of a newer kind", "charts of newer kinds"),
    "ink": ("drawing by hand", "drawings by hand"),
    "subDocument": ("document that this one takes in", "documents that this one takes in"),
}
"""By type of relationship: what is not read, one and several."""


class Package(Archive):
    """A package of Office; the Strict kind (ISO 29500-1) is read like the usual one."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.is_strict = False
        for main in _MAIN_PARTS:
            if self.has(main):
                self.is_strict = _STRICT.search(super().read(main)) is not None
                break

    def read(self, name: str) -> bytes:
        """Return an entry's bytes, those of XML with the usual namespaces."""
        data = super().read(name)
        if not getattr(self, "is_strict", False) or not name.lower().endswith(_XML):
            return data
        data = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", data)
        for strict, usual in _RENAMED.items():
            data = data.replace(strict, usual)
        return data

    def file(self) -> Path | BytesIO:
        """Return what other libraries open: the file, or a copy in memory in the usual namespaces."""
        if not self.is_strict:
            return self.path
        copy = BytesIO()
        with zipfile.ZipFile(copy, "w", zipfile.ZIP_STORED) as target:
            for name in self.names:
                target.writestr(name, self.read(name))
        copy.seek(0)
        return copy


def unread(archive: Archive, parts: Iterable[str]) -> Counter[tuple[str, str]]:
    """Count what parts hold that is not read: objects, recordings, drawings by hand."""
    count: Counter[tuple[str, str]] = Counter()
    for part in parts:
        for kind, _ in set(all_relations(archive, part).values()):
            if kind in _LEFT:
                count[_LEFT[kind]] += 1
    return count


def macros(archive: Archive) -> Counter[tuple[str, str]]:
    """Count the macro projects of a file, which are not read."""
    count: Counter[tuple[str, str]] = Counter()
    for name in archive.names:
        if name.rpartition("/")[2].lower() == "vbaproject.bin":
            count["macro project", "macro projects"] += 1
    return count


def not_read(count: Mapping[tuple[str, str], int]) -> tuple[str, ...]:
    """Return the warning for what was not read, by kind and count; () if nothing was left out."""
    parts: list[str] = []
    for (one, several), n in count.items():
        if n:
            parts.append(f"{n:,} {one if n == 1 else several}")
    if not parts:
        return ()
    listed = parts[-1]
    if len(parts) > 1:
        listed = f"{', '.join(parts[:-1])} and {listed}"
    return (f"not read: {listed}",)


def core(archive: Archive) -> Parsed:
    """Read the core properties (ISO 29500-2, section 11); the date is of creation, or of the last change."""
    if not archive.has("docProps/core.xml"):
        return Parsed()
    root = archive.xml("docProps/core.xml")

    def value(name: str) -> str:
        said = (root.findtext(name) or "").strip()
        return "" if said in _TEMPLATES else said

    return Parsed(
        title=value(f"{_DC}title"),
        author=value(f"{_DC}creator"),
        date=iso_date(value(f"{_TERMS}created")) or iso_date(value(f"{_TERMS}modified")),
        language=language_code(value(f"{_DC}language")),
    )


def relations(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    """Return (type, target part) by relationship id; targets outside the file are left out."""
    return {id: (kind, part) for id, (kind, part) in all_relations(archive, part).items() if part}


def all_relations(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    """Return (type, target part) by relationship id; the target is "" where it lies outside the file."""
    folder, name = dirname(part), part.rsplit("/", 1)[-1]
    path = f"{folder}/_rels/{name}.rels"
    if not archive.has(path):
        return {}
    out = {}
    for relation in archive.xml(path).iter(_RELATION):
        target = relation.get("Target") or ""
        full = normpath(target.lstrip("/") if target.startswith("/") else join(folder, target))
        is_outside = relation.get("TargetMode") == "External"
        kind = (relation.get("Type") or "").rsplit("/", 1)[-1]
        out[relation.get("Id") or ""] = (kind, "" if is_outside else full)
    return out


def attribute(element: Any, path: str, name: str) -> str:
    """Return an attribute of the first element at a path below `element`, which may be None, or ""."""
    found = None if element is None else element.find(path)
    return "" if found is None else found.get(name) or ""


def signed(value: float, plain: str, form: str) -> str:
    """Return a plainly written number with the percent sign or currency of its number format."""
    if "%" in form.partition(";")[0]:
        return f"{value * 100:.10g}%"
    sign = _CURRENCY.search(form)
    return f"{plain} {sign[1] or sign[2]}" if sign else plain
