"""Sort the parts of a message: its text, its files, its invitations and the messages inside it."""

from __future__ import annotations

import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from email.errors import InvalidBase64LengthDefect, InvalidBase64PaddingDefect, MessageDefect
from email.message import EmailMessage
from pathlib import Path
from typing import cast

from ragweave.corpora.decode import as_declared, decode
from ragweave.corpora.formats import html
from ragweave.models.errors import SourceError
from ragweave.models.text import UNSPACED

MAX_PARTS = 500
DEEPEST = 50
"""Parts inside parts that are read."""
_CALENDAR = ("text/calendar", "application/ics")
_STYLES = frozenset(("text/css", "text/javascript", "text/x-amp-html"))
"""Texts for programs."""
_SEALED = frozenset(("application/pkcs7-mime", "application/x-pkcs7-mime"))
_FORMATS = frozenset(("text/rtf", "text/richtext"))
"""Texts that are files of a format of their own."""
_SAME, _HALF = 0.8, 0.5
"""Share of a page's words from which a plain text says the same; the second is for short pages."""
_STUB = 20
"""A page with fewer words is short, and a plain text with fewer words adds nothing to its page."""
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_]+")
_UNDECODED = re.compile("[\udc80-\udcff]")
"""Bytes above 127, which no header should have."""
_WORDS = 20_000
"""Characters of a text whose words are compared."""


@dataclass(slots=True)
class Parts:
    """The parts of one message, without those of messages inside it."""

    texts: list[EmailMessage] = field(default_factory=list)
    files: list[EmailMessage] = field(default_factory=list)
    invitations: list[EmailMessage] = field(default_factory=list)
    messages: list[EmailMessage] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    """What was left out, in words, and how often."""
    cut: bool = False
    """Whether there were more parts than are read."""

    def warnings(self) -> Iterator[str]:
        """Yield what was left out of the message."""
        if self.cut:
            yield f"only the first {MAX_PARTS} parts of a message, and {DEEPEST} levels, were read"
        for what, count in self.left.items():
            yield what if count == 1 else f"{what} ({count} times)"


def parts_of(message: EmailMessage, path: Path) -> Parts:
    """Sort the parts of a message; if a text comes in several forms, take those that say all of it."""
    found = Parts()
    stack = [(message, True, 0)]
    count = 0
    while stack:
        part, wanted, depth = stack.pop()
        count += 1
        if count > MAX_PARTS or depth > DEEPEST:
            found.cut = True
            break
        inner = _inner(part)
        kind = part.get_content_type()
        sealed = _sealed(part)
        if sealed:
            found.left[sealed] += 1
        elif kind in ("message/rfc822", "message/global") and inner:
            found.messages += inner
        elif inner:
            taken = _taken(kind, part, inner, path, found)
            for child in reversed(inner):
                is_text = wanted and (taken is None or child in taken)
                stack.append((child, is_text, depth + 1))
        else:
            _sort(part, wanted, found)
    return found


def _taken(
    kind: str, part: EmailMessage, inner: list[EmailMessage], path: Path, found: Parts
) -> list[EmailMessage] | None:
    """Return which inner parts are the texts to read, None for all of them."""
    if kind == "multipart/alternative":
        return _shown(inner, path)
    if kind != "multipart/related":
        return None
    root = _root(part, inner)
    taken: list[EmailMessage] = []
    frames = 0
    for child in inner:
        if child is root or not (child.get("Content-Location") or child.get("Content-ID")):
            taken.append(child)
        elif child.get_content_type() == "text/html":
            frames += 1
    if frames == 1:
        found.left["1 frame inside the page was left out"] += 1
    elif frames:
        found.left[f"{frames} frames inside the page were left out"] += 1
    return taken


def _root(part: EmailMessage, inner: list[EmailMessage]) -> EmailMessage:
    """Return the part that a group of related parts names as its start, else the first one."""
    start = str(part.get_param("start") or "")
    if start:
        for child in inner:
            if str(child.get("Content-ID", "")).strip() == start:
                return child
    return inner[0]


def _sort(part: EmailMessage, wanted: bool, found: Parts) -> None:
    kind, main = part.get_content_type(), part.get_content_maintype()
    if kind in _CALENDAR:
        words = data_of(part).split()
        known = [data_of(invitation).split() for invitation in found.invitations]
        if words not in known:
            found.invitations.append(part)
    elif part.get_content_disposition() == "attachment" or part.get_filename() or kind in _FORMATS:
        found.files.append(part)
    elif main in ("text", "multipart"):
        if wanted and kind not in _STYLES:
            found.texts.append(part)
    elif main == "image" or data_of(part).strip():
        found.files.append(part)


