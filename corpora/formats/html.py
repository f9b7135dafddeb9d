"""Read the main content of HTML pages, without navigation, scripts and hidden parts."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from lxml import etree, html

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.decode import as_declared, decode, read_bytes
from ragweave.corpora.formats.entered import state
from ragweave.corpora.formats.flow import flow
from ragweave.corpora.formats.furniture import DROPPED, Content
from ragweave.corpora.meta import first_date, front_matter, iso_date, language_code
from ragweave.corpora.titles import is_given
from ragweave.models.errors import SourceError

_CHARSET = re.compile(
    rb"<(?:meta[^>]{0,200}charset|\?xml[^>]{0,100}encoding)\s*=\s*[\"']?(?!utf-?(?:16|32))([\w-]+)", re.I
)
"""A declared encoding; a page whose declaration can be read as ASCII is not UTF-16 (HTML, 13.2.3.2)."""
_DATES = (
    "article:published_time datepublished date dc.date dcterms.created dcterms.date dc.date.issued "
    "citation_publication_date article:modified_time"
).split()


def parse(path: Path) -> Parsed:
    """Read an HTML file. Nothing it links to is opened, no script runs."""
    return without_lines(page(read_bytes(path), path))


def without_lines(found: Parsed) -> Parsed:
    """Return what was read without its lines: a reader of a page cannot find lines of its markup."""
    blocks = [replace(block, line=0, spans=()) for block in found.blocks]
    figures = [replace(figure, line=0) for figure in found.figures]
    return replace(found, blocks=tuple(blocks), figures=tuple(figures))


def page(data: bytes, path: Path, charset: str = "") -> Parsed:
    """Read the bytes of an HTML page.

    The encoding is the one that the page declares, or else `charset`, or else detected.
    """
    front, text, taken = front_matter(_decoded(data, path, charset))
    root, warnings = tree("\n" * taken + text, path)
    metas = _Metas(root)
    state(root)
    content = Content(root)
    blocks, figures = flow(content.start, content.is_junk)
    hidden = tuple(content.hidden)
    if not blocks:  # nothing but junk
        blocks, figures = flow(content.body, lambda e: e.tag in DROPPED or content.styles.hides(e))
    canonical = root.xpath("//link[@rel='canonical']/@href")
    return Parsed(
        title=front.get("title") or _title(root, blocks, metas),
        blocks=tuple(blocks),
        figures=tuple(figures),
        date=first_date(front) or _date(root, metas),
        author=metas.first("author", "article:author", "dc.creator", "dcterms.creator", "citation_author"),
        language=language_code(root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang")),
        warnings=(*warnings, *content.warnings()),
        hidden=hidden,
        url=str(canonical[0]).strip() if canonical else metas.first("og:url"),
    )


class _Metas:
    """The meta elements of a page; of several with one name, the first counts."""

    def __init__(self, root: Any) -> None:
        self._values: dict[str, str] = {}
        for meta in root.findall(".//meta"):
            name = meta.get("name") or meta.get("property") or meta.get("itemprop") or ""
            self._values.setdefault(name.lower(), (meta.get("content") or "").strip())

    def first(self, *names: str) -> str:
        """Return the first value that is not empty, or ""."""
        for name in names:
            if self._values.get(name):
                return self._values[name]
        return ""


def _title(root: Any, blocks: list[Block], metas: _Metas) -> str:
    """Return the only heading of the first level, or else the title that the page states."""
    tops: list[str] = []
    for block in blocks:
        if block.kind == "heading" and block.level == 1:
            tops.append(block.text)
    if len(tops) == 1:
        return tops[0]
    title = " ".join((root.findtext(".//title") or "").split())
    return metas.first("og:title", "dc.title") or (title if is_given(title) else "")


def _date(root: Any, metas: _Metas) -> datetime | None:
    """Return the first date that the page states, None if there is none."""
    values = list(map(metas.first, _DATES))
    for element in islice(root.iter("time"), 3):
        values.append(element.get("datetime") or "")
    for value in values:
        date = iso_date(value)
        if date is not None:
            return date
    return None


def tree(text: str, path: Path) -> tuple[Any, tuple[str, ...]]:
    """Return the elements of a page, and a warning if its innermost parts were left out."""
    parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as exc:
        raise SourceError(
            f"{path.name} is not readable HTML ({exc})", "open it in a browser and save it again"
        ) from None
    for entry in parser.error_log:
        if "depth" in entry.message.lower():
            return root, ("nested too deeply; the innermost parts were left out",)
    return root, ()


def _decoded(data: bytes, path: Path, charset: str) -> str:
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return decode(data, path)
    declared = _CHARSET.search(data[:4096])
    named = declared[1].decode("ascii") if declared else charset
    return as_declared(data, named) or decode(data, path)
