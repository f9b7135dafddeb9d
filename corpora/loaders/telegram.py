"""Telegram: `result.json` of one chat or of a whole account, alone or in a zip file.

LangChain's loaders drop either formatted messages or the names of the chats.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.loaders.exports import (
    ChatMessage,
    at_iso,
    at_second,
    chat,
    entries,
    json_of,
    latest,
    rows_of,
    text_of,
)


def parse(path: Path) -> Parsed:
    """Read the messages of every chat."""
    blocks: list[Block] = []
    for name, data in entries(path, r"(?:^|/)result\.json$"):
        export = json_of(data, name)
        chats = export.get("chats")
        for one in rows_of(chats.get("list")) if isinstance(chats, dict) else [export]:
            blocks += chat(text_of(one.get("name")) or "Saved messages", _messages(one.get("messages")))
    return Parsed(blocks=tuple(blocks), date=latest(blocks), parted=True)


def _messages(rows: object) -> Iterator[ChatMessage]:
    for row in rows_of(rows):
        if row.get("type") == "message":
            at = at_second(row.get("date_unixtime")) or at_iso(row.get("date"))
            yield ChatMessage(at, text_of(row.get("from")) or "Deleted account", _text(row.get("text")))


def _text(value: Any) -> str:
    """Return a text; a formatted one is a list of texts and of objects with theirs."""
    parts = value if isinstance(value, list) else [value]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str)).strip()
