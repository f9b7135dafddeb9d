"""From the bytes of a page to its title and main text."""

from __future__ import annotations

import codecs
import logging
import re
from typing import Any, NamedTuple

from ragweave.corpora.decode import encoding_of
from ragweave.corpora.web.plain import one_line, plain
from ragweave.models.errors import MissingExtra

logger = logging.getLogger(__name__)

MAX_HTML = 1_000_000
"""Characters of markup that are read; the extractor needs seconds for each million."""
PAGE_CHARS = 20_000
"""Longest text kept of a page."""

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
_META = re.compile(rb"<meta[^>]{1,300}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.I)
_NO_CHARSETS = ("", "utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined")
_GUESSED_FROM = 500
"""Bytes from which a charset that nothing declares can be told by its letters."""


class Cleaned(NamedTuple):
    """What is left of a page."""

    title: str
    text: str
    url: str = ""
    """Address that the page gives as its own (`<link rel=canonical>` or `og:url`)."""
    wall: bool = False
    """Whether the page showed a cookie wall, a robot check or the like instead of its text."""


def clean(data: bytes, media_type: str = "", charset: str = "", limit: int = PAGE_CHARS) -> Cleaned:
    """Return title and main text of a page, found by trafilatura, without what a browser does not show.

    CPU: seconds for a large page. Declared type and charset are not trusted: a plain text that opens with markup is
    read as HTML.
    """
    source = decode(data, charset)[:MAX_HTML]
    if media_type in ("text/plain", "text/markdown", "text/x-markdown", "") and not _MARKUP.match(source):
        text = plain(source, limit)
        first = text.split("\n", 1)[0]
        return Cleaned(one_line(first.lstrip("# ")) if len(first) <= 200 else "", text)
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True)
    try:
        tree = html.document_fromstring(source.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return Cleaned("", "")
    styled = (element for element in tree.xpath("//*[@style]") if _UNSEEN_STYLE.search(element.get("style")))
    for element in [*tree.xpath(_UNSEEN), *styled]:
        if element.getparent() is not None:
            element.drop_tree()
    said = tree.xpath("//link[@rel='canonical']/@href|//meta[@property='og:url']/@content")
    found = Cleaned(_title(tree), plain(_main_text(tree), limit), str(said[0]).strip() if said else "")
    wall = len(found.text) < _WALL_LENGTH and bool(_WALL.search(found.text))
    return found._replace(text="", wall=True) if wall else found


def _title(tree: Any) -> str:
    for path in ("//meta[@property='og:title']/@content", "//title/text()", "//h1"):
        for found in tree.xpath(path):
            if title := one_line(found if isinstance(found, str) else found.text_content()):
                return title
    return ""


def _main_text(tree: Any) -> str:
    try:
        import trafilatura
    except ImportError as exc:
        raise MissingExtra("reading web pages", "web") from exc
    try:
        document = trafilatura.bare_extraction(tree, include_comments=False, include_images=False, include_links=False)
        if text := str(getattr(document, "text", None) or ""):
            return text
    except Exception:
        # The extractor meets every kind of broken markup; whatever it raises, the paragraphs are still there.
        logger.debug("main text extraction failed", exc_info=True)
    return "\n".join(" ".join(part.text_content().split()) for part in tree.xpath("(//h1)[1]|//p"))


def decode(data: bytes, declared: str = "") -> str:
    """Decode a page whose declared charset may be missing or wrong.

    A declared charset whose bytes are no UTF-8 by nature wins; then byte order marks and UTF-8 if the bytes are valid,
    because other charsets do not look so by accident; then what header and page declare, and what can be detected.
    """
    meta = _META.search(data[:4096])
    said = [codec for label in (declared, meta[1].decode("ascii") if meta else "") if (codec := _codec(label))]
    special = [codec for codec in said if codec.startswith(("utf-16", "utf-32", "iso2022"))]
    found = encoding_of(data)
    if not special and found.startswith("utf") and not found.startswith("utf-16-"):  # told by a mark, or UTF-8
        return data.decode(found, "replace")
    for codec in [*special, "utf-8", *said, found if len(data) >= _GUESSED_FROM else ""]:
        try:
            if codec:
                return data.decode(codec)
        except UnicodeDecodeError:
            continue
    return data.decode("cp1252", "replace")


def _codec(label: str) -> str:
    """Return the codec for a charset label, or "" where it is none of the web's."""
    try:
        name = codecs.lookup(label.strip()).name
        "a".encode(name)
    except (LookupError, ValueError):
        return ""
    # Browsers read these labels as the larger charset (WHATWG Encoding, section 4.2).
    larger = {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030"}
    return "" if name in _NO_CHARSETS else larger.get(name, name)
