"""HTML: the main content with its headings, lists and tables, without navigation, scripts and hidden parts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from lxml import etree, html

from ragweave.corpora.blocks import Parsed
from ragweave.corpora.decode import as_declared, decode, read_bytes
from ragweave.corpora.formats.flow import flow
from ragweave.corpora.hidden import Styles
from ragweave.corpora.meta import first_date, front_matter, iso_date, language_code
from ragweave.corpora.titles import is_given
from ragweave.models.errors import SourceError

_CHARSET = re.compile(
    rb"<(?:meta[^>]{0,200}charset|\?xml[^>]{0,100}encoding)\s*=\s*[\"']?(?!utf-?(?:16|32))([\w-]+)", re.I
)
"""A declared encoding; what can be read in single bytes is not UTF-16, whatever it says of itself (HTML, 13.2.3.2)."""
_DROPPED = frozenset(
    "script style noscript template nav footer iframe object embed svg math canvas audio video map button select "
    "input textarea datalist dialog title meta link base".split()
)
_ROLES = frozenset("navigation banner contentinfo search complementary menu menubar dialog alert".split())
_JUNK = frozenset(
    "nav navbar navigation menu sidebar breadcrumb breadcrumbs footer site-footer cookie cookies cookie-banner "
    "cookie-consent share sharing social social-share skip-link skip-to-content pagination pager advertisement ads ad "
    "newsletter related-posts comments-link mw-jump-link mw-editsection navbox catlinks printfooter headerlink "
    "sphinxsidebar toctree-wrapper noprint sr-only visually-hidden screen-reader-text".split()
)
_NOTES = frozenset("footnote footnotes endnote endnotes rearnote rearnotes note doc-footnote doc-endnote".split())
"""What an <aside> is that belongs to the text: types of EPUB and roles."""
_MAIN_SHARE = 0.3
"""A <main> or <article> is taken as the content when it holds at least this share of the page's text."""
_LINKED = 0.8
"""A list or block with this share of its text in links is navigation, where the page marks no main content."""
_LINKED_ASIDE = 0.5
"""An <aside> with this share of its text in links leads elsewhere."""
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
        (m.get("name") or m.get("property") or m.get("itemprop") or "").lower(): (m.get("content") or "").strip()
        for m in reversed(root.findall(".//meta"))
    }

    def stated(*names: str) -> str:
        return next((metas[n] for n in names if metas.get(n)), "")

    content = _Content(root)
    blocks, figures = flow(content.start, content.is_junk)
    hidden = tuple(content.hidden)
    if not blocks:  # leaving out the junk leaves nothing
        blocks, figures = flow(content.body, lambda e: e.tag in _DROPPED or content.styles.hides(e))
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
        warnings=warnings,
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


class _Content:
    """What of a page is its content."""

    def __init__(self, root: Any) -> None:
        body = root.find("body")
        self.body = root if body is None else body
        self.styles = Styles(root)
        self.hidden: list[str] = []
        """Texts that no reader of the page sees."""
        etree.strip_elements(self.body, "script", "style", "noscript", "template", with_tail=False)
        self._weights = _weigh(self.body)
        self._length = max(1, self._weights[self.body][0])
        main = self._main()
        self._marked = main is not None
        self.start = main if main is not None else self.body

    def is_junk(self, element: Any) -> bool:
        """Tell navigation, hidden and decorative parts from content."""
        tag = element.tag
        if tag in _DROPPED:
            return True
        if self.styles.hides(element):
            self.hidden.append(" ".join("".join(element.itertext()).split()))
            return True
        length, linked, links, h1 = self._weights[element]
        if tag == "aside":
            typed = f"{element.get('epub:type') or ''} {element.get('role') or ''}".lower().split()
            if not _NOTES.isdisjoint(typed):
                return False
            if linked >= _LINKED_ASIDE * length:
                return True
        if tag == "header" and not self._marked:
            return not h1
        named = f"{element.get('class') or ''} {element.get('id') or ''}".lower().split()
        if element.get("role") in _ROLES or not _JUNK.isdisjoint(named):
            return not h1 and length < self._length / 2
        menu = not self._marked and tag in ("ul", "ol", "div", "table", "p")
        return menu and links >= 3 and linked > 0 and linked >= _LINKED * length

    def _main(self) -> Any:
        """Return the element that the page marks as its content and that holds enough of its text, or None."""
        marked = [*self.body.iter("main"), *self.body.xpath(".//*[@role='main']"), *self.body.iter("article")][:20]
        best = max(marked, key=lambda e: self._weights[e][0], default=None)
        if best is None or self._weights[best][0] < self._length * _MAIN_SHARE:
            return None
        # A list of articles is a page of its own: all of them count.
        siblings = best.getparent().findall(best.tag) if best.tag == "article" else []
        return best.getparent() if len(siblings) > 1 else best


def _weigh(body: Any) -> dict[Any, tuple[int, int, int, bool]]:
    """Return of every element, in one pass: characters, those in links, links, and whether an h1 lies in it."""
    weights: dict[Any, tuple[int, int, int, bool]] = {}
    open_ = [[0, 0, 0, 0]]
    for event, element in etree.iterwalk(body, events=("start", "end")):
        if event == "start":
            open_.append([len((element.text or "").strip()), 0, 0, int(element.tag == "h1")])
            continue
        text, linked, links, h1 = open_.pop()
        if element.tag == "a":
            linked, links = text, links + 1
        weights[element] = (text, linked, links, bool(h1))
        around = open_[-1]
        around[0] += text + (len((element.tail or "").strip()) if element is not body else 0)
        around[1] += linked
        around[2] += links
        around[3] |= h1
    return weights
