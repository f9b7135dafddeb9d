"""What Word, PowerPoint and Excel files share: namespaces, relationships and core properties."""

from __future__ import annotations

import re
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


def core(archive: Archive) -> Parsed:
    """Read the core properties (ISO 29500-2, section 11); the date is that of creation, else of the last change."""
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
    folder, name = dirname(part), part.rsplit("/", 1)[-1]
    path = f"{folder}/_rels/{name}.rels"
    if not archive.has(path):
        return {}
    out = {}
    for relation in archive.xml(path).iter(_RELATION):
        if relation.get("TargetMode") != "External":
            target = relation.get("Target") or ""
            full = normpath(target.lstrip("/") if target.startswith("/") else join(folder, target))
            out[relation.get("Id") or ""] = ((relation.get("Type") or "").rsplit("/", 1)[-1], full)
    return out


def attribute(element: Any, path: str, name: str) -> str:
    """Return an attribute of the first element at a path below `element`, or ""."""
    found = element.find(path)
    return "" if found is None else found.get(name) or ""


def signed(value: float, plain: str, form: str) -> str:
    """Return a number, written plainly, with its percent sign or currency, which only the number format holds."""
    if "%" in form.partition(";")[0]:
        return f"{value * 100:.10g}%"
    sign = _CURRENCY.search(form)
    return f"{plain} {sign[1] or sign[2]}" if sign else plain