def _sealed(part: EmailMessage) -> str:
    """Return the warning for a part that only its recipient can open, or ""."""
    kind = part.get_content_type()
    if kind == "multipart/encrypted":
        return "a part of the mail is encrypted, and was not read"
    if kind not in _SEALED:
        return ""
    if str(part.get_param("smime-type") or "").lower() == "signed-data":
        return "a part of the mail is inside its signature (S/MIME), and was not read"
    return "a part of the mail is encrypted (S/MIME), and was not read"


def _shown(parts: list[EmailMessage], path: Path) -> list[EmailMessage]:
    """Return which forms of one text to read: the plain text, the page if it says more, or both."""
    calendars = [part for part in parts if part.get_content_type() in _CALENDAR]
    plain, rich = _plain_text(parts), _page(parts)
    if plain is None or rich is None:
        one = plain or rich or _last_other(parts, calendars)
        return calendars if one is None else [one, *calendars]
    plain_words, page_words = _words(plain, path), _words(rich, path)
    both = len(plain_words & page_words)
    least = _SAME if len(page_words) >= _STUB else _HALF
    if both >= least * len(page_words):
        return [plain, *calendars]
    if len(plain_words) < _STUB or both >= _HALF * len(plain_words):
        return [rich, *calendars]
    return [plain, rich, *calendars]


def _plain_text(parts: list[EmailMessage]) -> EmailMessage | None:
    for part in parts:
        if part.get_content_type() == "text/plain" and data_of(part).strip():
            return part
    return None


def _page(parts: list[EmailMessage]) -> EmailMessage | None:
    """Return the last form that is a page or contains one."""
    for part in parts[::-1]:
        if part.get_content_type() == "text/html" or _holds_page(part):
            return part
    return None


def _last_other(parts: list[EmailMessage], calendars: list[EmailMessage]) -> EmailMessage | None:
    for part in parts[::-1]:
        if part not in calendars:
            return part
    return None


def _holds_page(part: EmailMessage) -> bool:
    return part.is_multipart() and _first_of(part, ("text/html",)) is not None


def _first_of(part: EmailMessage, kinds: Iterable[str]) -> EmailMessage | None:
    """Return the first part of these kinds, None if there is none."""
    for inner in part.walk():
        if inner.get_content_type() in kinds:
            return inner
    return None


def _words(part: EmailMessage, path: Path) -> set[str]:
    """Return the words of a text or page, in lower case."""
    inner = _first_of(part, ("text/plain", "text/html")) or part
    page = None
    if inner.get_content_type() == "text/html" or part is not inner:
        page = _first_of(part, ("text/html",))
    try:
        if page is not None:
            blocks = html.page(data_of(page), path, page.get_content_charset() or "").blocks
            text = "\n".join([block.text for block in blocks])
        else:
            data = data_of(inner)
            text = as_declared(data, inner.get_content_charset() or "") or decode(data, path)
    except SourceError:
        return set()
    return set(map(str.casefold, _WORD.findall(text[:_WORDS])))


def _inner(part: EmailMessage) -> list[EmailMessage]:
    payload = part.get_payload()
    if not isinstance(payload, list):
        return []
    return [child for child in payload if isinstance(child, EmailMessage)]


def header(message: EmailMessage, name: str) -> str:
    """Return a header in one line; one that cannot be decoded is returned as it is written."""
    raw = _raw_header(message, name)
    if _UNDECODED.search(raw):
        return " ".join(decode(raw.encode("utf-8", "surrogateescape"), Path(name)).split())
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, LookupError, AttributeError, OverflowError):  # an hour of 24 digits
        return " ".join(raw.split())


def _raw_header(message: EmailMessage, name: str) -> str:
    for key, value in message.raw_items():
        if key.lower() == name.lower():
            return str(value)
    return ""


def data_of(part: EmailMessage) -> bytes:
    """Return the bytes of a part, decoded."""
    data = cast(bytes, part.get_payload(decode=True) or b"")
    if not _has_defect(part, InvalidBase64LengthDefect):
        return data
    whole = re.sub(rb"[^A-Za-z0-9+/]", b"", data)  # one character too many: nothing was decoded
    return b64decode(whole[: len(whole) // 4 * 4])


def is_cut(part: EmailMessage) -> bool:
    """Return whether the end of an encoded part is missing; call it after `data_of`."""
    return _has_defect(part, InvalidBase64LengthDefect, InvalidBase64PaddingDefect)


def _has_defect(part: EmailMessage, *kinds: type[MessageDefect]) -> bool:
    for defect in part.defects:
        if isinstance(defect, kinds):
            return True
    return False


def ids(message: EmailMessage, names: Iterable[str]) -> list[str]:
    """Return the message ids in the named headers."""
    found: list[str] = []
    for name in names:
        found += re.findall(r"<[^<>\s]+>", header(message, name))
    return found
