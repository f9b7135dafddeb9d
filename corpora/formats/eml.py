"""E-mail (.eml): who wrote what to whom, the text, and the text of what is attached, each under its own heading."""

from __future__ import annotations

import re
import tempfile
from base64 import b64decode
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.errors import CloseBoundaryNotFoundDefect, InvalidBase64LengthDefect, InvalidBase64PaddingDefect
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from pathlib import Path, PurePosixPath
from typing import cast

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.decode import as_declared, decode, read_bytes
from ragweave.corpora.formats import html, text
from ragweave.corpora.formats import parse as parse_file
from ragweave.corpora.formats.probe import PICTURE, probe
from ragweave.corpora.secret import is_secret
from ragweave.models.errors import SourceError

MOST = 20
"""Attachments of one mail that are read; the others are named."""
MOST_BYTES = 32 * 2**20
"""Bytes of all of them together."""
_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_MAX_PARTS = 500
_DEEPEST = 50
"""Parts inside parts that are read."""
_INNERMOST = 5
"""Messages inside messages that are read."""
_ID = re.compile(r"<[^<>\s]+>")
_LEAD = 3
"""Most lines that introduce a quoted mail."""
_REMEMBERED = 100_000
"""Characters of a mail that are known when an answer to it is read."""
_APART = {PICTURE: "it is a picture", "eml": "it is a mail of its own", "mbox": "it is a mailbox of its own"}
"""Kinds of attachments that are not read."""
ODD = (ValueError, LookupError, TypeError, AttributeError, IndexError, KeyError)
"""What the parser of the standard library may raise where a message is malformed."""


def parse(path: Path) -> Parsed:
    """Read a message, what is attached to it, and the messages inside it."""
    mail = Mail(path)
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
    )


