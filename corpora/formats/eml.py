"""E-mail (.eml): who wrote what to whom, the text, and the text of what is attached, each under its own heading."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from pathlib import Path, PurePosixPath
from typing import cast

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.decode import decode, read_bytes
from ragweave.corpora.formats import html, text
from ragweave.corpora.formats import parse as parse_file
from ragweave.corpora.formats.probe import PICTURE, probe
from ragweave.models.errors import SourceError

MOST = 20
"""Attachments of one mail that are read; the others are named."""
MOST_BYTES = 32 * 2**20
"""Bytes of all of them together."""
_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_MAX_PARTS = 500


def parse(path: Path) -> Parsed:
    """Read a message and what is attached to it."""
    try:
        message = message_from_bytes(read_bytes(path), policy=policy.default)
        headers = {name: _header(message, name) for name in _SHOWN}
        parts = [p for _, p in zip(range(_MAX_PARTS), message.walk(), strict=False) if not p.is_multipart()]
        attached = [p for p in parts if p.get_content_disposition() == "attachment" or p.get_filename()]
        bodies = [p for p in parts if p not in attached and p.get_content_maintype() == "text"]
        files = [(p.get_filename() or "", _data(p)) for p in attached]
    except (ValueError, LookupError, TypeError, AttributeError, IndexError, KeyError) as exc:
        raise SourceError(
            f"{path.name} is not a readable e-mail ({exc})", "save it again from the mail program"
        ) from exc
    blocks = [Block("\n".join(f"{n}: {v}" for n, v in headers.items() if v), "list", line=1)]
    plain = [p for p in bodies if p.get_content_type() == "text/plain"]
    hidden: tuple[str, ...] = ()
    for part in plain or [p for p in bodies if p.get_content_type() == "text/html"]:
        found, unseen = _body(_data(part), part.get_content_charset() or "", part.get_content_type(), path)
        blocks += found
        hidden += unseen
    inside, warnings = opened(files)
    blocks += inside
    try:
        date = parsedate_to_datetime(headers["Date"]) if headers["Date"] else None
    except (ValueError, OverflowError):
        date = None
    return Parsed(headers["Subject"], tuple(blocks), date, headers["From"], warnings=warnings, hidden=hidden)


def _header(message: EmailMessage, name: str) -> str:
    """Return a header in one line; one that does not decode counts as written."""
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, LookupError, AttributeError, OverflowError):  # an hour of 24 digits
        raw = next((v for k, v in message.raw_items() if k.lower() == name.lower()), "")
        return " ".join(str(raw).split())


def _data(part: EmailMessage) -> bytes:
    return cast(bytes, part.get_payload(decode=True) or b"")


def _body(data: bytes, charset: str, kind: str, path: Path) -> tuple[list[Block], tuple[str, ...]]:
    """Return the blocks of a body, and what of it nobody sees.

    Places inside an encoded message would point nowhere, and are dropped.
    """
    hidden: tuple[str, ...] = ()
    if not data.strip():
        return [], hidden
    if kind == "text/html":
        page = html.page(data, path)
        found, hidden = page.blocks, page.hidden
    else:
        try:
            found = text.blocks(data.decode(charset).replace("\r\n", "\n"))
        except (LookupError, ValueError):
            found = text.blocks(decode(data, path))
    return [Block(b.text, b.kind, b.level) for b in found], hidden


def opened(files: Sequence[tuple[str, bytes]]) -> tuple[list[Block], tuple[str, ...]]:
    """Return the blocks of the files, each under a heading with its name, and what could not be read.

    Places inside a file that lies inside another would point nowhere, and are dropped.
    """
    blocks: list[Block] = []
    warnings: list[str] = []
    size = 0
    for n, (name, data) in enumerate(files):
        title = " ".join(name.split()) or f"attachment {n + 1}"
        size += len(data)
        if n == MOST or size > MOST_BYTES:
            warnings.append(
                f"{len(files) - n} attachments from {title} on were not read, there are too many or too large"
            )
            break
        try:
            found = _read(_safe(title), data)
        except SourceError as error:
            warnings.append(f"the attachment {title} was not read: {error.what}")
            continue
        blocks.append(Block(title, "heading", 1))
        blocks += found
    return blocks, tuple(warnings)


def _read(name: str, data: bytes) -> list[Block]:
    with tempfile.TemporaryDirectory(prefix="ragweave-") as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        kind = probe(path)
        if kind == PICTURE:
            raise SourceError("it is a picture", "save it as a file")
        if kind == "eml":
            raise SourceError("it is a mail of its own", "save it as a file")
        return [
            Block(b.text, b.kind, min(b.level + 1, 6) if b.kind == "heading" else b.level)
            for b in parse_file(path, kind).blocks
        ]


def _safe(name: str) -> str:
    """Return a name for a file of ours: the last part, without anything but letters, digits and a few marks."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return re.sub(r"[^\w. -]", "_", last)[-80:].lstrip(". -") or "attachment"
