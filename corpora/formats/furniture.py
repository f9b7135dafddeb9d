"""Separate the content of an HTML page from its furniture: navigation, banners, hidden parts.

A part named sidebar, menu or header is left out if most of its text is links. Prose without links is content,
whatever its part is named.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from lxml import etree

from ragweave.corpora.formats.flow import flow
from ragweave.corpora.hidden import Styles
from ragweave.models.text import UNSPACED

DROPPED = frozenset(
    "script style noscript template iframe object embed svg canvas audio video map button select input"
    " textarea datalist dialog title meta link base".split()
)
"""Elements that no text is taken from."""
_MEDIA = {
    **dict.fromkeys(("iframe", "object", "embed"), "frame"),
    **{"video": "video", "audio": "recording", "canvas": "drawing"},
}
"""Elements whose omission is reported, and their names in the report."""
_ROLES = frozenset("navigation banner contentinfo search complementary menu menubar dialog".split())
_PARTS = frozenset(
    "nav navbar navigation menu sidebar breadcrumb breadcrumbs footer site-footer sphinxsidebar".split()
)
"""Classes of parts that are content only if they contain prose."""
_JUNK = frozenset(
    "cookie cookies cookie-banner cookie-consent share sharing social social-share skip-link skip-to-content"
    " pagination pager advertisement ads ad newsletter related-posts comments-link mw-jump-link"
    " mw-editsection navbox catlinks printfooter headerlink toctree-wrapper noprint sr-only visually-hidden"
    " screen-reader-text".split()
)
"""Classes of parts that are never content."""
_NOTES = frozenset(
    "footnote footnotes endnote endnotes rearnote rearnotes note doc-footnote doc-endnote".split()
)
"""EPUB types and roles of an <aside> that belongs to the text."""
_WITHIN = frozenset(("main", "article", "section", "blockquote", "figure", "li", "td", "dialog"))
"""Elements with headers and footers of their own."""
_MAIN_SHARE = 0.3
"""A <main> or <article> is taken as the content when it holds at least this share of the page's text."""
_LINKED = 0.8
"""A list or block with this share of its text in links is navigation if the page marks no main content."""
_LINKED_ASIDE = 0.5
"""An <aside> with this share of its text in links leads elsewhere."""
_PROSE, _LONG = 4, 8
"""A part with so many words outside links contains prose; the second number is for page footers."""
_UNSPACED_WORD = 2
"""Characters of a word in scripts without spaces between words."""


