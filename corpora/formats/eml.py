"""E-mail (.eml): who wrote what to whom, the text, and the text of what is attached, each under its own heading."""

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
"""Attachments of one mail that are read; the others are named."""
MOST_BYTES = 32 * 2**20
"""Bytes of all of them together."""
_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_INNERMOST = 5
"""Messages inside messages that are read."""
_ARMOUR = re.compile(r"-----BEGIN PGP MESSAGE-----.*?(?:-----END PGP MESSAGE-----|\Z)", re.S)
_LEAD = 3
"""Most lines that introduce a quoted mail."""
_REMEMBERED = 100_000
"""Characters of a mail that are known when an answer to it is read."""
ODD = (ValueError, LookupError, TypeError, AttributeError, IndexError, KeyError)
"""What the parser of the standard library may raise where a message is malformed."""


def parse(path: Path, pictures: PageLook | None = None) -> Parsed:
    """Read a message, what is attached to it, and the messages inside it; `pictures` looks at scans among the files."""
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
    """What is read of messages and of those inside them.

    A text has the lines where it stands in the file; those of attachments would point nowhere, and are
    dropped. What an answer quotes below its text of a mail that was read before is left out.
    """

    def __init__(self, path: Path, pictures: PageLook | None = None) -> None:
        self.blocks: list[Block] = []
        self.figures: list[Figure] = []
        self.held: dict[str, bytes] = {}
        """Bytes of pictures that are attached, by what figures call them."""
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

        It is of the day when it was sent; where it does not say so, of that when it was `received`. `raw` is
        what it was parsed from, which begins in line `first` of the file; without it the message lies in the
        one before.
        """
        if raw:
            self._raw, self._at, self._line = raw, 0, first
        headers = {name: header(message, name) for name in _SHOWN}
        parts = parts_of(message, self._path)
        self.warnings += parts.warnings()
        if any(
            isinstance(defect, CloseBoundaryNotFoundDefect) for p in message.walk() for defect in p.defects
        ):
            self._warn("the mail is cut off: it ends before the line that closes its parts")
        if level:
            title = headers["Subject"] or "Message without a subject"
            self.blocks.append(Block(title, "heading", level, line, date=sent(headers["Date"]) or received))
        told = "\n".join(f"{name}: {value}" for name, value in headers.items() if value)
        if told or not level:
            self.blocks.append(Block(told, "list", line=line))
        answered = ids(message, ("References", "In-Reply-To"))
        self._answered = next((self._known[i] for i in reversed(answered) if i in self._known), "")
        said = "\n".join(self._text(part, level) for part in parts.texts)
        self._known[header(message, "Message-ID")] = _unquoted(said.splitlines())[:_REMEMBERED]
        for part in parts.invitations:
            self._invited(part, level)
        self._open(parts.files, level + 1)
        for inner in parts.messages:
            if level == _INNERMOST:
                self.warnings.append(f"messages inside messages were read {_INNERMOST} deep, and no deeper")
                break
            try:
                self.read(inner, level + 1, 0)
            except ODD as exc:
                self.warnings.append(f"a message inside this one could not be read ({exc})")
        return headers

    def _warn(self, said: str) -> None:
        if said not in self.warnings:
            self.warnings.append(said)

    def _text(self, part: EmailMessage, level: int) -> str:
        """Read a text of a message; return it, if it is a plain one."""
        data, kind = data_of(part), part.get_content_type()
        if is_cut(part):
            self._warn("a part of the mail is cut off, and was read as far as it goes")
        if not data.strip():
            return ""
        said = ""
        if part.get_content_maintype() == "multipart":
            self.warnings.append(
                "the line that parts the message is missing, so all of it was read as one text"
            )
            kind = "text/html" if b"<html" in data[:4096].lower() else "text/plain"
        charset = part.get_content_charset() or ""
        try:
            if kind == "text/html":
                found = html.page(data, self._path, charset)
            else:
                told = as_declared(data, charset)
                said = decode(data, self._path) if told is None else told.replace("\r\n", "\n")
                said, sealed = _ARMOUR.subn("", said)
                if sealed:
                    self._warn("a text of the mail is encrypted (PGP), and was not read")
                found = Parsed(blocks=text.blocks(_without_history(said, self._answered)))
        except SourceError as error:
            self.warnings.append(f"a part of the mail was not read: {error.what}")
            return ""
        self.blocks += _below(found.blocks, level, self._places(part, kind == "text/plain"))
        self.hidden += found.hidden
        self.warnings += [w for w in found.warnings if w not in self.warnings]
        return said

    def _invited(self, part: EmailMessage, level: int) -> None:
        """Read an invitation: what, when, where and who."""
        data = data_of(part)
        try:
            told = as_declared(data, part.get_content_charset() or "")
            found = ics.read(decode(data, self._path) if told is None else told, self._path)
        except SourceError as error:
            self.warnings.append(f"an invitation was not read: {error.what}")
            return
        self.blocks += _below(found.blocks, level)

    def _places(self, part: EmailMessage, plain: bool) -> Callable[[int], int]:
        """Return the line of the file for a line of a text, or 0 where the text is not found.

        Of a quoted-printable text it is that where the line begins, of one that is encoded otherwise the
        first.
        """
        how = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
        as_it_is = how in ("", "7bit", "8bit", "binary")
        held = data_of(part) if as_it_is else str(part.get_payload()).encode("ascii", "replace")
        found = [
            (n, gap) for gap in (b"\n\n", b"\r\n\r\n") if (n := self._raw.find(gap + held, self._at)) >= 0
        ]
        if not found:
            self._at = len(self._raw)  # nothing is looked for twice: a file may hold hundreds of parts
            return lambda _: 0
        at = min(n + len(gap) for n, gap in found)
        self._line += self._raw.count(b"\n", self._at, at)
        self._at = at
        first = self._line
        if not (plain and (as_it_is or how == "quoted-printable")):
            return lambda _: first
        rows = enumerate(held.splitlines(), 1)
        begins = [0, *(n for n, row in rows if as_it_is or not row.rstrip().endswith(b"="))]
        return lambda line: first + begins[max(0, min(line, len(begins)) - 1)]

    def _open(self, parts: list[EmailMessage], level: int) -> None:
        """Read the files that are attached, each under a heading with its name, and tell what could not be read."""
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
            self.figures += [replace(f, at=f.at + len(self.blocks)) for f in found.figures]
            self.held |= found.held
            self.blocks += _below(found.blocks, level)
            self.warnings += [f"of the attachment {title}: {warning}" for warning in found.warnings]
            self.hidden += found.hidden


def _without_history(said: str, answered: str) -> str:
    """Return a text without the mail that it answers, quoted at its end, and without what introduces that there."""
    lines = said.rstrip().split("\n")
    own = len(lines)
    while own and (lines[own - 1].startswith(">") or not lines[own - 1].strip()):
        own -= 1
    quoted = _unquoted(lines[own:])
    if not quoted or quoted not in answered:
        return said
    lead = own
    while lead and lines[lead - 1].strip() and own - lead <= _LEAD:
        lead -= 1
    if own - lead <= _LEAD and lines[own - 1].rstrip().endswith(":"):
        own = lead
    return "\n".join(lines[:own]) if any(map(str.strip, lines[:own])) else said


def _unquoted(lines: Iterable[str]) -> str:
    """Return the words of lines without the signs of quotation, whatever their breaks."""
    return " ".join(" ".join(line.lstrip("> \t") for line in lines).split())


def sent(said: str) -> datetime | None:
    """Return the time that a header `Date` says."""
    try:
        when = parsedate_to_datetime(said) if said else None
    except (ValueError, OverflowError):
        return None
    return when.replace(tzinfo=UTC) if when is not None and when.tzinfo is None else when


def _below(blocks: Iterable[Block], level: int, place: Callable[[int], int] = lambda _: 0) -> list[Block]:
    """Return blocks, their headings below one of that level, with the `place` of each of their lines in the file."""
    return [
        Block(
            b.text,
            b.kind,
            min(b.level + level, 6) if b.kind == "heading" else b.level,
            place(b.line),
            spans=tuple(replace(s, line=line) for s in b.spans if (line := place(s.line))),
        )
        for b in blocks
    ]
