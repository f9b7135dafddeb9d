"""From a saved HTML page to its title, address and text."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

MAX_HTML = 1_000_000
"""Characters of markup that are read."""
_UNSEEN = "//" + "|//".join("script style template noscript svg iframe nav footer aside form".split()) + (
    "|//*[@hidden]|//*[@aria-hidden='true']"
)  # fmt: skip
_UNSEEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])", re.I)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML does not know."""
_PARTS = "//*[self::h1 or self::h2 or self::h3 or self::h4 or self::p or self::li or self::pre or self::tr or self::dd]"


class Cleaned(NamedTuple):
    """What is left of a page; `url` is the address that it gives as its own, or ""."""

    title: str
    text: str
    url: str


def clean(source: str) -> Cleaned:
    """Return title, text and address of a page, without navigation and what a browser does not show."""
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True)
    try:
        tree = html.document_fromstring(_CONTROL.sub(" ", source[:MAX_HTML]).encode(), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return Cleaned("", "", "")
    styled = (element for element in tree.xpath("//*[@style]") if _UNSEEN_STYLE.search(element.get("style")))
    for element in [*tree.xpath(_UNSEEN), *styled]:
        if element.getparent() is not None:
            element.drop_tree()
    for element in tree.iter("br", "div", "td", "th", "li", "p"):  # what begins a line or a cell is a word of its own
        element.text, element.tail = f" {element.text or ''}", f" {element.tail or ''}"
    said = tree.xpath("//link[@rel='canonical']/@href|//meta[@property='og:url']/@content")
    parts = [_line(part) for part in tree.xpath(_PARTS) if not part.xpath("./ancestor::li|./ancestor::tr")]
    text = "\n\n".join(filter(None, parts)) or _line(tree.find("body"))
    return Cleaned(_title(tree), text, str(said[0]).strip() if said else "")


def _title(tree: Any) -> str:
    for path in ("//meta[@property='og:title']/@content", "//title/text()", "//h1"):
        for found in tree.xpath(path):
            if title := " ".join(str(found).split()) if isinstance(found, str) else _line(found):
                return title
    return ""


def _line(element: Any) -> str:
    return " ".join(element.text_content().split()) if element is not None else ""