class Content:
    """Finds the content of a page, and collects what is left out."""

    def __init__(self, root: Any) -> None:
        body = root.find("body")
        self.body = root if body is None else body
        self.styles = Styles(root)
        self.hidden: list[str] = []
        """Texts that a reader of the page cannot see."""
        self._left: dict[Any, str] = {}
        """Omitted elements to report, and their names in the report."""
        etree.strip_elements(self.body, "script", "style", "noscript", "template", with_tail=False)
        self._weights = _weigh(self.body)
        self._length = max(1, self._weights[self.body][0])
        self._main = self._found_main()
        self._marked = self._main is not None
        self.start = self._main if self._main is not None and not self._has_more() else self.body

    def warnings(self) -> tuple[str, ...]:
        """Return what was left out as a sentence: how many parts of each kind."""
        counts = Counter(self._left.values())
        if not counts:
            return ()
        parts = [f"{n} {kind}{'s' if n > 1 else ''}" for kind, n in sorted(counts.items())]
        return (f"left out of the page: {', '.join(parts)}",)

    def is_junk(self, element: Any) -> bool:
        """Return whether an element is navigation, hidden or decoration."""
        tag = element.tag
        if tag in DROPPED:
            if tag in _MEDIA:
                self._left[element] = _MEDIA[tag]
            return True
        if self.styles.hides(element):
            self.hidden.append(" ".join("".join(element.itertext()).split()))
            return True
        length, linked, links, h1 = self._weights[element]
        if tag == "aside":
            types = f"{element.get('epub:type') or ''} {element.get('role') or ''}".lower().split()
            if not _NOTES.isdisjoint(types):
                return False
            if linked >= _LINKED_ASIDE * length:
                return True
        if self._furnishes(element, bool(h1), length):
            return True
        if self._marked or tag not in ("ul", "ol", "div", "table", "p"):
            return False
        return links >= 3 and linked > 0 and linked >= _LINKED * length

    def _furnishes(self, element: Any, h1: bool, length: int) -> bool:
        """Return whether a part is named as furniture and contains no prose."""
        tag = element.tag
        names = f"{element.get('class') or ''} {element.get('id') or ''}".lower().split()
        is_junk = not _JUNK.isdisjoint(names)
        if not is_junk and not _is_named(element, names):
            return False
        if tag not in ("nav", "footer") and (h1 or length >= self._length / 2):
            return False
        words, linked = _prose(element)
        if words <= linked:
            return True
        is_inner = next(element.iterancestors(*_WITHIN), None) is not None
        if tag == "header" and is_inner:
            return False
        is_footer = not is_inner and "footer" in " ".join([tag, *names])
        least = _LONG if is_footer else _PROSE
        if not is_junk and words >= least and not self._is_of_site(element):
            return False
        if words >= _LONG:
            self._left[element] = "part beside the text"
        return True

    def _is_of_site(self, element: Any) -> bool:
        """Return whether an element is a header or footer outside the content that the page marks."""
        if self._main is None or element.tag not in ("header", "footer", "nav"):
            return False
        return self._main not in element.iterancestors()

    def _found_main(self) -> Any:
        """Return the element marked as the content if it has enough of the page's text, else None."""
        marked = [
            *self.body.iter("main"),
            *self.body.xpath(".//*[@role='main']"),
            *self.body.iter("article"),
        ][:20]
        best = max(marked, key=lambda e: self._weights[e][0], default=None)
        if best is None or self._weights[best][0] < self._length * _MAIN_SHARE:
            return None
        # A list of articles is a page of its own: all of them count.
        siblings = best.getparent().findall(best.tag) if best.tag == "article" else []
        return best.getparent() if len(siblings) > 1 else best

    def _has_more(self) -> bool:
        """Return whether the page has prose outside of what it marks as its content."""
        hidden, self.hidden = self.hidden, []
        blocks, _ = flow(self.body, lambda e: e is self._main or self.is_junk(e))
        self.hidden = hidden
        for block in blocks:
            if block.kind == "table" or _words(block.text) >= _LONG:
                return True
        return False


def _is_named(element: Any, names: list[str]) -> bool:
    """Return whether the tag, the role or a class of a part says that it is furniture."""
    if element.tag in ("nav", "footer", "header") or element.get("role") in _ROLES:
        return True
    return not _PARTS.isdisjoint(names)


def _prose(element: Any) -> tuple[int, int]:
    """Return how many words of an element are outside and inside links, without inner navigation."""
    outside: list[str] = []
    inside: list[str] = []

    def take(part: Any, linked: bool) -> None:
        if not isinstance(part.tag, str) or part.tag in DROPPED:
            return
        if part.tag == "nav" and part is not element:
            return
        linked = linked or part.tag == "a"
        texts = inside if linked else outside
        texts.append(part.text or "")
        for inner in part:
            take(inner, linked)
            texts.append(inner.tail or "")

    take(element, False)
    return _words(" ".join(outside)), _words(" ".join(inside))


def _words(text: str) -> int:
    unspaced = len(re.findall(rf"[{UNSPACED}]", text))
    return len(re.sub(rf"[{UNSPACED}]", "", text).split()) + unspaced // _UNSPACED_WORD


def _weigh(body: Any) -> dict[Any, tuple[int, int, int, bool]]:
    """Return for every element its characters, those in links, its links, and whether it contains an h1."""
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
