"""HTML: the main content with its headings, lists and tables, without navigation, scripts and hidden parts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from lxml import etree, html

from ragweave.corpora.blocks import Parsed
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
"""A declared encoding; what can be read in single bytes is not UTF-16, whatever it says of itself (HTML, 13.2.3.2)."""
_DATES = (
    "article:published_time datepublished date dc.date dcterms.created dcterms.date dc.date.issued "
    "citation_publication_date article:modified_time"
).split()


def parse(path: Path) -> Parsed:
    """Read an HTML file. Nothing it links to is opened, no script runs."""
    return without_lines(page(read_bytes(path), path))


def without_lines(found: Parsed) -> Parsed:
    """Return what was read without its lines: those of markup are no place that a reader finds."""
    blocks = tuple(replace(b, line=0, spans=()) for b in found.blocks)
    return replace(found, blocks=blocks, figures=tuple(replace(f, line=0) for f in found.figures))


def page(data: bytes, path: Path, charset: str = "") -> Parsed:
    """Read the bytes of an HTML page, in the encoding that they or what they come in declare, or else can be told."""
    front, text, taken = front_matter(_decoded(data, path, charset))
    root, warnings = tree("\n" * taken + text, path)
    metas = {
        (m.get("name") or m.get("property") or m.get("itemprop") or "").lower(): (
            (m.get("content") or "").strip()
        )
        for m in reversed(root.findall(".//meta"))
    }

    def stated(*names: str) -> str:
        return next((metas[n] for n in names if metas.get(n)), "")

    state(root)
    content = Content(root)
    blocks, figures = flow(content.start, content.is_junk)
    hidden = tuple(content.hidden)
    if not blocks:  # leaving out the junk leaves nothing
        blocks, figures = flow(content.body, lambda e: e.tag in DROPPED or content.styles.hides(e))
    tops = [b.text for b in blocks if b.kind == "heading" and b.level == 1]
    title = " ".join((root.findtext(".//title") or "").split())
    title = title if is_given(title) else ""
    canonical = root.xpath("//link[@rel='canonical']/@href")
    dates = [stated(name) for name in _DATES] + [t.get("datetime") or "" for t in root.iter("time")][:3]
    return Parsed(
        title=front.get("title") or (tops[0] if len(tops) == 1 else stated("og:title", "dc.title") or title),
        blocks=tuple(blocks),
        figures=tuple(figures),
        date=first_date(front) or next((d for value in dates if (d := iso_date(value))), None),
        author=stated("author", "article:author", "dc.creator", "dcterms.creator", "citation_author"),
        language=language_code(root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang")),
        warnings=(*warnings, *content.warnings()),
        hidden=hidden,
        url=str(canonical[0]).strip() if canonical else stated("og:url"),
    )


def tree(text: str, path: Path) -> tuple[Any, tuple[str, ...]]:
    """Return the elements of a page, and what was left out of them."""
    parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as exc:
        raise SourceError(
            f"{path.name} is not readable HTML ({exc})", "open it in a browser and save it again"
        ) from None
    deep = any("depth" in e.message.lower() for e in parser.error_log)
    return root, ("nested too deeply; the innermost parts were left out",) if deep else ()


def _decoded(data: bytes, path: Path, charset: str) -> str:
    declared = _CHARSET.search(data[:4096])
    named = declared[1].decode("ascii") if declared else charset
    marked = data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"))
    return (None if marked else as_declared(data, named)) or decode(data, path)
