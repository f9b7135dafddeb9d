"""From a fetched body to the title and main text of a page."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import Any

from ragweave.corpora.web.charset import decode
from ragweave.corpora.web.plain import one_line, plain

logger = logging.getLogger(__name__)

MAX_HTML = 1_000_000
"""Characters of markup that are read; the extractor needs seconds for each million."""

_MARKUP = re.compile(r"\s*<(?:!doctype|!--|html|head|body|\?xml|article|div|p|h1|title|meta)\b", re.I)
_UNSEEN = "//script|//style|//template|//noscript|//svg|//iframe|//*[@hidden]|//*[@aria-hidden='true']"
_UNSEEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])", re.I)
_WALL = re.compile(
    r"cookie|consent|einwillig|zustimm|accepter|javascript|captcha|verify (?:that )?you are (?:a )?human|"
    r"are you a robot|access denied|checking your browser|subscribe to (?:read|continue)|sign in to continue",
    re.I,
)
_WALL_LENGTH = 700
"""A page shorter than this that speaks of consent, robots or scripts says nothing else."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What is left of a page.

    Attributes:
        title: one line, may be empty.
        text: main text, or "" where there is none to speak of.
        wall: whether the page showed a cookie wall, a robot check or the like instead of its text.
    """

    title: str
    text: str
    wall: bool = False


def clean(data: bytes, media_type: str = "", charset: str = "", limit: int = 20_000) -> Cleaned:
    """Return title and main text of a page.

    Main text by trafilatura; where it finds nothing, the first heading and all paragraphs longer than ten characters,
    as CRAG reads pages. Elements that a browser does not show are dropped first. CPU: seconds for a large page.

    Args:
        data: body, decompressed.
        media_type: declared type; a plain text that opens with markup is read as HTML.
        charset: declared charset, not trusted.
        limit: longest text returned, in characters.
    """
    source = decode(data, charset)[:MAX_HTML]
    if media_type in ("text/plain", "text/markdown", "text/x-markdown", "") and not _MARKUP.match(source):
        text = plain(source, limit)
        return Cleaned(title=_first_heading(text), text=text)
    tree = _parse(source)
    if tree is None:
        return Cleaned("", "")
    title = _title(tree)
    fallback = _headings_and_paragraphs(tree)
    text = plain(_main_text(tree) or fallback, limit)
    if len(text) < _WALL_LENGTH and _WALL.search(text):
        return Cleaned(title, "", wall=True)
    return Cleaned(title, text)


def canonical(source: str) -> str:
    """Return the address that a saved page gives as its own (`<link rel=canonical>` or `og:url`), or ""."""
    tree = _parse(source[:MAX_HTML])
    if tree is None:
        return ""
    found = tree.xpath("//link[@rel='canonical']/@href|//meta[@property='og:url']/@content")
    return str(found[0]).strip() if found else ""


def _parse(source: str) -> Any:
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True)
    try:
        tree = html.document_fromstring(source.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return None
    styled = (element for element in tree.xpath("//*[@style]") if _UNSEEN_STYLE.search(element.get("style")))
    for element in [*tree.xpath(_UNSEEN), *styled]:
        if element.getparent() is not None:
            element.drop_tree()
    return tree


def _title(tree: Any) -> str:
    for path in ("//meta[@property='og:title']/@content", "//title/text()", "//h1"):
        for found in tree.xpath(path):
            title = one_line(found if isinstance(found, str) else found.text_content())
            if title:
                return title
    return ""


def _main_text(tree: Any) -> str:
    import trafilatura

    try:
        document = trafilatura.bare_extraction(tree, include_comments=False, include_images=False, include_links=False)
    except Exception:
        # The extractor meets every kind of broken markup; whatever it raises, the paragraphs are still there.
        logger.debug("main text extraction failed", exc_info=True)
        return ""
    return str(getattr(document, "text", None) or "")


def _headings_and_paragraphs(tree: Any) -> str:
    """Read a page as CRAG does: its first heading and every paragraph of more than ten characters."""
    heads = [" ".join(h.text_content().split()) for h in tree.xpath("(//h1)[1]")]
    paragraphs = [" ".join(p.text_content().split()) for p in tree.xpath("//p")]
    return "\n".join([*heads, *(p for p in paragraphs if len(p) > 10)])


def _first_heading(text: str) -> str:
    first = text.split("\n", 1)[0]
    return one_line(first.lstrip("# ")) if len(first) <= 200 else ""
