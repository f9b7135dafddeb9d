"""What exports have in common: entries of a zip file, JSON from strangers, chats as windows of messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Block
from ragweave.corpora.decode import read_bytes
from ragweave.corpora.pieces import size
from ragweave.corpora.types import Span
from ragweave.models.errors import SourceError

WINDOW_WORDS = 150
"""Words of a window of messages, which becomes one paragraph."""
_PAUSE, _LEAST = 3 * 3600.0, 40
"""Seconds without a message after which a new window opens, and the words that it must have by then."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a chat; `line` is its first in the file, or 0."""

    at: datetime | None
    speaker: str
    text: str
    line: int = 0


def entries(path: Path, form: str) -> Iterator[tuple[str, bytes]]:
    """Yield the entries of a zip file whose names match, or the file itself if it is no zip."""
    if not _is_zip(path):
        yield path.name, read_bytes(path)
        return
    with Archive(path) as archive:
        for name in _own(archive):
            if re.search(form, name):
                yield name, archive.read(name)


def names_of(path: Path) -> list[str]:
    """Return the names of the files in a zip file; none of any other."""
    if not _is_zip(path):
        return []
    with Archive(path) as archive:
        return [name for name in _own(archive) if not name.endswith("/")]


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _own(archive: Archive) -> list[str]:
    return [name for name in archive.names if not name.startswith("__MACOSX/")]


def json_of(data: bytes, name: str) -> Any:
    """Return the value of JSON; SourceError if it is broken."""
    try:
        return json.loads(data)
    except ValueError:
        raise SourceError(f"{name} holds broken JSON", "export it again") from None


def rows_of(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list, and nothing of anything else."""
    if not isinstance(value, list):
        return []
    return [row for row in value if isinstance(row, dict)]


def fields_of(value: object) -> dict[str, Any]:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def text_of(value: object) -> str:
    """Return a text, "" for anything else."""
    return value.strip() if isinstance(value, str) else ""


def at_second(value: object) -> datetime | None:
    """Return the time of a number of seconds since 1970, as a number or a text."""
    try:
        return datetime.fromtimestamp(float(str(value)), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def at_iso(value: object) -> datetime | None:
    """Return the time of ISO 8601; one without a zone counts as UTC."""
    try:
        when = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def chat(name: str, messages: Iterable[ChatMessage]) -> list[Block]:
    """Return a chat as blocks: a heading for each month, one for each window, messages with speakers.

    A document is thus a month of a chat, and a paragraph a stretch of the talk.
    """
    dated = [message for message in messages if message.text]
    dated.sort(key=lambda m: m.at.timestamp() if m.at else 0.0)
    blocks = []
    for month, part in groupby(dated, key=lambda m: f"{m.at:%Y-%m}" if m.at else ""):
        windows = list(_windows(part))
        title = ", ".join(filter(None, (name, month)))
        blocks.append(Block(title, "heading", 1, date=windows[-1][-1].at))
        for window in windows:
            when = _span(window)
            if when:
                blocks.append(Block(when, "heading", 2, line=window[0].line, date=window[-1].at))
            blocks.append(_block(window))
    return blocks


def below(blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks of a note without places, their headings one level lower."""
    lowered = []
    for block in blocks:
        level = min(block.level + 1, 6) if block.kind == "heading" else block.level
        lowered.append(replace(block, level=level, line=0, spans=()))
    return lowered


def latest(blocks: Iterable[Block]) -> datetime | None:
    """Return the last date of headings."""
    dates = [block.date for block in blocks if block.date]
    return max(dates, default=None)


def _windows(messages: Iterable[ChatMessage]) -> Iterator[list[ChatMessage]]:
    window: list[ChatMessage] = []
    words = 0.0
    for message in messages:
        before = window[-1].at if window else None
        paused = before and message.at and (message.at - before).total_seconds() > _PAUSE and words >= _LEAST
        more = size(message.text)
        if window and (paused or words + more > WINDOW_WORDS):
            yield window
            window, words = [], 0.0
        window.append(message)
        words += more
    if window:
        yield window


def _span(window: list[ChatMessage]) -> str:
    first, last = window[0].at, window[-1].at
    if first is None or last is None:
        return ""
    if first == last:
        return f"{first:%Y-%m-%d %H:%M}"
    until = f"{last:%H:%M}" if first.date() == last.date() else f"{last:%Y-%m-%d %H:%M}"
    return f"{first:%Y-%m-%d %H:%M} to {until}"


def _block(window: list[ChatMessage]) -> Block:
    text, spans = "", []
    for message in window:
        when = f"[{message.at:%Y-%m-%d %H:%M}] " if message.at else ""
        text += "\n" if text else ""
        start = len(text)
        text += when + (f"{message.speaker}: " if message.speaker else "") + message.text
        if message.line:
            spans.append(Span(start, len(text), message.line))
    return Block(text, "list", line=window[0].line, spans=tuple(spans))