class Mail:
    """What is read of messages and of those inside them.

    A text has the lines where it stands in the file; those of attachments would point nowhere, and are dropped. What
    an answer quotes below its text of a mail that was read before is left out.
    """

    def __init__(self, path: Path) -> None:
        self.blocks: list[Block] = []
        self.warnings: list[str] = []
        self.hidden: list[str] = []
        self._path = path
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

        It is of the day when it was sent; where it does not say so, of that when it was `received`. `raw` is what it
        was parsed from, which begins in line `first` of the file; without it the message lies in the one before.
        """
        if raw:
            self._raw, self._at, self._line = raw, 0, first
        headers = {name: _header(message, name) for name in _SHOWN}
        texts, files, messages = self._parts(message)
        if any(isinstance(defect, CloseBoundaryNotFoundDefect) for p in message.walk() for defect in p.defects):
            self._warn("the mail is cut off: it ends before the line that closes its parts")
        if level:
            title = headers["Subject"] or "Message without a subject"
            self.blocks.append(Block(title, "heading", level, line, date=sent(headers["Date"]) or received))
        told = "\n".join(f"{name}: {value}" for name, value in headers.items() if value)
        if told or not level:
            self.blocks.append(Block(told, "list", line=line))
        ids = _ID.findall(" ".join(_header(message, name) for name in ("References", "In-Reply-To")))
        self._answered = next((self._known[i] for i in reversed(ids) if i in self._known), "")
        said = "\n".join(self._text(part, level) for part in texts)
        self._known[_header(message, "Message-ID")] = _unquoted(said.splitlines())[:_REMEMBERED]
        self._open(files, level + 1)
        for inner in messages:
            if level == _INNERMOST:
                self.warnings.append(f"messages inside messages were read {_INNERMOST} deep, and no deeper")
                break
            try:
                self.read(inner, level + 1, 0)
            except ODD as exc:
                self.warnings.append(f"a message inside this one could not be read ({exc})")
        return headers

    def _parts(self, message: EmailMessage) -> tuple[list[EmailMessage], ...]:
        """Return the texts, files and messages in a message, without those of the latter.

        Of the alternatives of a text one is taken, their attachments all.
        """
        texts, files, messages = list[EmailMessage](), list[EmailMessage](), list[EmailMessage]()
        stack = [(message, True, 0)]
        count = 0
        while stack:
            part, wanted, depth = stack.pop()
            count += 1
            if count > _MAX_PARTS or depth > _DEEPEST:
                self.warnings.append(
                    f"only the first {_MAX_PARTS} parts of a message, and {_DEEPEST} levels, were read"
                )
                break
            inner = _inner(part)
            kind = part.get_content_type()
            if kind in ("message/rfc822", "message/global") and inner:
                messages += inner
            elif inner:
                taken = _shown(inner) if kind == "multipart/alternative" else None
                stack += [(p, wanted and taken in (None, p), depth + 1) for p in reversed(inner)]
            elif part.get_content_disposition() == "attachment" or part.get_filename():
                files.append(part)
            elif part.get_content_maintype() in ("text", "multipart") and wanted:
                texts.append(part)
        return texts, files, messages

    def _warn(self, said: str) -> None:
        if said not in self.warnings:
            self.warnings.append(said)

    def _text(self, part: EmailMessage, level: int) -> str:
        """Read a text of a message; return it, if it is a plain one."""
        data, kind = _data(part), part.get_content_type()
        if _is_cut(part):
            self._warn("a part of the mail is cut off, and was read as far as it goes")
        if not data.strip():
            return ""
        said = ""
        if part.get_content_maintype() == "multipart":
            self.warnings.append("the line that parts the message is missing, so all of it was read as one text")
            kind = "text/html" if b"<html" in data[:4096].lower() else "text/plain"
        charset = part.get_content_charset() or ""
        try:
            if kind == "text/html":
                found = html.page(data, self._path, charset)
            else:
                told = as_declared(data, charset)
                said = decode(data, self._path) if told is None else told.replace("\r\n", "\n")
                found = Parsed(blocks=text.blocks(_without_history(said, self._answered)))
        except SourceError as error:
            self.warnings.append(f"a part of the mail was not read: {error.what}")
            return ""
        self.blocks += _below(found.blocks, level, self._places(part, kind == "text/plain"))
        self.hidden += found.hidden
        return said

    def _places(self, part: EmailMessage, plain: bool) -> Callable[[int], int]:
        """Return the line of the file for a line of a text, or 0 where the text is not found.

        Of a quoted-printable text it is that where the line begins, of one that is encoded otherwise the first.
        """
        how = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
        as_it_is = how in ("", "7bit", "8bit", "binary")
        held = _data(part) if as_it_is else str(part.get_payload()).encode("ascii", "replace")
        found = [(n, gap) for gap in (b"\n\n", b"\r\n\r\n") if (n := self._raw.find(gap + held, self._at)) >= 0]
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
            name, data = part.get_filename() or "", _data(part)
            title = " ".join(name.split()) or f"attachment {n + 1}"
            if _is_cut(part):
                self._warn(f"the attachment {title} is cut off")
            self._bytes += len(data)
            if n == MOST or self._bytes > MOST_BYTES:
                left = len(parts) - n
                self.warnings.append(
                    f"{left} attachments from {title} on were not read, there are too many or too large"
                )
                break
            try:
                found = _read(title, data)
            except SourceError as error:
                self.warnings.append(f"the attachment {title} was not read: {error.what}")
                continue
            self.blocks.append(Block(title, "heading", min(level, 6)))
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


def _inner(part: EmailMessage) -> list[EmailMessage]:
    held = part.get_payload()
    return [p for p in held if isinstance(p, EmailMessage)] if isinstance(held, list) else []


def _shown(parts: list[EmailMessage]) -> EmailMessage:
    """Return which of several forms of one text is read: the plain one, else HTML with what belongs to it."""
    plain = (p for p in parts if p.get_content_type() == "text/plain" and _data(p).strip())
    rich = (p for p in reversed(parts) if p.get_content_type() == "text/html" or p.is_multipart())
    return next(plain, None) or next(rich, parts[-1])


def _header(message: EmailMessage, name: str) -> str:
    """Return a header in one line; one that does not decode counts as written."""
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, LookupError, AttributeError, OverflowError):  # an hour of 24 digits
        raw = next((v for k, v in message.raw_items() if k.lower() == name.lower()), "")
        return " ".join(str(raw).split())


def _data(part: EmailMessage) -> bytes:
    data = cast(bytes, part.get_payload(decode=True) or b"")
    if not any(isinstance(defect, InvalidBase64LengthDefect) for defect in part.defects):
        return data
    whole = re.sub(rb"[^A-Za-z0-9+/]", b"", data)  # one sign too many: nothing was decoded
    return b64decode(whole[: len(whole) // 4 * 4])


def _is_cut(part: EmailMessage) -> bool:
    """Tell whether the end of an encoded part is missing, once its data were read."""
    return any(isinstance(d, InvalidBase64LengthDefect | InvalidBase64PaddingDefect) for d in part.defects)


def _read(title: str, data: bytes) -> Parsed:
    last = PurePosixPath(title.replace("\\", "/")).name
    if is_secret(last):
        raise SourceError("its name is that of a key or password file", "leave it out")
    with tempfile.TemporaryDirectory(prefix="ragweave-") as folder:
        # A name of ours: without anything but letters, digits and a few marks.
        path = Path(folder) / (re.sub(r"[^\w. -]", "_", last)[-80:].lstrip(". -") or "attachment")
        path.write_bytes(data)
        kind = probe(path)
        if kind in _APART:
            raise SourceError(_APART[kind], "save it as a file")
        return parse_file(path, kind)


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
