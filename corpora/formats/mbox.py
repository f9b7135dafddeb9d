"""Mailboxes (mbox): many mails in one file, each under a heading with its subject."""

from __future__ import annotations

import re
from email import message_from_bytes, policy
from pathlib import Path

from ragweave.corpora.blocks import Parsed
from ragweave.corpora.decode import read_bytes
from ragweave.corpora.formats.eml import ODD, Mail, sent
from ragweave.corpora.layout import PageLook
from ragweave.models.errors import SourceError

MAX_MAILS = 10_000
_FROM = re.compile(rb"^From \S[^\n]{9,300}\n(?=[\w-]+:)", re.M)
_TIME = re.compile(rb"\d\d:\d\d.*\d{4}")
_ESCAPED = re.compile(rb"^>(?=>*From )", re.M)
_MOST_WARNINGS = 20


def parse(path: Path, pictures: PageLook | None = None) -> Parsed:
    """Read the mails of a mailbox; the limit of one mail applies to all attachments together."""
    data = read_bytes(path)
    starts = [m for m in _FROM.finditer(data) if _TIME.search(m[0])]
    if not starts:
        raise SourceError(f"{path.name} is not a mailbox", "save it again from the mail program")
    ends = [m.start() for m in starts[1:]] + [len(data)]
    mail = Mail(path, pictures)
    warnings: list[str] = []
    line, at = 1, 0
    for start, end in list(zip(starts, ends, strict=True))[:MAX_MAILS]:
        line, at = line + data.count(b"\n", at, start.start()), start.start()
        body = _ESCAPED.sub(b"", data[start.end() : end])
        received = sent(b" ".join(start[0].split()[2:]).decode("ascii", "replace"))
        try:
            mail.read(message_from_bytes(body, policy=policy.default), 1, line, received, body, line + 1)
        except ODD as exc:
            warnings.append(f"the mail in line {line} is not readable ({exc})")
    if len(starts) > MAX_MAILS:
        warnings.append(f"only the first {MAX_MAILS} of {len(starts)} mails were read")
    warnings += mail.warnings
    more = len(warnings) - _MOST_WARNINGS
    if more > 0:
        warnings[_MOST_WARNINGS:] = [f"{more} more parts and attachments were not read"]
    last = max((b.date for b in mail.blocks if b.date), default=None)
    return Parsed(
        blocks=tuple(mail.blocks),
        date=last,
        warnings=tuple(warnings),
        hidden=tuple(mail.hidden),
        figures=tuple(mail.figures),
        held=mail.held,
        parted=True,
    )
