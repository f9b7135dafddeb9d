"""Read e-mails (.eml): their headers, their text, and each attachment under its own heading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.errors import CloseBoundaryNotFoundDefect
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from pathlib import Path

from ragweave.corpora.blocks import Block, Figure, Parsed
from ragweave.corpora.decode import as_declared, decode, read_bytes
from ragweave.corpora.formats import attached, html, ics, text
from ragweave.corpora.formats.mailparts import data_of, header, ids, is_cut, parts_of
from ragweave.corpora.layout import PageLook
from ragweave.models.errors import SourceError

MOST = 20
"""Attachments of one mail that are read; a warning names the others."""
MOST_BYTES = 32 * 2**20
"""Bytes of all attachments together that are read."""
_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_INNERMOST = 5
"""Messages inside messages that are read."""
_ARMOUR = re.compile(r"-----BEGIN PGP MESSAGE-----.*?(?:-----END PGP MESSAGE-----|\Z)", re.S)
_LEAD = 3
"""Most lines that introduce a quoted mail."""
_REMEMBERED = 100_000
"""Characters of a mail that are remembered to find them quoted in an answer."""
ODD = (ValueError, LookupError, TypeError, AttributeError, IndexError, KeyError)
"""What the parser of the standard library may raise if a message is malformed."""


def parse(path: Path, pictures: PageLook | None = None) -> Parsed:
    """Read a message, its attachments and the messages inside it; `pictures` reads attached scans."""
    mail = Mail(path, pictures)
    try:
        data = read_bytes(path)
        headers = mail.read(message_from_bytes(data, policy=policy.default), raw=data)
    except ODD as exc:
        raise SourceError(
            f"{path.name} is not a readable e-mail ({exc})", "save it again from the mail program"
        ) from exc
    return Parsed(
        headers["Subject"],
        tuple(mail.blocks),
        sent(headers["Date"]),
        headers["From"],
        warnings=tuple(mail.warnings),
        hidden=tuple(mail.hidden),
        figures=tuple(mail.figures),
        held=mail.held,
    )


class Mail:
    """Collects what messages and the messages inside them say.

    A text keeps its lines in the file. Lines of attachments would point nowhere and are dropped. If an answer
    quotes at its end a mail that was read before, the quotation is left out.
    """

    def __init__(self, path: Path, pictures: PageLook | None = None) -> None:
        self.blocks: list[Block] = []
        self.figures: list[Figure] = []
        self.held: dict[str, bytes] = {}
        """Bytes of attached pictures, by the `ref` of their figures."""
        self.warnings: list[str] = []
        self.hidden: list[str] = []
        self._path = path
        self._pictures = pictures
        self._files = 0
        self._bytes = 0
        self._known: dict[str, str] = {}
        self._answered = ""
        self._raw, self._at, self._line = b"", 0, 1

    def read(
        self,
        message: EmailMessage,
        level: int = 0,
        line: int = 1,
        received: datetime | None = None,
        raw: bytes = b"",
        first: int = 1,
    ) -> dict[str, str]:
        """Read a message, under a heading of that level unless it is 0, and return its headers.

        Its date is the day when it was sent, or `received` if it does not say. `raw` are the bytes that it
        was parsed from, which begin in line `first` of the file; without them, it is part of the message
        before.
        """
        if raw:
            self._raw, self._at, self._line = raw, 0, first
        headers = {name: header(message, name) for name in _SHOWN}
        parts = parts_of(message, self._path)
        self.warnings += parts.warnings()
        if _lacks_end(message):
            self._warn("the mail is cut off: it ends before the line that closes its parts")
        if level:
            title = headers["Subject"] or "Message without a subject"
            self.blocks.append(Block(title, "heading", level, line, date=sent(headers["Date"]) or received))
        lines = [f"{name}: {value}" for name, value in headers.items() if value]
        head = "\n".join(lines)
        if head or not level:
            self.blocks.append(Block(head, "list", line=line))
        self._answered = self._known_text(ids(message, ("References", "In-Reply-To")))
        texts = [self._text(part, level) for part in parts.texts]
        text = "\n".join(texts)
        self._known[header(message, "Message-ID")] = _unquoted(text.splitlines())[:_REMEMBERED]
        for part in parts.invitations:
            self._invited(part, level)
        self._open(parts.files, level + 1)
        self._read_inner(parts.messages, level)
        return headers

    def _known_text(self, answered: list[str]) -> str:
        """Return the text of the last of these mails that was read, or ""."""
        for id in reversed(answered):
            if id in self._known:
                return self._known[id]
        return ""

    def _read_inner(self, messages: list[EmailMessage], level: int) -> None:
        """Read the messages inside a message."""
        for message in messages:
            if level == _INNERMOST:
                self.warnings.append(f"messages inside messages were read {_INNERMOST} deep, and no deeper")
                break
            try:
                self.read(message, level + 1, 0)
            except ODD as exc:
                self.warnings.append(f"a message inside this one could not be read ({exc})")

    def _warn(self, warning: str) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)

    def _text(self, part: EmailMessage, level: int) -> str:
        """Read a text of a message; return it if it is plain text."""
        data, kind = data_of(part), part.get_content_type()
        if is_cut(part):
            self._warn("a part of the mail is cut off, and was read as far as it goes")
        if not data.strip():
            return ""
        if part.get_content_maintype() == "multipart":
            self.warnings.append(
                "the line that parts the message is missing, so all of it was read as one text"
            )
            kind = "text/html" if b"<html" in data[:4096].lower() else "text/plain"
        plain = ""
        try:
            if kind == "text/html":
                found = html.page(data, self._path, part.get_content_charset() or "")
            else:
                plain = self._plain(part, data)
                found = Parsed(blocks=text.blocks(_without_history(plain, self._answered)))
        except SourceError as error:
            self.warnings.append(f"a part of the mail was not read: {error.what}")
            return ""
        self.blocks += _below(found.blocks, level, self._places(part, kind == "text/plain"))
        self.hidden += found.hidden
        for warning in found.warnings:
            self._warn(warning)
        return plain

    def _plain(self, part: EmailMessage, data: bytes) -> str:
        """Return a plain text without what is encrypted in it."""
        declared = as_declared(data, part.get_content_charset() or "")
        plain = decode(data, self._path) if declared is None else declared.replace("\r\n", "\n")
        plain, sealed = _ARMOUR.subn("", plain)
        if sealed:
            self._warn("a text of the mail is encrypted (PGP), and was not read")
        return plain

    def _invited(self, part: EmailMessage, level: int) -> None:
        """Read an invitation: its subject, time, place and people."""
        data = data_of(part)
        try:
            declared = as_declared(data, part.get_content_charset() or "")
            found = ics.read(decode(data, self._path) if declared is None else declared, self._path)
        except SourceError as error:
            self.warnings.append(f"an invitation was not read: {error.what}")
            return
        self.blocks += _below(found.blocks, level)

    def _places(self, part: EmailMessage, plain: bool) -> Callable[[int], int]:
        """Return a function from a line of a text to its line in the file, 0 if the text is not found.

        For a quoted-printable text, it gives the line in which the text's line begins; for one with another
        encoding, the first line.
        """
        encoding = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
        as_it_is = encoding in ("", "7bit", "8bit", "binary")
        payload = data_of(part) if as_it_is else str(part.get_payload()).encode("ascii", "replace")
        at = self._find(payload)
        if at < 0:
            self._at = len(self._raw)  # searches nothing twice: a file may have hundreds of parts
            return lambda _: 0
        self._line += self._raw.count(b"\n", self._at, at)
        self._at = at
        first = self._line
        if not plain or not (as_it_is or encoding == "quoted-printable"):
            return lambda _: first
        begins = [0]
        for n, row in enumerate(payload.splitlines(), 1):
            if as_it_is or not row.rstrip().endswith(b"="):
                begins.append(n)
        return lambda line: first + begins[max(0, min(line, len(begins)) - 1)]

    def _find(self, payload: bytes) -> int:
        """Return where a payload begins in the bytes of the message, -1 if it is not there."""
        starts = []
        for gap in (b"\n\n", b"\r\n\r\n"):
            at = self._raw.find(gap + payload, self._at)
            if at >= 0:
                starts.append(at + len(gap))
        return min(starts, default=-1)

    def _open(self, parts: list[EmailMessage], level: int) -> None:
        """Read the attachments, each under a heading with its name; warn of those that could not be read."""
        for n, part in enumerate(parts):
            name, data = part.get_filename() or "", data_of(part)
            title = " ".join(name.split()) or f"attachment {n + 1}"
            if is_cut(part):
                self._warn(f"the attachment {title} is cut off")
            self._bytes += len(data)
            if n == MOST or self._bytes > MOST_BYTES:
                left = len(parts) - n
                self.warnings.append(
                    f"{left} attachments from {title} on were not read, there are too many or too large"
                )
                break
            self._files += 1
            try:
                found = attached.read(title, data, self._files, self._pictures)
            except SourceError as error:
                self.warnings.append(f"the attachment {title} was not read: {error.what}")
                continue
            self.blocks.append(Block(title, "heading", min(level, 6)))
            for figure in found.figures:
                self.figures.append(replace(figure, at=figure.at + len(self.blocks)))
            for warning in found.warnings:
                self.warnings.append(f"of the attachment {title}: {warning}")
            self.held |= found.held
            self.blocks += _below(found.blocks, level)
            self.hidden += found.hidden


def _lacks_end(message: EmailMessage) -> bool:
    """Return whether the boundary that ends a message is missing."""
    for part in message.walk():
        if CloseBoundaryNotFoundDefect in map(type, part.defects):
            return True
    return False


def _without_history(text: str, answered: str) -> str:
    """Return a text without the quotation, at its end, of the mail that it answers."""
    lines = text.rstrip().split("\n")
    own = len(lines)
    while own and (lines[own - 1].startswith(">") or not lines[own - 1].strip()):
        own -= 1
    quoted = _unquoted(lines[own:])
    if not quoted or quoted not in answered:
        return text
    lead = own
    while lead and lines[lead - 1].strip() and own - lead <= _LEAD:
        lead -= 1
    if own - lead <= _LEAD and lines[own - 1].rstrip().endswith(":"):
        own = lead
    kept = "\n".join(lines[:own])
    return kept if kept.strip() else text


def _unquoted(lines: Iterable[str]) -> str:
    """Return the words of lines without quotation marks and line breaks."""
    words: list[str] = []
    for line in lines:
        words += line.lstrip("> \t").split()
    return " ".join(words)


def sent(date: str) -> datetime | None:
    """Return the time in a header `Date`, None if it holds none."""
    try:
        when = parsedate_to_datetime(date) if date else None
    except (ValueError, OverflowError):
        return None
    if when is not None and when.tzinfo is None:
        return when.replace(tzinfo=UTC)
    return when


def _below(blocks: Iterable[Block], level: int, place: Callable[[int], int] = lambda _: 0) -> list[Block]:
    """Return blocks with their headings below `level` and with their lines in the file, by `place`."""
    below = []
    for block in blocks:
        spans = []
        for span in block.spans:
            line = place(span.line)
            if line:
                spans.append(replace(span, line=line))
        depth = min(block.level + level, 6) if block.kind == "heading" else block.level
        below.append(Block(block.text, block.kind, depth, place(block.line), spans=tuple(spans)))
    return below
