"""Which parts of a message are read as its text, its files, its invitations and the messages inside it."""

from __future__ import annotations

import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from email.errors import InvalidBase64LengthDefect, InvalidBase64PaddingDefect
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
"""Share of the words of a page that are in the plain text, from which both say the same, and that of a short page."""
_STUB = 20
"""Words below which a page is short, and a plain text says nothing beside its page."""
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_]+")
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
    """Sort the parts of a message; of the forms of one text those are taken that say all of it."""
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
        if why := _sealed(part):
            found.left[why] += 1
        elif kind in ("message/rfc822", "message/global") and inner:
            found.messages += inner
        elif inner:
            taken = _taken(kind, part, inner, path, found)
            stack += [(p, wanted and (taken is None or p in taken), depth + 1) for p in reversed(inner)]
        else:
            _sort(part, wanted, found)
    return found


def _taken(
    kind: str, part: EmailMessage, inner: list[EmailMessage], path: Path, found: Parts
) -> list[EmailMessage] | None:
    """Return which inner parts are texts that are wanted, None for all of them."""
    if kind == "multipart/alternative":
        return _shown(inner, path)
    if kind != "multipart/related":
        return None
    start = str(part.get_param("start") or "")
    root = next((p for p in inner if start and str(p.get("Content-ID", "")).strip() == start), inner[0])
    others = [p for p in inner if p is not root]
    framed = [p for p in others if p.get("Content-Location") or p.get("Content-ID")]
    frames = [p for p in framed if p.get_content_type() == "text/html"]
    if frames:
        found.left[
            (
                "1 frame inside the page was left out"
                if len(frames) == 1
                else f"{len(frames)} frames inside the page were left out"
            )
        ] += 1
    return [p for p in inner if p not in framed]


def _sort(part: EmailMessage, wanted: bool, found: Parts) -> None:
    kind, main = part.get_content_type(), part.get_content_maintype()
    if kind in _CALENDAR:
        if all(data_of(p).split() != data_of(part).split() for p in found.invitations):
            found.invitations.append(part)
    elif part.get_content_disposition() == "attachment" or part.get_filename() or kind in _FORMATS:
        found.files.append(part)
    elif main in ("text", "multipart"):
        if wanted and kind not in _STYLES:
            found.texts.append(part)
    elif main == "image" or data_of(part).strip():
        found.files.append(part)


def _sealed(part: EmailMessage) -> str:
    """Return what is said of a part that only its recipient can open, or ""."""
    kind = part.get_content_type()
    if kind == "multipart/encrypted":
        return "a part of the mail is encrypted, and was not read"
    if kind not in _SEALED:
        return ""
    if str(part.get_param("smime-type") or "").lower() == "signed-data":
        return "a part of the mail is inside its signature (S/MIME), and was not read"
    return "a part of the mail is encrypted (S/MIME), and was not read"


def _shown(parts: list[EmailMessage], path: Path) -> list[EmailMessage]:
    """Return which of several forms of one text are read: the plain one, the page where it says more, or both."""
    plain = next((p for p in parts if p.get_content_type() == "text/plain" and data_of(p).strip()), None)
    rich = next((p for p in reversed(parts) if p.get_content_type() == "text/html" or _holds_page(p)), None)
    calendars = [p for p in parts if p.get_content_type() in _CALENDAR]
    if plain is None or rich is None:
        one = plain or rich or next((p for p in reversed(parts) if p not in calendars), None)
        return [*([one] if one is not None else []), *calendars]
    said, shown = _words(plain, path), _words(rich, path)
    least = _SAME if len(shown) >= _STUB else _HALF
    if sum(w in said for w in shown) >= least * len(shown):
        return [plain, *calendars]
    if len(said) < _STUB or sum(w in shown for w in said) >= _HALF * len(said):
        return [rich, *calendars]
    return [plain, rich, *calendars]


def _holds_page(part: EmailMessage) -> bool:
    return part.is_multipart() and any(p.get_content_type() == "text/html" for p in part.walk())


def _words(part: EmailMessage, path: Path) -> set[str]:
    """Return the words of a text or page, in lower case."""
    inner = next((p for p in part.walk() if p.get_content_type() in ("text/plain", "text/html")), part)
    data, charset = data_of(inner), inner.get_content_charset() or ""
    try:
        if inner.get_content_type() == "text/html" or (part is not inner and _holds_page(part)):
            page = next((p for p in part.walk() if p.get_content_type() == "text/html"), inner)
            blocks = html.page(data_of(page), path, page.get_content_charset() or "").blocks
            text = "\n".join(b.text for b in blocks)
        else:
            text = as_declared(data, charset) or decode(data, path)
    except SourceError:
        return set()
    return {w.casefold() for w in _WORD.findall(text[:_WORDS])}


def _inner(part: EmailMessage) -> list[EmailMessage]:
    held = part.get_payload()
    return [p for p in held if isinstance(p, EmailMessage)] if isinstance(held, list) else []


def header(message: EmailMessage, name: str) -> str:
    """Return a header in one line; one that does not decode counts as written."""
    raw = next((str(v) for k, v in message.raw_items() if k.lower() == name.lower()), "")
    if any("\udc80" <= c <= "\udcff" for c in raw):  # bytes above 127, which no header should hold
        return " ".join(decode(raw.encode("utf-8", "surrogateescape"), Path(name)).split())
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, LookupError, AttributeError, OverflowError):  # an hour of 24 digits
        return " ".join(raw.split())


def data_of(part: EmailMessage) -> bytes:
    """Return the bytes of a part, decoded."""
    data = cast(bytes, part.get_payload(decode=True) or b"")
    if not any(isinstance(defect, InvalidBase64LengthDefect) for defect in part.defects):
        return data
    whole = re.sub(rb"[^A-Za-z0-9+/]", b"", data)  # one sign too many: nothing was decoded
    return b64decode(whole[: len(whole) // 4 * 4])


def is_cut(part: EmailMessage) -> bool:
    """Tell whether the end of an encoded part is missing, once its data were read."""
    return any(isinstance(d, InvalidBase64LengthDefect | InvalidBase64PaddingDefect) for d in part.defects)


def ids(message: EmailMessage, names: Iterable[str]) -> list[str]:
    """Return the ids of messages in headers."""
    return re.findall(r"<[^<>\s]+>", " ".join(header(message, name) for name in names))
