"""HTML: the main content with its headings, lists and tables, without navigation, scripts and hidden parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ragweave.corpora.blocks import Block, Figure, Parsed
from ragweave.corpora.decode import decode, read_bytes
from ragweave.corpora.formats.flow import Flow
from ragweave.corpora.meta import iso_date, language_code
from ragweave.models.errors import SourceError

_CHARSET = re.compile(rb"<(?:meta[^>]{0,200}charset|\?xml[^>]{0,100}encoding)\s*=\s*[\"']?([\w-]+)", re.I)
_DROPPED = frozenset(
    "script style noscript template nav footer aside iframe object embed svg math canvas audio video map button select "
    "input textarea datalist dialog title meta link base".split()
)
_ROLES = frozenset("navigation banner contentinfo search complementary menu menubar dialog alert".split())
_JUNK = frozenset(
    "nav navbar navigation menu sidebar breadcrumb breadcrumbs footer site-footer cookie cookies cookie-banner "
    "cookie-consent share sharing social social-share skip-link skip-to-content pagination pager advertisement ads ad "
    "newsletter related-posts comments-link mw-jump-link mw-editsection navbox catlinks printfooter headerlink "
    "sphinxsidebar toctree-wrapper noprint sr-only visually-hidden screen-reader-text".split()
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_MAIN_SHARE = 0.3
"""A <main> or <article> is taken as the content when it holds at least this share of the page's text."""
_LINKED = 0.8
"""A list or block with this share of its text in links is navigation, where the page marks no main content."""
_DATES = (
    "article:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dcterms.created",
    "dcterms.date",
    "dc.date.issued",
    "citation_publication_date",
    "article:modified_time",
)


def parse(path: Path) -> Parsed:
    """Read an HTML file. Nothing it links to is opened, no script runs."""
    return page(read_bytes(path), path)


