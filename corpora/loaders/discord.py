"""Discord: a channel as the usual exporter writes it to JSON, or the zip file of one's own messages.

LangChain's loader takes a table of pandas, and makes the ids of people its text.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.loaders.exports import (
    ChatMessage,
    at_iso,
    chat,
    entries,
    fields_of,
    json_of,
    latest,
    rows_of,
    text_of,
)

_OWN = r"(?:^|/)(?:messages/c?\d+/(?:messages|channel)|account/user)\.json$"


def parse(path: Path) -> Parsed:
    """Read the messages of every channel."""
    blocks: list[Block] = []
    channels: dict[str, str] = {}
    own: dict[str, object] = {}
    account = "me"
    for name, data in entries(path, _OWN):
        value, place = json_of(data, name), PurePosixPath(name)
        if isinstance(value, list):
            own[place.parent.name] = value
        elif "messages" in value:
            channel = _channel(value.get("channel"), value.get("guild"))
            blocks += chat(channel, map(_message, rows_of(value["messages"])))
        elif place.name == "user.json":
            account = text_of(value.get("username")) or account
        else:
            channels[place.parent.name] = _channel(value, value.get("guild"))
    for folder, rows in sorted(own.items()):
        messages = (
            ChatMessage(at_iso(row.get("Timestamp")), account, text_of(row.get("Contents"))) for row in rows_of(rows)
        )
        blocks += chat(channels.get(folder) or re.sub(r"\D", "", folder), messages)
    return Parsed(blocks=tuple(blocks), date=latest(blocks), parted=True)


def _channel(channel: Any, guild: Any) -> str:
    names = (text_of(fields_of(one).get("name")) for one in (guild, channel))
    return " #".join(filter(None, names)) or "direct messages"


def _message(row: dict[str, Any]) -> ChatMessage:
    author = fields_of(row.get("author"))
    speaker = text_of(author.get("nickname")) or text_of(author.get("name"))
    return ChatMessage(at_iso(row.get("timestamp")), speaker, text_of(row.get("content")))