def page(data: bytes, path: Path) -> Parsed:
    """Read the bytes of an HTML page, in the encoding they declare or else that can be told.

    Args:
        data: the page.
        path: for messages.
    """
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = html.document_fromstring(_decoded(data, path).encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as exc:
        raise SourceError(
            f"{path.name} is not readable HTML ({exc})", "open it in a browser and save it again"
        ) from None
    found = _Page(root)
    warnings = ("nested too deeply; the innermost parts were left out",) if _too_deep(parser) else ()
    return Parsed(
        title=found.title(),
        blocks=tuple(found.blocks()),
        figures=tuple(found.figures),
        date=found.date(),
        author=found.meta("author", "article:author", "dc.creator", "dcterms.creator", "citation_author"),
        language=language_code(root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang")),
        warnings=warnings,
    )


def _decoded(data: bytes, path: Path) -> str:
    declared = _CHARSET.search(data[:4096])
    if declared and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode(declared[1].decode("ascii"))
        except (LookupError, UnicodeError):
            pass
    return decode(data, path)


def _too_deep(parser: Any) -> bool:
    return any("depth" in e.message.lower() for e in parser.error_log)


@dataclass(slots=True)
class _Weight:
    """What lies below an element: characters, those in links, links, whether an h1 is among it."""

    text: int = 0
    linked: int = 0
    links: int = 0
    h1: bool = False


def _weigh(root: Any) -> dict[Any, _Weight]:
    """Weigh every element below `root` in one pass."""
    from lxml import etree

    weights: dict[Any, _Weight] = {}
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            weights[element] = _Weight(len((element.text or "").strip()))
            continue
        own = weights[element]
        if element.tag == "a":
            own.linked = own.text
            own.links += 1
        if element is root:
            break
        around = weights[element.getparent()]
        around.text += own.text + len((element.tail or "").strip())
        around.linked += own.linked
        around.links += own.links
        around.h1 = around.h1 or own.h1 or element.tag == "h1"
    return weights


class _Page:
    """One parsed page."""

    def __init__(self, root: Any) -> None:
        from lxml import etree

        self.root = root
        self._etree = etree
        self._metas = {
            (m.get("name") or m.get("property") or m.get("itemprop") or "").lower(): (m.get("content") or "").strip()
            for m in reversed(root.findall(".//meta"))
        }
        body = root.find("body")
        self._body = root if body is None else body
        etree.strip_elements(self._body, "script", "style", "noscript", "template", with_tail=False)
        self._weights = _weigh(self._body)
        self._length = max(1, self._weights[self._body].text)
        self._main = self._find_main()
        self.figures: list[Figure] = []

    def meta(self, *names: str) -> str:
        """Return the first <meta> of these names that has a value, else ""."""
        return next((self._metas[n] for n in names if self._metas.get(n)), "")

    def title(self) -> str:
        """Return the only h1 of the content, else the title in the page's head."""
        content = self._body if self._main is None else self._main
        tops = [" ".join(h.itertext()).split() for h in content.iter("h1")]
        if len(tops) == 1 and tops[0]:
            return " ".join(tops[0]).strip("¶§# ")
        head = self.root.findtext(".//title") or ""
        return self.meta("og:title", "dc.title") or " ".join(head.split())

    def date(self) -> datetime | None:
        """Return the date of publication that the page states."""
        stated = [self.meta(name) for name in _DATES]
        stated += [t.get("datetime") or "" for t in self.root.iter("time")][:3]
        return next((d for value in stated if (d := iso_date(value))), None)

    def blocks(self) -> Sequence[Block]:
        """Return the blocks of the main content; all of the body where leaving out the junk leaves nothing."""
        start = self._body if self._main is None else self._main
        return self._walk(start, drop=True) or self._walk(self._body, drop=False)

    def _walk(self, start: Any, drop: bool) -> Sequence[Block]:
        flow = Flow()
        walker = self._etree.iterwalk(start, events=("start", "end"))
        skipped = None
        for event, element in walker:
            if skipped is not None:
                if event == "end" and element is skipped:
                    flow.tail(element)
                    skipped = None
                continue
            if event == "end":
                flow.end(element)
                if element is not start:
                    flow.tail(element)
            elif element is not start and (element.tag in _DROPPED if not drop else self._is_junk(element)):
                walker.skip_subtree()
                skipped = element
            else:
                flow.start(element)
        self.figures = flow.figures
        return flow.finish()

    def _find_main(self) -> Any:
        """Return the element that the page marks as its content and that holds enough of its text, or None."""
        marked = [*self._body.iter("main"), *self._body.xpath(".//*[@role='main']"), *self._body.iter("article")][:20]
        best = max(marked, key=self._text, default=None)
        if best is None or self._text(best) < self._length * _MAIN_SHARE:
            return None
        # A list of articles is a page of its own: all of them count.
        siblings = best.getparent().findall(best.tag) if best.tag == "article" else []
        return best.getparent() if len(siblings) > 1 else best

    def _is_junk(self, element: Any) -> bool:
        """Tell navigation, hidden and decorative parts from content."""
        tag = element.tag
        if not isinstance(tag, str) or tag in _DROPPED:
            return True
        if element.get("hidden") is not None or element.get("aria-hidden") == "true":
            return True
        if _HIDDEN_STYLE.search(element.get("style") or ""):
            return True
        if tag == "a" and "headerlink" in (element.get("class") or ""):
            return True
        if tag == "header" and self._main is None:
            return not self._weights[element].h1
        if (element.get("role") or "") in _ROLES or self._named_junk(element):
            return not self._weights[element].h1 and self._text(element) < self._length / 2
        return self._main is None and tag in ("ul", "ol", "div", "table", "p") and self._is_linked(element)

    def _named_junk(self, element: Any) -> bool:
        return not _JUNK.isdisjoint(f"{element.get('class') or ''} {element.get('id') or ''}".lower().split())

    def _is_linked(self, element: Any) -> bool:
        """Tell whether nearly all text lies in three or more links."""
        weight = self._weights[element]
        return weight.links >= 3 and weight.linked > 0 and weight.linked >= _LINKED * weight.text

    def _text(self, element: Any) -> int:
        return self._weights[element].text
